#include <cooperative_groups.h>

#include <chrono>
#include <cstdio>
#include <cub/block/block_reduce.cuh>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "bench/barrier_loop.hpp"
#include "bench/cuda/blas.hpp"
#include "bench/cuda/device.hpp"
#include "bench/cuda/hold.hpp"
#include "cohort/cuda.hpp"

// Includes the example programs unchanged.
#define main solve_once
namespace ported {
#include "examples/cuda/conjugate_gradient.cu"
}
namespace original {
#include "examples/cuda/conjugate_gradient_fixed.cu"
}
#undef main

namespace cohort::bench::device {
inline namespace kernels {  // named, because unused templates of an unnamed namespace cause
                            // warnings

using Clock = std::chrono::steady_clock;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  throw Error{Errc::device_lost, std::string{"bench: "} + cudaGetErrorString(error)};
}

double ns_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// ---- barriers

struct DeviceClock {
  static COHORT_FN std::uint64_t now() {
#ifdef __CUDA_ARCH__
    return cuda::Platform::timer();
#else
    return 0;
#endif
  }
};

__global__ void sync_loop(std::uint32_t barriers, std::uint32_t batches, std::uint64_t* marks) {
  const auto grid = cooperative_groups::this_grid();
  for (std::uint32_t batch = 0; batch <= batches; ++batch) {
    for (std::uint32_t i = 0; i < barriers; ++i) grid.sync();
    if (grid.thread_rank() == 0) marks[batch] = cuda::Platform::timer();
  }
}

__global__ void grid_loop(GridArg arg, std::uint32_t barriers, std::uint32_t batches,
                          std::uint64_t* marks) {
  const Grid<> grid{arg};
  if (!grid) return;
  for (std::uint32_t batch = 0; batch <= batches; ++batch) {
    for (std::uint32_t i = 0; i < barriers; ++i) {
      if (grid.sync({})) return;
    }
    if (grid.thread_rank() == 0) marks[batch] = cuda::Platform::timer();
  }
}

// ---- work next to which SMs are requested

/// A kernel whose groups work for a while and then offer themselves, until told to stop.
template <KillOrder order>
struct Offering {
  static constexpr Traits traits{.kill_order = order};
  std::uint32_t interval;  // in nanoseconds
  std::uint32_t* stop;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    while (group.broadcast(group.atomic(*stop).load()) == 0) {
#ifdef __CUDA_ARCH__
      for (const long long until = clock64() + interval * 2LL; clock64() < until;) {
      }
#endif
      if (group.offer(state)) return;
    }
  }
};

/// Like Offering, with a barrier after each piece of work. Counts each item once per step, to find
/// lost or repeated work.
struct Stepping {
  std::uint32_t interval;  // in nanoseconds
  std::uint32_t* stop;
  std::uint32_t* items;
  std::uint32_t count;
  struct State {
    std::uint32_t step = 0;
  };

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
#ifdef __CUDA_ARCH__
    for (const long long until = clock64() + interval * 2LL; clock64() < until;) {
    }
#endif
    for (const std::size_t i : group.stride(count)) items[i] += items[i] == state.step ? 1 : 1000;
    ++state.step;
    if (group.global_id() != 0) return Next::halt;
    return group.atomic(*stop).load() == 0 ? Next::again : Next::halt;
  }
};

/// A task without work: the library's own check-in already waits for all its groups.
struct Empty {
  COHORT_FN void operator()() const {}
};

/// The kernel of the paper's introduction: all groups meet, round after round.
struct Rounds {
  std::uint32_t rounds;
  std::uint32_t* done;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    for (std::uint32_t i = 0; i < rounds; ++i) group.global_barrier();
    if (group.global_id() == 0) *done = rounds;
  }
};

struct Passed {
  std::uint32_t barriers = 0;
};

/// The same kernel as a __global__ function. Each round adds 1 to each item.
__global__ void grid_rounds(GridArg arg, std::uint32_t rounds, std::uint32_t* items,
                            std::uint32_t count) {
  const Grid<Passed> grid{arg};
  if (!grid) return;
  for (Passed state = grid.state(); state.barriers < rounds;) {
    for (const std::size_t i : grid.stride(count)) ++items[i];
    ++state.barriers;
    if (grid.sync(state)) return;
  }
}

/// Plain CUDA, with as many blocks as fit on the whole GPU. Gives up after `budget` nanoseconds.
__global__ void fixed_rounds(std::uint32_t rounds, std::uint32_t* arrived, std::uint64_t budget,
                             std::uint32_t* done) {
  const std::uint64_t until = cuda::Platform::timer() + budget;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    __syncthreads();
    bool late = false;
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1U);
      while (*static_cast<volatile std::uint32_t*>(arrived) < round * gridDim.x && !late) {
        late = cuda::Platform::timer() > until;
      }
      __threadfence();
    }
    if (__syncthreads_or(late ? 1 : 0) != 0) return;
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) *done = 1;
}

/// Holds its SMs until it is told to stop, or for `budget` nanoseconds. A kernel that waits for
/// another machine would do the same.
__global__ void hold_sms(std::uint32_t* held, const volatile std::uint32_t* stop,
                         std::uint64_t budget) {
  if (threadIdx.x == 0) {
    const std::uint64_t until = cuda::Platform::timer() + budget;
    atomicAdd(held, 1U);
    // Thread 0 polls rarely: the word is in the host's memory, and the loads of many SMs would fill
    // the bus.
    while (*stop == 0 && cuda::Platform::timer() < until) __nanosleep(100'000);
  }
  __syncthreads();
}

__global__ void spin_barrier(std::uint32_t* arrived) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1U);
    while (*static_cast<volatile std::uint32_t*>(arrived) < gridDim.x) __nanosleep(100);
  }
  __syncthreads();
}

}  // namespace kernels

namespace {

/// A job next to a measurement. It must not outlive the measurement: otherwise freeing memory would
/// wait for it.
class Background {
 public:
  explicit Background(Job job) : job_(std::move(job)) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    try {
      job_.cancel();
      static_cast<void>(job_.wait_for(std::chrono::seconds{5}));
    } catch (...) {  // NOLINT(bugprone-empty-catch): another error is under way
    }
  }
  [[nodiscard]] const Job& job() const { return job_; }
  /// Waits until the job ends by itself.
  Report end() const {
    if (auto report = job_.wait_for(std::chrono::seconds{5})) return *report;
    throw Error{Errc::bad_state, "the background kernel does not end"};
  }

 private:
  Job job_;
};

}  // namespace

namespace {

/// The equation that the solvers of examples/cuda solve.
class System {
 public:
  explicit System(cuda::Engine& engine) : engine_(engine) {}

  Job launch(int steps) const {
    return engine_.launch(ported::solve, {.local_size = ported::threads},
                          vectors<ported::Vectors>(), steps);
  }
  void run_original(int steps, cudaStream_t stream) const {
    auto its = vectors<original::Vectors>();
    void* arguments[] = {&its, &steps};
    check(cudaLaunchCooperativeKernel(original::solve, engine_.capacity(), original::threads,
                                      arguments, 0, stream));
    check(cudaStreamSynchronize(stream));
  }
  [[nodiscard]] std::vector<double> solution() const { return x_.read(); }

 private:
  template <class Vectors>
  [[nodiscard]] Vectors vectors() const {
    return {x_.data(), r_.data(), p_.data(), q_.data(), partial_.data()};
  }
  [[nodiscard]] Buffer<double> filled(double value) const {
    return engine_.fill<double>(ported::n, value);
  }

  cuda::Engine& engine_;
  Buffer<double> x_ = filled(0);
  Buffer<double> r_ = filled(1);
  Buffer<double> p_ = filled(1);
  Buffer<double> q_ = filled(0);
  Buffer<double> partial_ = filled(0);
};

}  // namespace

struct Bench::Inside {
  cuda::Engine engine;
  Holder holder{engine};
  cudaStream_t stream = nullptr;
  std::mt19937 random{1};

  Inside() {
    int low = 0;
    int high = 0;
    check(cudaDeviceGetStreamPriorityRange(&low, &high));
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high));
  }
  ~Inside() { cudaStreamDestroy(stream); }

  template <class Kernel>
  std::vector<double> barriers(const Load& load, bool resizable) {
    const auto marks = engine.fill<std::uint64_t>(load.batches + 1, 0);
    const Report report =
        engine
            .launch(Kernel{load.barriers, load.batches, marks.data()},
                    {.max_groups = load.blocks, .local_size = load.threads, .resizable = resizable})
            .wait();
    if (resizable) expect_all(report, load);
    return per_barrier(load.barriers, marks.read());
  }
  static void expect_all(const Report& report, const Load& load) {
    if (report.start_groups == load.blocks) return;
    throw Error{Errc::bad_state, "bench: the job started with " +
                                     std::to_string(report.start_groups) + " of " +
                                     std::to_string(load.blocks) + " groups"};
  }

  /// Waits until the job has all groups again.
  void full(const Job& job, const std::stop_token& stop) const {
    const auto until = Clock::now() + std::chrono::seconds{5};
    for (;;) {
      const Report report = job.report();
      if (!report.sizes.empty() && report.sizes.back().groups >= engine.capacity()) return;
      if (report.status != Status::running || Clock::now() > until || stop.stop_requested()) {
        throw Error{Errc::bad_state,
                    "the background kernel has " +
                        std::to_string(report.sizes.empty() ? 0 : report.sizes.back().groups) +
                        " groups and does not get more"};
      }
      std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
  }
};

Description describe() {
  std::string why;
  if (!cuda::available(&why)) throw Error{Errc::unsupported, "cuda engine: " + why};
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  Description result{.name = properties.name,
                     .sms = static_cast<std::uint32_t>(properties.multiProcessorCount),
                     .threads = static_cast<std::uint32_t>(properties.maxThreadsPerMultiProcessor),
                     .registers = static_cast<std::uint32_t>(properties.regsPerMultiprocessor)};
  check(cudaDriverGetVersion(&result.driver));
  check(cudaRuntimeGetVersion(&result.runtime));
  return result;
}

Bench::Bench() : inside_(new Inside) {}
Bench::~Bench() { delete inside_; }

std::vector<double> Bench::grid_sync(const Load& load) {
  const auto marks = inside_->engine.fill<std::uint64_t>(load.batches + 1, 0);
  std::uint64_t* at = marks.data();
  std::uint32_t barriers = load.barriers;
  std::uint32_t batches = load.batches;
  void* arguments[] = {&barriers, &batches, &at};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&sync_loop), dim3{load.blocks},
                                    dim3{load.threads}, arguments, 0, inside_->stream));
  check(cudaStreamSynchronize(inside_->stream));
  return per_barrier(load.barriers, marks.read());
}
std::vector<double> Bench::global_barrier(const Load& load) {
  return inside_->barriers<BarrierLoop<false, DeviceClock>>(load, true);
}
std::vector<double> Bench::resizing_barrier(const Load& load) {
  return inside_->barriers<BarrierLoop<true, DeviceClock>>(load, true);
}
std::vector<double> Bench::grid_function(const Load& load) {
  const auto marks = inside_->engine.fill<std::uint64_t>(load.batches + 1, 0);
  const Report report =
      inside_->engine
          .launch(grid_loop, {.max_groups = load.blocks, .local_size = load.threads}, load.barriers,
                  load.batches, marks.data())
          .wait();
  inside_->expect_all(report, load);
  return per_barrier(load.barriers, marks.read());
}
std::vector<double> Bench::static_barrier(const Load& load) {
  return inside_->barriers<BarrierLoop<false, DeviceClock>>(load, false);
}

std::vector<double> Bench::solve(bool ported, std::uint32_t steps, std::vector<double>& solution) {
  const System system{inside_->engine};
  const auto begin = Clock::now();
  if (ported) {
    system.launch(static_cast<int>(steps)).wait();
  } else {
    system.run_original(static_cast<int>(steps), inside_->stream);
  }
  const double took = ns_since(begin);
  solution = system.solution();
  return {took / steps};
}

std::vector<double> Bench::gather(const Demand& demand, const std::stop_token& stop) {
  auto& engine = inside_->engine;
  const auto words = engine.fill<std::uint32_t>(2 + 1024, 0);
  std::uint32_t* const over = words.data();
  std::uint32_t* const items = words.data() + 2;
  const LaunchOptions options{.local_size = 256};
  std::optional<System> system;
  std::optional<Background> beside;
  const auto fill = [&](const auto& kernel) { beside.emplace(engine.launch(kernel, options)); };
  switch (demand.beside) {
    case Beside::nothing: break;
    case Beside::any: fill(Offering<KillOrder::any>{demand.interval_ns, over}); break;
    case Beside::highest_first:
      fill(Offering<KillOrder::highest_first>{demand.interval_ns, over});
      break;
    case Beside::barrier: fill(Stepping{demand.interval_ns, over, items, 1024}); break;
    case Beside::solver:
      beside.emplace(system.emplace(engine).launch(std::numeric_limits<int>::max()));
      break;
  }

  std::vector<double> times;
  for (std::uint32_t i = 0; i < demand.trials; ++i) {
    if (beside) inside_->full(beside->job(), stop);
    const auto start = Clock::now() + std::chrono::nanoseconds{inside_->random() % 50'000};
    while (Clock::now() < start) {
    }
    if (demand.by != By::lease) {
      const Task task = engine.submit(Empty{}, {.groups = demand.sms, .local_size = 128});
      const auto report = task.wait_for(std::chrono::seconds{1});
      if (!report) {
        task.cancel();
        throw Error{Errc::bad_state, "the task does not get its SMs"};
      }
      times.push_back(static_cast<double>(report->gather.count()));
      continue;
    }
    times.push_back(inside_->holder.hold(demand.sms));
  }
  check(cudaStreamSynchronize(inside_->stream));
  if (system) {
    beside->job().cancel();
    beside->end();
  } else if (beside) {
    const std::vector<std::uint32_t> one{1};
    words.write(one);
    beside->end();
  }
  return times;
}

Bench::Products Bench::products(std::uint32_t size, std::uint32_t sms, std::uint32_t trials) {
  Products result;
  const Blas blas;
  if (!blas.there()) return result;
  auto& engine = inside_->engine;
  const std::size_t elements = std::size_t{size} * size;
  const auto a = engine.fill<float>(elements, 1.0F);
  const auto b = engine.fill<float>(elements, 2.0F);
  const auto c = engine.fill<float>(elements, 0.0F);
  const auto workspace = engine.fill<float>(std::size_t{8} << 20U, 0.0F);
  blas.use(inside_->stream, workspace.data(), workspace.size() * sizeof(float));
  const auto once = [&] {
    blas.product(static_cast<int>(size), a.data(), b.data(), c.data());
    check(cudaGetLastError());
  };
  for (int i = 0; i < 3; ++i) once();
  check(cudaStreamSynchronize(inside_->stream));
  for (std::uint32_t i = 0; i < trials; ++i) {
    const auto begin = Clock::now();
    once();
    check(cudaStreamSynchronize(inside_->stream));
    result.alone.push_back(ns_since(begin));
  }
  constexpr std::uint32_t count = 100'000;
  const auto words = engine.fill<std::uint32_t>(1 + count, 0);
  const Background beside{
      engine.launch(Stepping{10'000, words.data(), words.data() + 1, count}, {.local_size = 256})};
  for (std::uint32_t i = 0; i < trials; ++i) {
    inside_->full(beside.job(), {});
    const auto begin = Clock::now();
    {
      const cuda::Lease lease = engine.lease(inside_->stream, {.sms = sms});
      once();
    }
    check(cudaStreamSynchronize(inside_->stream));
    result.leased.push_back(ns_since(begin));
  }
  const std::vector<std::uint32_t> one{1};
  words.write(one);
  const Report report = beside.end();
  result.leaves = report.leaves;
  const std::vector<std::uint32_t> items = words.read();
  result.verified = report.status == Status::finished && items[1] > 0 && items[1] < 1'000'000;
  for (std::size_t i = 2; i < items.size(); ++i) {
    result.verified = result.verified && items[i] == items[1];
  }
  for (const float each : c.read()) {
    result.verified = result.verified && each == 2.0F * static_cast<float>(size);
  }
  return result;
}

bool Bench::many_groups_finish(std::uint32_t times, std::uint32_t rounds, std::uint32_t* groups) {
  int fit = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, spin_barrier, 256, 0));
  *groups = std::min(max_groups_limit,
                     static_cast<std::uint32_t>(fit) * inside_->engine.capacity() * times);
  const auto done = inside_->engine.fill<std::uint32_t>(1, 0);
  const Job job = inside_->engine.launch(Rounds{rounds, done.data()},
                                         {.max_groups = *groups, .local_size = 256});
  const auto report = job.wait_for(std::chrono::seconds{20});
  if (!report) job.cancel();
  return report && report->status == Status::finished && done.read()[0] == rounds;
}

namespace {

/// Holds SMs by a kernel in a stream of its own.
class Held {
 public:
  static constexpr std::uint64_t budget = 3'000'000'000;

  explicit Held(std::uint32_t sms) {
    constexpr int memory = 200'000;  // no block with shared memory fits next to it
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(
        cudaHostAlloc(reinterpret_cast<void**>(&words_), 2 * sizeof *words_, cudaHostAllocMapped));
    words_[0] = words_[1] = 0;
    check(cudaFuncSetAttribute(hold_sms, cudaFuncAttributeMaxDynamicSharedMemorySize, memory));
    hold_sms<<<sms, 1024, memory, stream_>>>(words_, words_ + 1, budget);
    check(cudaGetLastError());
    while (*static_cast<volatile std::uint32_t*>(words_) < sms) {
      static_cast<void>(cudaStreamQuery(stream_));
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    release();
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
    cudaFreeHost(words_);
  }
  /// Whether the SMs are still held.
  [[nodiscard]] bool holds() const { return cudaStreamQuery(stream_) == cudaErrorNotReady; }
  void release() { *static_cast<volatile std::uint32_t*>(words_ + 1) = 1; }

 private:
  cudaStream_t stream_ = nullptr;
  std::uint32_t* words_ = nullptr;  // number of blocks that hold an SM; whether they must stop
};

}  // namespace

bool fixed_finishes_next_to(std::uint32_t sms, std::uint32_t rounds) {
  // A side effect: CUDA loads both kernels now, so the second does not wait for the first.
  std::string why;
  if (!cuda::available(&why)) throw Error{Errc::unsupported, "cuda engine: " + why};
  int fit = 0;
  int all = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, fixed_rounds, 256, 0));
  check(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, 0));
  std::uint32_t* words = nullptr;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaHostAlloc(reinterpret_cast<void**>(&words), 256, cudaHostAllocMapped));
  words[0] = words[32] = 0;
  std::uint32_t* arrived = nullptr;
  check(cudaMalloc(&arrived, sizeof *arrived));
  check(cudaMemset(arrived, 0, sizeof *arrived));
  std::optional<Held> held;
  if (sms != 0) held.emplace(sms);
  fixed_rounds<<<static_cast<unsigned>(fit * all), 256, 0, stream>>>(rounds, arrived,
                                                                     Held::budget / 3, words);
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream));
  return words[0] == 1;
}

Bench::NextToHeld Bench::function_next_to(std::uint32_t sms, std::uint32_t rounds) {
  constexpr std::uint32_t count = 10'000;
  const auto items = inside_->engine.fill<std::uint32_t>(count, 0);
  Held held{sms};
  const Job job =
      inside_->engine.launch(grid_rounds, {.local_size = 256}, rounds, items.data(), count);
  const auto report = job.wait_for(std::chrono::seconds{2});
  const bool held_on = held.holds();
  if (!report) job.cancel();
  NextToHeld result;
  if (!report) return result;
  result.groups = report->start_groups;
  result.seconds = std::chrono::duration<double>(report->run_time).count();
  result.finishes = held_on && report->status == Status::finished;
  for (const std::uint32_t each : items.read()) result.finishes = result.finishes && each == rounds;
  return result;
}

void spin_for_ever() {
  int fit = 0;
  int sms = 0;
  std::uint32_t* arrived = nullptr;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, spin_barrier, 256, 0));
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  check(cudaMalloc(&arrived, sizeof *arrived));
  check(cudaMemset(arrived, 0, sizeof *arrived));
  spin_barrier<<<static_cast<unsigned>(fit * sms + 1), 256>>>(arrived);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

}  // namespace cohort::bench::device
