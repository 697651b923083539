// The engine that tests of programs run on: the CPU's or, with COHORT_TEST_OPENCL, OpenCL's, whose
// kernels reach only memory that it has allocated. Invariant: what is Shared can be given to a
// kernel of either.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "cohort/program.hpp"
#ifdef COHORT_TEST_OPENCL
#include "cohort/opencl.hpp"
#endif

namespace cohort::test {

#ifdef COHORT_TEST_OPENCL

using TestEngine = opencl::Engine;
inline constexpr const char* engine_name = "opencl";

/// With more groups than CPUs, where the device has them, and a scheduler group where
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

template <class T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class Other>
  Allocator(const Allocator<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    auto buffer = engine().fill(count * sizeof(T), std::byte{0});
    auto* const memory = reinterpret_cast<T*>(buffer.data());
    buffers().emplace(memory, std::move(buffer));
    return memory;
  }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { buffers().erase(memory); }
  friend bool operator==(const Allocator&, const Allocator&) { return true; }

 private:
  static std::map<void*, Buffer<std::byte>>& buffers() {
    static std::map<void*, Buffer<std::byte>> all;
    return all;
  }
};

template <class T>
using Shared = std::vector<T, Allocator<T>>;

/// Skips everything where there is no device.
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

}  // namespace cohort::test
