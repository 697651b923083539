// The CUDA engine: a group is a thread block, and a unit is an SM. A block that is killed exits, so
// its SM becomes free for work that waits in a stream of higher priority. Blocks of refill grids
// join later. Invariant: no function here waits for a running kernel to end, unless its comment
// says so.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "cohort/engine.hpp"
#include "cohort/grid.cuh"
#include "cohort/platform/cuda_groups.cuh"

namespace cohort::cuda {

/// Options of an engine.
struct EngineOptions {
  /// The CUDA device number.
  int device = 0;
  /// SMs that jobs and tasks may use. Default: all SMs of the device.
  std::optional<std::uint32_t> capacity = {};
  /// Each block reserves slightly more than half of an SM's shared memory, so that an SM belongs to
  /// one job or task at a time. If false, jobs may share SMs, and more of an SM's memory serves as
  /// L1 cache.
  bool exclusive = true;
  /// Called by a thread of the engine, once for each kind of call, when a CUDA call of this process
  /// has waited for 0.1 s while a job runs. The argument is a sentence that names the call and says
  /// how to avoid it. Must not throw. Default: calls are not watched. Needs CUPTI, which profilers
  /// use too.
  std::function<void(const std::string&)> on_blocked_call = {};
  /// With on_blocked_call: also suspends the jobs that can be suspended, until the call has
  /// returned.
  bool suspend_for_blocked_calls = false;
};

/// Whether this machine has a device that the engine can use. If not, `why_not` receives the
/// reason.
[[nodiscard]] bool available(std::string* why_not = nullptr);

/// How many SMs a lease holds.
struct LeaseOptions {
  std::uint32_t sms = 1;
};

/// Options for launching a __global__ function: the members of LaunchOptions, and some that only
/// CUDA has.
struct GridOptions {
  /// The maximum number of blocks. Default: one per SM. With more, blocks share SMs if they fit.
  std::optional<std::uint32_t> max_groups = {};
  std::optional<std::uint32_t> start_groups = {};
  std::optional<std::uint32_t> target = {};
  /// Threads per block. Default: the largest block that the kernel allows and that fits.
  std::optional<std::uint32_t> local_size = {};
  std::uint32_t weight = 1;
  /// False: exactly max_groups blocks for the whole run.
  bool resizable = true;
  std::chrono::nanoseconds offer_wait = std::chrono::microseconds{100};
  std::stop_token stop = {};
  Tracer* tracer = nullptr;
  /// Bytes of dynamic shared memory per block.
  std::size_t shared_memory = 0;
  /// The job starts after the work that is in this stream now. Work that is added to the stream
  /// later starts after the job. Default: no order with any stream.
  cudaStream_t stream = nullptr;
  /// For tests: changes the number of blocks at every resizing point. This finds kernels that rely
  /// on blockIdx, gridDim, or data kept by a block. Slow.
  bool stress = false;
};

class Grids;

namespace detail {

struct DeviceJob;
class StreamOrder;

/// A kernel that is launched in grids: its code, and its States.
class GridBody : public cohort::detail::JobBody {
 public:
  using cohort::detail::JobBody::JobBody;

  /// The code on the current device. Throws Error if the device has none.
  [[nodiscard]] virtual cudaFunction_t function() const = 0;
  /// The addresses of the parameters, including the run's arguments.
  [[nodiscard]] virtual std::vector<void*> parameters(RunArguments& run) = 0;
  /// The States of a new run, including the kept one.
  [[nodiscard]] virtual std::vector<std::byte> states() const = 0;
  /// Reads the kept State from the States of a run.
  virtual void keep(std::span<const std::byte> states) = 0;

  std::size_t box_state_size = 0;
  std::size_t local_memory = 0;  ///< dynamic shared memory that the launch must provide
  /// Beginning of the error message about it.
  const char* local_memory_name = "Kernel::Local has ";
  std::vector<std::size_t> parameter_sizes;  ///< empty if the compiler has checked the parameters
  bool stress = false;
  std::shared_ptr<StreamOrder> order;    ///< null if the job is not ordered with a stream
  std::shared_ptr<DeviceJob> on_device;  ///< the engine's data for this job
};

/// The code of a kernel on the current device. `found` is the result of cudaGetKernel().
[[nodiscard]] cudaFunction_t function_of(cudaError_t found, cudaKernel_t kernel);

/// The body of a job of function objects. Only code that nvcc compiles can construct it.
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
    this->local_memory =
        local_is_dynamic<Kernel> ? cohort::detail::local_size_of(this->kernel_) : 0;
    if (HasMoreLocal<Kernel>) this->local_memory_name = "the kernel's local memory has ";
  }

  /// Finds the code of the kernel here and not in the engine. A program loaded at run time has its
  /// own CUDA runtime, and the engine's runtime would not know the symbol.
  static cudaFunction_t device_function() {
    cudaKernel_t kernel = nullptr;
    const void* const symbol = reinterpret_cast<const void*>(&run_groups<Kernel, role>);
    const cudaError_t found = cudaGetKernel(&kernel, symbol);
    return function_of(found, kernel);
  }
  cudaFunction_t function() const override { return device_function(); }
  std::vector<void*> parameters(RunArguments& run) override { return {&this->kernel_, &run}; }

  std::vector<std::byte> states() const override {
    States states{};
    states.kept = kept_;
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

#ifdef __CUDACC__
template <class... Parameters>
inline constexpr bool takes_grid = false;
template <class... Rest>
inline constexpr bool takes_grid<GridArg, Rest...> = true;
#endif

/// The body of a job of a __global__ function, or of a function of a module. Its State is unknown
/// to the engine.
class FunctionBody : public GridBody {
 public:
  FunctionBody(std::uint32_t groups);

  std::optional<cohort::detail::CheckpointParts> checkpoint_parts() final { return {}; }
  std::string why_not_suspendable() const final;
  std::vector<std::byte> states() const final { return states_; }
  void keep(std::span<const std::byte> bytes) final { states_.assign(bytes.begin(), bytes.end()); }

 private:
  std::vector<std::byte> states_;
};

/// A FunctionBody that holds the function's parameters. `Find` returns the function on the current
/// device.
template <class Find, class... Parameters>
class FunctionCall final : public FunctionBody {
  static_assert(
      (std::is_trivially_copyable_v<Parameters> && ...),
      "cohort: the parameters of a kernel are copied byte by byte to the GPU, so they must "
      "be trivially copyable");

 public:
  FunctionCall(std::uint32_t groups, Find find, Parameters... parameters)
      : FunctionBody(groups), find_(find), parameters_(parameters...) {}

  cudaFunction_t function() const override { return find_(); }
  std::vector<void*> parameters(RunArguments& run) override {
    return std::apply(
        [&run](auto&... each) {
          return std::vector<void*>{&run, &each...};
        },
        parameters_);
  }

 private:
  Find find_;
  std::tuple<Parameters...> parameters_;
};

}  // namespace detail

class Lease;

/// Runs cooperative kernels on one GPU. Thread-safe. The destructor cancels all jobs and tasks, and
/// waits until each group has left at its next primitive. Kernels are templates, so files that
/// launch them are compiled by nvcc.
///
/// max_groups defaults to one group per SM. With more, groups share SMs and leave an SM together.
/// local_size defaults to the largest block that the kernel allows and that fits. Tasks run in a
/// stream of high priority; their call operator is COHORT_FN.
class Engine : public cohort::detail::KernelEngine<detail::CudaBody> {
 public:
  /// Throws Error{unsupported} if there is no usable device.
  explicit Engine(EngineOptions options = {});

  using KernelEngine::launch;

#ifdef __CUDACC__
  /// Starts a __global__ function whose first parameter is a GridArg; see cohort/grid.cuh. Throws
  /// Error{bad_options} for options that cannot run.
  template <class... Parameters>
  Job launch(void (*kernel)(GridArg, Parameters...), const GridOptions& options = {},
             std::type_identity_t<Parameters>... arguments) {
    return start_function<Parameters...>(options, finder(kernel), arguments...);
  }
  template <class... Parameters, class... Arguments>
  requires(!detail::takes_grid<Parameters...>) Job
      launch(void (*)(Parameters...), const GridOptions& = {}, Arguments...) {
    static_assert(detail::takes_grid<Parameters...>,
                  "cohort: the first parameter of a __global__ function that an engine launches is "
                  "a cohort::GridArg");
    return Job{nullptr};
  }
#endif
  /// Starts a kernel of a library (cudaLibraryGetKernel), which NVRTC may have compiled. Each
  /// argument must have exactly the type of its parameter.
  template <class... Arguments>
  Job launch(cudaKernel_t kernel, const GridOptions& options = {}, Arguments... arguments) {
    const auto find = [kernel] { return detail::function_of(cudaSuccess, kernel); };
    return start_function<Arguments...>(options, find, arguments...);
  }
  /// Starts a function of a module (cuModuleGetFunction) in the device's primary context.
  template <class... Arguments>
  Job launch(cudaFunction_t kernel, const GridOptions& options = {}, Arguments... arguments) {
    return start_function<Arguments...>(
        options, [kernel] { return kernel; }, arguments...);
  }

  /// Loads a kernel's code. Otherwise a launch may have to load it while a job runs, and would wait
  /// for that job to end. This is only needed if CUDA loads lazily although the engine disables
  /// that, see docs/cuda.md.
  template <class Kernel>
  void prepare() {
    load(&detail::CudaBody<Kernel, protocol::Role::member>::device_function);
    load(&detail::CudaBody<Kernel, protocol::Role::fixed>::device_function);
  }
#ifdef __CUDACC__
  template <class... Parameters>
  void prepare(void (*kernel)(GridArg, Parameters...)) {
    load(finder(kernel));
  }
#endif

  /// Holds SMs for work in `stream`. The lease begins and ends in stream order, without host
  /// synchronisation, and works with any library. It can be captured in a CUDA graph. Throws
  /// Error{bad_options} if the stream's priority is not above the jobs', or if no SM would be left
  /// for the jobs.
  [[nodiscard]] Lease lease(cudaStream_t stream, LeaseOptions options = {});
  [[nodiscard]] int device() const;

 private:
  template <class... Parameters>
  static auto finder(void (*kernel)(Parameters...)) {
    return [symbol = reinterpret_cast<const void*>(kernel)] {
      cudaKernel_t found = nullptr;
      const cudaError_t result = cudaGetKernel(&found, symbol);
      return detail::function_of(result, found);
    };
  }
  template <class... Parameters, class Find>
  Job start_function(const GridOptions& options, Find find, Parameters... arguments) {
    using Call = detail::FunctionCall<Find, Parameters...>;
    auto body = std::make_unique<Call>(checked_groups(options), find, arguments...);
    body->parameter_sizes = {sizeof(detail::RunArguments), sizeof(Parameters)...};
    return start_body(std::move(body), options);
  }

  [[nodiscard]] std::uint32_t checked_groups(const GridOptions& options) const;
  Job start_body(std::unique_ptr<detail::FunctionBody> body, const GridOptions& options);
  void load(const std::function<cudaFunction_t()>& find) const;
};

/// SMs held for a stream, from the point in the stream where the lease was made to the point where
/// it is returned. Return it before the stream is destroyed.
class Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  /// Returns the SMs, in stream order. The destructor does the same.
  void give_back() noexcept;

 private:
  friend class Engine;
  Lease(std::shared_ptr<Grids> grids, std::uint32_t slot, cudaStream_t stream) noexcept;

  std::shared_ptr<Grids> grids_;
  std::uint32_t slot_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace cohort::cuda
