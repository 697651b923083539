// The engine on which programs are tested: the CPU's by default, or a device's with
// COHORT_TEST_CUDA or COHORT_TEST_OPENCL. A device's kernels can access only memory that was
// allocated for the device. Invariant: memory of a Shared may be passed to a kernel of the engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "cohort/program.hpp"
#if defined(COHORT_TEST_OPENCL)
#include "cohort/opencl.hpp"
#elif defined(COHORT_TEST_CUDA)
#include "cohort/cuda.hpp"
#endif

namespace cohort::test {

#if defined(COHORT_TEST_OPENCL)

using TestEngine = opencl::Engine;
inline constexpr const char* engine_name = "opencl";

/// Has more groups than CPUs if the device allows it, and a scheduler group if
/// COHORT_TEST_SCHEDULER is set.
inline TestEngine& engine() {
  const auto groups = [] {
    for (const opencl::Device& each : opencl::devices()) {
      if (each.lacks.empty()) return std::min(each.units, 6U);
    }
    return 1U;
  };
  static TestEngine only{{.capacity = groups(),
                          .scheduler = std::getenv("COHORT_TEST_SCHEDULER") !=
                                               nullptr  // NOLINT(concurrency-mt-unsafe)
                                           ? opencl::Scheduler::group
                                           : opencl::Scheduler::host}};
  return only;
}

inline std::map<void*, Buffer<std::byte>>& buffers() {
  static std::map<void*, Buffer<std::byte>> all;
  return all;
}
inline void* allocate_shared(std::size_t size) {
  auto buffer = engine().fill(size, std::byte{0});
  void* const memory = buffer.data();
  buffers().emplace(memory, std::move(buffer));
  return memory;
}
inline void free_shared(void* memory) { buffers().erase(memory); }

#elif defined(COHORT_TEST_CUDA)

using TestEngine = cuda::Engine;
inline constexpr const char* engine_name = "cuda";

inline TestEngine& engine() {
  static TestEngine only{{.capacity = 6}};
  return only;
}

/// Host memory that the device sees at the same address.
inline void* allocate_shared(std::size_t size) {
  void* memory = nullptr;
  if (cudaHostAlloc(&memory, std::max<std::size_t>(size, 1), cudaHostAllocMapped) != cudaSuccess)
    throw std::bad_alloc{};
  return memory;
}
/// Does not free the memory: that would wait for running jobs. The tests need little.
inline void free_shared(void* /*memory*/) {}

#else

using TestEngine = cpu::Engine;
inline constexpr const char* engine_name = "cpu";

inline TestEngine& engine() {
  static TestEngine only{{.capacity = 6}};
  return only;
}

template <class T>
using Shared = std::vector<T>;

#endif

#if defined(COHORT_TEST_OPENCL) || defined(COHORT_TEST_CUDA)

template <class T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class Other>
  Allocator(const Allocator<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_shared(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { free_shared(memory); }
  friend bool operator==(const Allocator&, const Allocator&) { return true; }
};

template <class T>
using Shared = std::vector<T, Allocator<T>>;

/// Skips all tests if there is no device.
class NeedsDevice : public testing::Environment {
 public:
  void SetUp() override {
    try {
      engine();
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported) throw;
      GTEST_SKIP() << error.what();
    }
  }
};
inline testing::Environment* const needs_device =
    testing::AddGlobalTestEnvironment(new NeedsDevice);  // NOLINT: gtest owns it

#endif

}  // namespace cohort::test
