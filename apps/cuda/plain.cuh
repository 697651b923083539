// The apps' kernels in plain CUDA, without a scheduler and with a fixed number of blocks: the
// baseline for the cost of cooperation. Invariant: the kernel sources are those of the engines;
// only Group differs.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/run.hpp"
#include "cohort/cuda.hpp"
#ifdef __CUDACC__
#include <cooperative_groups.h>
#endif

namespace cohort::apps {

/// How the blocks of a kernel synchronise.
enum class PlainWay : std::uint8_t {
  grid_sync,          ///< one persistent kernel, with cooperative groups' grid.sync()
  grid_sync_bounded,  ///< the same, with the launch bounds of our engine's kernels
  launch_per_step,    ///< a launch per step; the host reads whether another step follows
  graph,              ///< a launch per step, by a conditional node of a CUDA graph
};

namespace plain {

/// State that a launched step leaves for the next. Updated by the last block of a step.
template <class State>
struct Progress {
  State states[2] = {};  ///< by step modulo 2
  std::uint32_t step = 0;
  std::uint32_t blocks_done = 0;
  std::uint32_t again = 0;
};

#ifdef __CUDACC__

/// The API of cohort::Group, for a kernel that owns the GPU.
template <class Kernel>
class Group {
 public:
  using State = StateOf<Kernel>;
  using Local = LocalOf<Kernel>;
  static constexpr Traits traits = Contract<Kernel>::traits;

  explicit __device__ Group(Local& local) : local_(&local) {}

  [[nodiscard]] __device__ std::uint32_t group_id() const { return blockIdx.x; }
  [[nodiscard]] __device__ std::uint32_t num_groups() const { return gridDim.x; }
  [[nodiscard]] __device__ std::uint32_t max_groups() const { return gridDim.x; }
  [[nodiscard]] __device__ bool joined() const { return false; }
  [[nodiscard]] __device__ std::uint32_t local_id() const { return threadIdx.x; }
  [[nodiscard]] __device__ std::uint32_t local_size() const { return blockDim.x; }
  [[nodiscard]] __device__ bool alone() const { return false; }
  [[nodiscard]] __device__ std::size_t global_id() const {
    return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  }
  [[nodiscard]] __device__ std::size_t global_size() const {
    return static_cast<std::size_t>(gridDim.x) * blockDim.x;
  }
  [[nodiscard]] __device__ Stride stride(std::size_t count) const {
    return {global_id(), global_size(), count};
  }
  [[nodiscard]] __device__ Stride local_stride(std::size_t count) const {
    return {local_id(), local_size(), count};
  }
  [[nodiscard]] __device__ Local& local() const { return *local_; }

  template <class T>
  [[nodiscard]] __device__ cuda::AtomicRef<T> atomic(T& word) const {
    return cuda::AtomicRef<T>{word};
  }
  template <class T>
  [[nodiscard]] __device__ T* view(T* memory) const {
    return memory;
  }

  template <class T>
  [[nodiscard]] __device__ T claim(T& counter) const {
    return threads().claim(atomic(counter));
  }
  __device__ void barrier() const { __syncthreads(); }
  template <class T>
  [[nodiscard]] __device__ T broadcast(T value, std::uint32_t from = 0) const {
    return threads().broadcast(value, from);
  }
  template <class T, class Op>
  [[nodiscard]] __device__ T reduce(T value, Op op) const {
    return threads().reduce(value, op);
  }
  template <class T, class Op>
  [[nodiscard]] __device__ T exclusive_scan(T value, T zero, Op op) const {
    return threads().exclusive_scan(value, zero, op);
  }
  template <class T, class Op>
  [[nodiscard]] __device__ T inclusive_scan(T value, Op op) const {
    return threads().inclusive_scan(value, op);
  }

  [[nodiscard]] __device__ bool offer_kill(const State& /*state*/) const { return false; }
  [[nodiscard]] __device__ bool offer_kill() const { return false; }
  __device__ std::uint32_t request_fork(const State& /*state*/) const { return 0; }
  [[nodiscard]] __device__ bool offer(const State& /*state*/) const { return false; }
  [[nodiscard]] __device__ std::uint32_t query() const { return 0; }
  __device__ void global_barrier() const { cooperative_groups::this_grid().sync(); }
  [[nodiscard]] __device__ bool resizing_global_barrier(const State& /*state*/) const {
    global_barrier();
    return false;
  }

 private:
  static __device__ cuda::Threads threads() { return {}; }  // no leader thread

  Local* local_;
};

template <class Local>
__device__ Local& local_memory() {
  constexpr bool outside = sizeof(Local) > cuda::detail::static_local;
  extern __shared__ __align__(128) unsigned char cohort_dynamic[];
  __shared__ alignas(Local) unsigned char room[outside ? 1 : sizeof(Local)];
  return *reinterpret_cast<Local*>(outside ? cohort_dynamic : room);
}

/// A whole run in one kernel. `votes` are three words: one is read, one written and one cleared.
template <class Kernel>
__device__ __forceinline__ void run_to_end(const Kernel& kernel, std::uint32_t* votes) {
  Group<Kernel> group{local_memory<LocalOf<Kernel>>()};
  const auto grid = cooperative_groups::this_grid();
  if constexpr (HasSetup<Kernel>) {
    kernel.setup(group);
    grid.sync();
  }
  if constexpr (Contract<Kernel>::step_style) {
    StateOf<Kernel> state{};
    for (std::uint32_t vote = 0;; vote = vote == 2 ? 0 : vote + 1) {
      const bool mine = kernel.step(group, state) == Next::again;
      const bool any = __syncthreads_or(mine ? 1 : 0) != 0;
      if (threadIdx.x == 0) {
        if (any) *static_cast<volatile std::uint32_t*>(votes + vote) = 1;
        if (blockIdx.x == 0) votes[vote == 2 ? 0 : vote + 1] = 0;
      }
      grid.sync();
      if (*static_cast<volatile std::uint32_t*>(votes + vote) == 0) return;
    }
  } else {
    kernel.run(group, StateOf<Kernel>{});
  }
}

template <class Kernel>
__global__ void run_all(const __grid_constant__ Kernel kernel, std::uint32_t* votes) {
  run_to_end(kernel, votes);
}
/// The same with launch bounds, because the known register budget may help or hurt the compiler.
template <class Kernel>
__global__ void __launch_bounds__(Contract<Kernel>::traits.max_local_size, 1)
    run_all_bounded(const __grid_constant__ Kernel kernel, std::uint32_t* votes) {
  run_to_end(kernel, votes);
}

/// Runs one step. The last block to finish tells the host, or the graph, whether another step
/// follows.
template <class Kernel>
__global__ void run_step(const __grid_constant__ Kernel kernel, Progress<StateOf<Kernel>>* progress,
                         std::uint32_t* host_word, cudaGraphConditionalHandle handle) {
  Group<Kernel> group{local_memory<LocalOf<Kernel>>()};
  const std::uint32_t step = progress->step;
  StateOf<Kernel> state = progress->states[step % 2];
  const bool mine = kernel.step(group, state) == Next::again;
  const bool any = __syncthreads_or(mine ? 1 : 0) != 0;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) progress->states[(step + 1) % 2] = state;
  if (any) progress->again = 1;
  __threadfence();  // pairs with the fence after the last block's addition
  if (atomicAdd(&progress->blocks_done, 1U) + 1 != gridDim.x) return;
  __threadfence();
  const std::uint32_t again = *static_cast<volatile std::uint32_t*>(&progress->again);
  progress->again = 0;
  progress->blocks_done = 0;
  progress->step = step + 1;
  if (host_word != nullptr) {
    *static_cast<volatile std::uint32_t*>(host_word) = again;
  } else {
    cudaGraphSetConditional(handle, again);
  }
}

#endif

}  // namespace plain

/// Runs kernels in plain CUDA, in the memory of an idle engine.
class PlainEngine {
 public:
  PlainEngine(cuda::Engine& engine, PlainWay way) : engine_(engine), way_(way) {}

  /// Facts about the last kernel, from the compiler and the device.
  struct Facts {
    int registers = 0;         ///< used by this kernel
    int cohort_registers = 0;  ///< used by the same kernel on our engine
    std::uint32_t steps = 0;   ///< number of launches, if each step is one
  };
  [[nodiscard]] const Facts& facts() const { return facts_; }

  [[nodiscard]] std::uint32_t capacity() const { return engine_.capacity(); }
  template <class T>
  [[nodiscard]] Buffer<T> fill(std::size_t count, const T& value) {
    return engine_.fill(count, value);
  }
  template <class T>
  [[nodiscard]] Buffer<T> allocate(std::size_t count) {
    return engine_.allocate<T>(count);
  }
  template <class T>
  [[nodiscard]] Buffer<T> upload(const std::vector<T>& values) {
    return engine_.upload(values);
  }
  [[nodiscard]] const cohort::detail::Memory& memory() const { return engine_.memory(); }

#ifdef __CUDACC__
  /// Runs `kernel` to its end: max_groups blocks of local_size threads. Throws Error{bad_options}
  /// if they do not fit on the device at once, or if launches per step need a kernel in step style.
  template <class Kernel>
  Job launch(const Kernel& kernel, const LaunchOptions& options) {
    using Progress = plain::Progress<StateOf<Kernel>>;
    const auto cooperative = &cuda::detail::run_groups<Kernel, protocol::Role::member>;
    const std::size_t local = sizeof(LocalOf<Kernel>);
    const std::size_t memory = local > cuda::detail::static_local ? local : 0;
    facts_.cohort_registers = registers(reinterpret_cast<const void*>(cooperative));
    Kernel copy = kernel;
    if (way_ == PlainWay::grid_sync || way_ == PlainWay::grid_sync_bounded) {
      const auto votes = engine_.fill<std::uint32_t>(3, 0);
      std::uint32_t* at = votes.data();
      const auto function =
          way_ == PlainWay::grid_sync ? &plain::run_all<Kernel> : &plain::run_all_bounded<Kernel>;
      return ended_job(
          persist({reinterpret_cast<const void*>(function), memory, options}, {&copy, &at}));
    }
    if constexpr (Contract<Kernel>::step_style && !HasSetup<Kernel>) {
      const auto progress = engine_.fill<Progress>(1, Progress{});
      Progress* at = progress.data();
      Report report =
          step({reinterpret_cast<const void*>(&plain::run_step<Kernel>), memory, options},
               {&copy, &at, nullptr, nullptr});
      facts_.steps = progress.read().front().step;
      return ended_job(std::move(report));
    }
    refuse_direct_style();
  }
#endif

 private:
  /// A kernel and how to launch it.
  struct Call {
    const void* function;
    std::size_t memory;
    const LaunchOptions& options;
  };

  [[nodiscard]] static int registers(const void* function);
  [[nodiscard]] static Job ended_job(Report report);
  [[noreturn]] static void refuse_direct_style();
  Report persist(const Call& call, std::array<void*, 2> arguments);
  /// Fills in the last two arguments: the word for the host, and the graph's condition.
  Report step(const Call& call, std::array<void*, 4> arguments);

  cuda::Engine& engine_;
  PlainWay way_;
  Facts facts_;
};

/// Our own algorithms only, with the one-pass barrier; with COHORT_CUDA_PAPER the paper's
/// algorithms too.
template <>
inline constexpr bool has_paper_variants<cuda::Engine> =
#ifdef COHORT_CUDA_PAPER
    true;
#else
    false;
#endif
template <>
inline constexpr bool has_paper_barriers<cuda::Engine> = false;
template <>
inline constexpr bool has_paper_variants<PlainEngine> = false;
template <>
inline constexpr std::uint32_t default_local_size<PlainEngine> = default_local_size<cuda::Engine>;

}  // namespace cohort::apps
