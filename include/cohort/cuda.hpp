// The CUDA engine: a group is a thread block, a unit is an SM. A block that is killed exits, so its
// SM is free for work waiting in a stream of higher priority; blocks of refill grids join later.
// Invariant: no function here waits for a running kernel to end, unless its comment says so.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "cohort/engine.hpp"
#include "cohort/platform/cuda_groups.cuh"

namespace cohort::cuda {

/// How to make an engine.
struct EngineOptions {
  /// The device, by CUDA's number.
  int device = 0;
  /// SMs that jobs and tasks may use. Default: all SMs of the device.
  std::optional<std::uint32_t> capacity = {};
  /// Each block reserves slightly more than half of an SM's shared memory, so that an SM belongs to
  /// one job or task at a time. Without it, jobs may share SMs, and more of that memory serves as
  /// L1 cache.
  bool exclusive = true;
};

/// Whether there is a device that the engine can use; if not, why.
[[nodiscard]] bool available(std::string* why_not = nullptr);

/// How many SMs a lease holds.
struct LeaseOptions {
  std::uint32_t sms = 1;
};

class Grids;

namespace detail {

struct DeviceJob;

/// A kernel as grids run it: the code that launches blocks of it, and its States.
class GridBody : public cohort::detail::JobBody {
 public:
  using cohort::detail::JobBody::JobBody;

  /// The device function, for queries to the CUDA runtime.
  [[nodiscard]] virtual const void* function() const = 0;
  [[nodiscard]] virtual cudaError_t launch(const RunArguments& run, std::uint32_t blocks,
                                           std::uint32_t threads, std::size_t memory,
                                           cudaStream_t stream) const = 0;
  /// The States of a new run, including the kept one. `boxes`: device address of the box states.
  [[nodiscard]] virtual std::vector<std::byte> states(void* boxes) const = 0;
  /// Reads the kept State from the States of a run.
  virtual void keep(std::span<const std::byte> states) = 0;

  std::size_t box_state_size = 0;
  std::size_t local_memory = 0;  ///< size of Kernel::Local, if the launch has to provide it
  bool any_order = false;
  std::shared_ptr<DeviceJob> on_device;  ///< the engine's data for this job
};

/// Only code compiled by nvcc can construct one.
template <class Kernel, protocol::Role role>
class CudaBody;

#ifdef __CUDACC__

template <class Kernel, protocol::Role role>
class CudaBody final : public cohort::detail::KernelBody<GridBody, Kernel, role> {
  using Base = cohort::detail::KernelBody<GridBody, Kernel, role>;
  using State = typename Base::State;
  using States = protocol::States<State>;
  static_assert(std::is_trivially_copyable_v<Kernel>,
                "cohort: a kernel is copied byte by byte to the GPU, so it must be trivially "
                "copyable: hold pointers into buffers");

 public:
  CudaBody(Kernel kernel, std::uint32_t groups) : Base(kernel, groups) {
    this->box_state_size = sizeof(State);
    this->local_memory = sizeof(LocalOf<Kernel>) > static_local ? sizeof(LocalOf<Kernel>) : 0;
    this->any_order = Base::traits.kill_order == KillOrder::any;
  }

  /// The function as the driver knows it. A program that is loaded at run time has its own CUDA
  /// runtime, so the engine's runtime would not know the symbol.
  static const void* device_function() {
    const auto* const symbol = reinterpret_cast<const void*>(&run_groups<Kernel, role>);
    cudaKernel_t kernel = nullptr;
    return cudaGetKernel(&kernel, symbol) == cudaSuccess ? kernel : symbol;
  }
  const void* function() const override { return device_function(); }

  cudaError_t launch(const RunArguments& run, std::uint32_t blocks, std::uint32_t threads,
                     std::size_t memory, cudaStream_t stream) const override {
    Kernel kernel = this->kernel_;
    RunArguments with = run;
    void* arguments[] = {&kernel, &with};
    return cudaLaunchKernel(device_function(), dim3{blocks}, dim3{threads}, arguments, memory,
                            stream);
  }

  std::vector<std::byte> states(void* boxes) const override {
    States states{};
    states.kept = kept_;
    states.boxes = static_cast<State*>(boxes);
    std::vector<std::byte> bytes(sizeof states);
    std::memcpy(bytes.data(), &states, sizeof states);
    return bytes;
  }
  void keep(std::span<const std::byte> bytes) override {
    States states{};
    std::memcpy(static_cast<void*>(&states), bytes.data(), sizeof states);
    kept_ = states.kept;
  }

 private:
  std::span<State, 1> kept_state() override { return std::span<State, 1>{&kept_, 1}; }

  State kept_{};
};

#endif

}  // namespace detail

class Lease;

/// Runs cooperative kernels on one GPU. Thread-safe. The destructor cancels what runs and waits
/// until each group has left at its next primitive. Kernels are templates: files that launch them
/// are compiled by nvcc.
///
/// max_groups defaults to one group per SM. With more, groups share SMs and leave an SM together.
/// local_size defaults to the largest block that the kernel allows and that fits. Tasks run in a
/// stream of high priority; their call operator is COHORT_FN.
class Engine : public cohort::detail::KernelEngine<detail::CudaBody> {
 public:
  /// Throws Error{unsupported} if there is no usable device.
  explicit Engine(EngineOptions options = {});

  /// Loads a kernel's code. Otherwise a launch may have to load it while a job runs, and would wait
  /// for that job to end. Only needed if CUDA loads lazily although the engine disables that, see
  /// docs/cuda.md.
  template <class Kernel>
  void prepare() {
    load(detail::CudaBody<Kernel, protocol::Role::member>::device_function());
    load(detail::CudaBody<Kernel, protocol::Role::fixed>::device_function());
  }

  /// Holds SMs for work in `stream`, in stream order: without host synchronisation, and for work of
  /// any origin. Can be captured in a CUDA graph. Throws Error{bad_options} if the stream's
  /// priority is not above the jobs', or if no SM would be left for the jobs.
  [[nodiscard]] Lease lease(cudaStream_t stream, LeaseOptions options = {});
  [[nodiscard]] int device() const;

 private:
  void load(const void* function) const;
};

/// SMs held for a stream, from the point in the stream where the lease was made to the point where
/// it is given back. Give it back before the stream is destroyed.
class Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  /// Gives the SMs back, in stream order. The destructor does the same.
  void give_back() noexcept;

 private:
  friend class Engine;
  Lease(std::shared_ptr<Grids> grids, std::uint32_t slot, cudaStream_t stream) noexcept;

  std::shared_ptr<Grids> grids_;
  std::uint32_t slot_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace cohort::cuda
