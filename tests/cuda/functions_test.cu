// __global__ functions as jobs: Grid and Engine::launch, kernels of modules, order with a stream,
// and the stress mode. Without a device the tests are skipped visibly.
#include <gmock/gmock.h>
#include <nvrtc.h>

#include <cstdio>
#include <numeric>
#include <random>
#include <sstream>

#include "cohort/cuda.hpp"
#include "conformance/scale.hpp"
#include "conformance/waiting.hpp"

namespace cohort::test {
namespace {

using testing::HasSubstr;

cuda::Engine& engine() {
  static cuda::Engine shared;
  return shared;
}

/// Words on the device that the host and kernels access.
class Words {
 public:
  explicit Words(std::size_t count = 1) : buffer_(engine().fill<std::uint32_t>(count, 0)) {}
  [[nodiscard]] std::uint32_t* data() const { return buffer_.data(); }
  [[nodiscard]] std::vector<std::uint32_t> all() const { return buffer_.read(); }
  [[nodiscard]] std::uint32_t get() const { return all()[0]; }
  void set(std::uint32_t value) const { buffer_.fill(value); }

 private:
  Buffer<std::uint32_t> buffer_;
};

class Stream {
 public:
  Stream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// The message of the Error that `act` throws.
template <class Act>
std::string refused(Act act, Errc code = Errc::bad_options) {
  try {
    act();
    return "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
}

struct Step {
  std::uint32_t step = 0;
};

/// Each step changes each item once, with plain writes that only the barrier orders. Runs until
/// `stop` is set or for `steps` steps.
struct March {
  std::uint32_t* items;
  std::uint32_t count;
  std::uint32_t steps;
  std::uint32_t* stop;
  std::uint32_t* over;  // whether the first thread decided to stop; indexed by step % 2
  std::uint32_t* wrong;
};

__global__ void marching(GridArg arg, March march) {
  Grid<Step> grid{arg};
  if (!grid) return;
  for (Step state = grid.state(); state.step < march.steps;) {
    const std::uint32_t parity = state.step % 2;
    if (march.over[1 - parity] != 0) return;  // checked here so that joining blocks see it too
    for (auto i : grid.stride(march.count)) {
      if (march.items[i]++ != state.step) atomicAdd(march.wrong, 1U);
    }
    if (grid.block_rank() >= grid.num_blocks()) atomicAdd(march.wrong, 1U);
    if (grid.thread_rank() == 0) {
      march.over[parity] = *static_cast<volatile std::uint32_t*>(march.stop);
    }
    ++state.step;
    if (grid.sync(state)) return;
  }
}

/// Takes numbered tasks until it is told to stop. Blocks may leave and join at every task.
template <bool at_once>
__global__ void taking(GridArg arg, std::uint32_t* next, std::uint32_t* done, std::uint32_t count,
                       std::uint32_t* stop) {
  __shared__ std::uint32_t task;
  Grid<Nothing, Resizes::anywhere> grid{arg};
  if (!grid) return;
  for (;;) {
    if constexpr (at_once) {
      if (grid.offer({})) return;
    } else {
      if (grid.offer_kill({})) return;
      grid.request_fork({});
    }
    if (threadIdx.x == 0) {
      const bool over = *static_cast<volatile std::uint32_t*>(stop) != 0;
      task = over ? ~0U : atomicAdd(next, 1U);
    }
    __syncthreads();
    if (task == ~0U) return;
    if (threadIdx.x == 0) atomicAdd(&done[task % count], 1U);
    __syncthreads();
  }
}

struct Marched {
  std::uint32_t count = 10007;
  Words items{count};
  Words stop;
  Words over{2};
  Words wrong;

  [[nodiscard]] March march(std::uint32_t steps) const {
    return {items.data(), count, steps, stop.data(), over.data(), wrong.data()};
  }
  void expect_each(std::uint32_t steps) const {
    EXPECT_EQ(wrong.get(), 0U);
    EXPECT_THAT(items.all(), testing::Each(steps));
  }
};

/// Changes the target at random until `wanted` blocks have joined and as many have left.
void shake(const Job& job, std::uint64_t wanted) {
  std::mt19937 random{5};
  for (;;) {
    job.set_target(1 + random() % engine().capacity());
    ASSERT_FALSE(job.wait_for(std::chrono::microseconds{random() % 200}));
    const Report report = job.report();
    if (report.joins >= wanted && report.leaves >= wanted) break;
  }
  job.reset_target();
}

// ---- Grid

TEST(Grid, BlocksShareTheWorkOfEachStep) {
  for (const std::uint32_t threads : {1U, 32U, 100U, 256U}) {
    for (const bool resizable : {true, false}) {
      const Marched marched;
      const Report report = engine()
                                .launch(marching, {.local_size = threads, .resizable = resizable},
                                        marched.march(2000))
                                .wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_EQ(report.start_groups, engine().capacity());
      marched.expect_each(2000);
    }
  }
}

TEST(Grid, BlocksThatLeaveAndJoinAtBarriersLoseNoWork) {
  const Marched marched;
  const ScopedJob job = engine().launch(marching, {.local_size = 128}, marched.march(~0U));
  shake(job, scaled(500, 50));
  marched.stop.set(1);
  EXPECT_EQ(job.wait().status, Status::finished);
  marched.expect_each(marched.items.get());
}

/// `run` holds the job until all tasks should end.
template <bool at_once, class Run>
void do_every_task_once(bool stress, Run run) {
  constexpr std::uint32_t count = 1000;
  const Words next;
  const Words done{count};
  const Words stop;
  const ScopedJob job = engine().launch(taking<at_once>, {.local_size = 128, .stress = stress},
                                        next.data(), done.data(), count, stop.data());
  run(job);
  stop.set(1);
  EXPECT_EQ(job.wait().status, Status::finished);
  const std::uint32_t tasks = next.get();
  std::vector<std::uint32_t> expected(count, tasks / count);
  for (std::uint32_t i = 0; i < tasks % count; ++i) ++expected[i];
  EXPECT_EQ(done.all(), expected);
}
TEST(Grid, BlocksThatStealWorkLeaveAndJoinAtAnyTask) {
  const auto shaken = [](const Job& job) { shake(job, scaled(500, 50)); };
  do_every_task_once<true>(false, shaken);
  do_every_task_once<false>(false, shaken);
}

TEST(Grid, SeveralBlocksShareAnSm) {
  const Marched marched;
  const std::uint32_t groups = 3 * engine().capacity();
  const Report report =
      engine()
          .launch(marching, {.max_groups = groups, .local_size = 256}, marched.march(500))
          .wait();
  EXPECT_EQ(report.status, Status::finished);
  marched.expect_each(500);
}

__global__ void prologue(GridArg arg, std::uint32_t* prologues, std::uint32_t* shared_sums,
                         std::uint32_t steps, std::uint32_t* stop, std::uint32_t* over) {
  extern __shared__ std::uint32_t mine[];
  Grid<Step> grid{arg};
  if (!grid) return;
  if (!grid.joined()) {
    if (threadIdx.x == 0) atomicAdd(prologues, 1U);
    grid.sync();
    // All blocks are present: the barrier has published their additions.
    if (threadIdx.x == 0 && *static_cast<volatile std::uint32_t*>(prologues) != grid.num_blocks())
      atomicAdd(shared_sums, 1'000'000U);
  }
  for (Step state = grid.state(); state.step < steps;) {
    const std::uint32_t parity = state.step % 2;
    if (over[1 - parity] != 0) return;
    for (std::uint32_t i = threadIdx.x; i < 10'000; i += blockDim.x) mine[i] = i + state.step;
    __syncthreads();
    if (threadIdx.x == 0 && mine[9'999] != 9'999 + state.step) atomicAdd(shared_sums, 1U);
    if (grid.thread_rank() == 0) over[state.step % 2] = *static_cast<volatile std::uint32_t*>(stop);
    ++state.step;
    if (grid.sync(state)) return;
    if (over[(state.step - 1) % 2] != 0) return;
  }
}

TEST(Grid, JoinersSkipThePrologueAndHaveTheirSharedMemory) {
  const Words prologues;
  const Words wrong;
  const Words stop;
  const Words over{2};
  const ScopedJob job = engine().launch(
      prologue, {.local_size = 128, .shared_memory = 10'000 * sizeof(std::uint32_t)},
      prologues.data(), wrong.data(), ~0U, stop.data(), over.data());
  shake(job, 50);
  stop.set(1);
  const Report report = job.wait();
  EXPECT_EQ(prologues.get(), report.start_groups);
  EXPECT_EQ(wrong.get(), 0U);
}

TEST(Grid, ASuspendedJobKeepsItsState) {
  const Marched marched;
  const ScopedJob job = engine().launch(marching, {.local_size = 128}, marched.march(~0U));
  for (int i = 0; i < 5; ++i) {
    await([&, before = marched.items.get()] { return marched.items.get() > before; });
    ASSERT_EQ(job.suspend(), Status::suspended);
    const std::uint32_t steps = marched.items.get();
    marched.expect_each(steps);
    job.resume();
  }
  marched.stop.set(1);
  EXPECT_EQ(job.wait().status, Status::finished);
  marched.expect_each(marched.items.get());
}

TEST(Grid, ACancelledJobEnds) {
  const Marched marched;
  const Job job = engine().launch(marching, {.local_size = 64}, marched.march(~0U));
  await([&] { return marched.items.get() > 0; });
  job.cancel();
  EXPECT_EQ(job.wait().status, Status::cancelled);
}

TEST(Grid, ALeaseTakesItsBlocks) {
  const Marched marched;
  const ScopedJob job = engine().launch(marching, {.local_size = 256}, marched.march(~0U));
  await([&] { return groups_now(job) == engine().capacity(); });
  cudaStream_t high = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -5), cudaSuccess);
  {
    const cuda::Lease lease = engine().lease(high, {.sms = engine().capacity() / 2});
    await([&] { return groups_now(job) <= engine().capacity() - engine().capacity() / 2; });
  }
  await([&] { return groups_now(job) == engine().capacity(); });
  marched.stop.set(1);
  job.wait();
  marched.expect_each(marched.items.get());
  cudaStreamDestroy(high);
}

// ---- the form of the kernel

__global__ void __launch_bounds__(96) bounded(GridArg arg, std::uint32_t* threads) {
  Grid<> grid{arg};
  if (grid && grid.thread_rank() == 0) *threads = blockDim.x;
}

__global__ void __cluster_dims__(2) clustered(GridArg arg) { const Grid<> grid{arg}; }

TEST(Grid, LaunchBoundsAreRespected) {
  const Words threads;
  engine().launch(bounded, {}, threads.data()).wait();
  EXPECT_EQ(threads.get(), 96U);
  EXPECT_THAT(refused([&] { engine().launch(bounded, {.local_size = 97}, threads.data()); }),
              HasSubstr("local_size = 97; this kernel allows blocks of at most 96 threads"));
}

TEST(Grid, WhatCannotRunIsRefused) {
  EXPECT_THAT(refused([] { engine().launch(clustered); }), HasSubstr("clusters"));
  const Words threads;
  const auto launch = [&threads](const cuda::GridOptions& options) {
    return refused([&] { engine().launch(bounded, options, threads.data()); });
  };
  EXPECT_THAT(launch({.shared_memory = 1'000'000}), HasSubstr("shared_memory = 1000000 bytes"));
  EXPECT_THAT(launch({.resizable = false, .stress = true}), HasSubstr("drop stress"));
  EXPECT_THAT(launch({.max_groups = 0}), HasSubstr("max_groups"));
}

// ---- kernels of modules

constexpr const char* source = R"(
#include <cohort/grid.cuh>
struct State { int step = 0; };
extern "C" __global__ void scale(cohort::GridArg arg, float* values, int count, int steps) {
  cohort::Grid<State> grid{arg};
  if (!grid) return;
  for (State state = grid.state(); state.step < steps;) {
    for (auto i : grid.stride(count)) values[i] += static_cast<float>(state.step);
    ++state.step;
    if (grid.sync(state)) return;
  }
}
extern "C" __global__ void plain(float*, int, int) {}
)";

/// Compiles the source at run time to a cubin.
std::vector<char> compiled(const std::string& architecture) {
  nvrtcProgram program = nullptr;
  EXPECT_EQ(nvrtcCreateProgram(&program, source, "scale.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
  std::vector<std::string> options{"-std=c++20", "-default-device", "-arch=" + architecture};
  std::istringstream folders{COHORT_NVRTC_INCLUDES};
  for (std::string folder; std::getline(folders, folder, ':');) options.push_back("-I" + folder);
  std::vector<const char*> pointers;
  for (const std::string& each : options) pointers.push_back(each.c_str());
  const nvrtcResult result =
      nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
  std::size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, ' ');
  nvrtcGetProgramLog(program, log.data());
  EXPECT_EQ(result, NVRTC_SUCCESS) << log;
  nvrtcGetCUBINSize(program, &size);
  std::vector<char> code(size);
  EXPECT_EQ(nvrtcGetCUBIN(program, code.data()), NVRTC_SUCCESS);
  nvrtcDestroyProgram(&program);
  return code;
}

/// Needs no device, so this test runs on every machine.
TEST(Nvrtc, CompilesAGrid) { EXPECT_GT(compiled("sm_90").size(), 1000U); }

TEST(Grid, AFunctionOfAModuleIsAKernel) {
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  const std::vector<char> code =
      compiled("sm_" + std::to_string(properties.major) + std::to_string(properties.minor));
  cudaLibrary_t library = nullptr;
  cudaKernel_t scale = nullptr;
  cudaKernel_t plain = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  ASSERT_EQ(cudaLibraryGetKernel(&scale, library, "scale"), cudaSuccess);
  ASSERT_EQ(cudaLibraryGetKernel(&plain, library, "plain"), cudaSuccess);
  const auto values = engine().fill<float>(1000, 1.0F);
  engine().launch(scale, {.local_size = 128}, values.data(), 1000, 10).wait();
  EXPECT_THAT(values.read(), testing::Each(46.0F));
  const cudaFunction_t function = cuda::detail::function_of(cudaSuccess, scale);
  engine().launch(function, {.local_size = 128}, values.data(), 1000, 10).wait();
  EXPECT_THAT(values.read(), testing::Each(91.0F));

  const auto launch = [&](cudaKernel_t kernel, auto... arguments) {
    return refused([&] { engine().launch(kernel, {}, arguments...); });
  };
  EXPECT_THAT(launch(plain, values.data(), 1000, 10), HasSubstr("not the cohort::GridArg"));
  EXPECT_THAT(launch(scale, values.data(), 1000), HasSubstr("has more parameters"));
  EXPECT_THAT(launch(scale, values.data(), 1000, 10, 1), HasSubstr("has fewer parameters"));
  EXPECT_THAT(launch(scale, values.data(), std::size_t{1000}, 10),
              HasSubstr("argument 2 after the options has 8 bytes; the parameter has 4"));
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
}

// ---- order with a stream

__global__ void slow_fill(std::uint32_t* items, std::uint32_t count, std::uint32_t value,
                          std::uint64_t nanoseconds) {
  for (const std::uint64_t until = cuda::Platform::timer() + nanoseconds;
       cuda::Platform::timer() < until;) {
  }
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) items[i] = value;
}

/// Waits until the host sets `go`, but not for ever.
__global__ void wait_and_fill(const volatile std::uint32_t* go, std::uint32_t* item,
                              std::uint32_t value) {
  const std::uint64_t until = cuda::Platform::timer() + 10'000'000'000;
  while (*go == 0 && cuda::Platform::timer() < until) __nanosleep(1000);
  *item = value;
}

/// Adds 1 to each item, `steps` times.
__global__ void increment(GridArg arg, std::uint32_t* items, std::uint32_t count,
                          std::uint32_t steps) {
  Grid<Step> grid{arg};
  if (!grid) return;
  for (Step state = grid.state(); state.step < steps;) {
    for (auto i : grid.stride(count)) ++items[i];
    ++state.step;
    if (grid.sync(state)) return;
  }
}

TEST(Grid, AJobStartsAfterItsStreamAndTheStreamGoesOnAfterTheJob) {
  constexpr std::uint32_t count = 5000;
  for (int round = 0; round < 8; ++round) {
    const Stream stream;
    const Words items{count};
    const Words copy{count};
    slow_fill<<<1, 256, 0, stream>>>(items.data(), count, 100, 2'000'000);
    const Job first = engine().launch(increment, {.local_size = 128, .stream = stream},
                                      items.data(), count, 2000U);
    const Job second = engine().launch(increment, {.local_size = 256, .stream = stream},
                                       items.data(), count, 1000U);
    ASSERT_EQ(cudaMemcpyAsync(copy.data(), items.data(), count * sizeof(std::uint32_t),
                              cudaMemcpyDeviceToDevice, stream),
              cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(first.wait().status, Status::finished);
    EXPECT_EQ(second.wait().status, Status::finished);
    EXPECT_THAT(copy.all(), testing::Each(3100U));
  }
}

/// While a stream waits for a job, everything else continues: resizes, other jobs, leases, memory.
TEST(Grid, AStreamThatWaitsHoldsUpNothingElse) {
  for (int round = 0; round < 8; ++round) {
    const Stream stream;
    const Marched marched;
    const Words after;
    const ScopedJob job =
        engine().launch(marching, {.local_size = 128, .stream = stream}, marched.march(~0U));
    slow_fill<<<1, 32, 0, stream>>>(after.data(), 1, 7, 0);
    await([&] { return marched.items.get() > 0; });
    shake(job, 20);
    const Marched other;
    EXPECT_EQ(engine().launch(marching, {.local_size = 64}, other.march(50)).wait().status,
              Status::finished);
    other.expect_each(50);
    EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
    EXPECT_EQ(after.get(), 0U);
    EXPECT_THAT(refused([&] { job.suspend(); }, Errc::not_suspendable), HasSubstr("its stream"));
    marched.stop.set(1);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(after.get(), 7U);
    EXPECT_EQ(job.wait().status, Status::finished);
    marched.expect_each(marched.items.get());
  }
}

TEST(Grid, AStreamGoesOnAfterACancelledJob) {
  const Stream stream;
  const Marched marched;
  const Words go;
  const Words before;
  wait_and_fill<<<1, 1, 0, stream>>>(go.data(), before.data(), 7);
  const Job pending =
      engine().launch(marching, {.local_size = 128, .stream = stream}, marched.march(~0U));
  const Job later =
      engine().launch(marching, {.local_size = 128, .stream = stream}, marched.march(~0U));
  EXPECT_EQ(pending.status(), Status::pending);
  EXPECT_EQ(later.status(), Status::pending);
  pending.cancel();
  go.set(1);
  await([&] { return later.status() == Status::running && marched.items.get() > 0; });
  EXPECT_EQ(before.get(), 7U);
  later.cancel();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

TEST(Grid, StreamsThatCannotWaitAreRefused) {
  const Stream stream;
  const Words threads;
  const auto launch = [&threads](cudaStream_t with) {
    return refused([&] { engine().launch(bounded, {.stream = with}, threads.data()); });
  };
  EXPECT_THAT(launch(cudaStreamLegacy), HasSubstr("legacy default stream"));
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_THAT(launch(stream), HasSubstr("being captured"));
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);  // the capture is still valid
  cudaGraphDestroy(graph);
}

// ---- stress

/// A kernel ported only halfway: it divides the work by gridDim.
__global__ void careless(GridArg arg, std::uint32_t* items, std::uint32_t count,
                         std::uint32_t steps) {
  Grid<Step> grid{arg};
  if (!grid) return;
  for (Step state = grid.state(); state.step < steps;) {
    for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
      atomicAdd(&items[i], 1U);
    ++state.step;
    if (grid.sync(state)) return;
  }
}

TEST(Grid, StressResizesACorrectKernelAtItsBarriers) {
  const Marched marched;
  const Report report =
      engine().launch(marching, {.local_size = 128, .stress = true}, marched.march(500)).wait();
  EXPECT_EQ(report.status, Status::finished);
  marched.expect_each(500);
  EXPECT_GT(report.leaves, 500U);
  EXPECT_GT(report.joins, 500U);
  std::printf("  %llu joins and %llu leaves in 500 steps, %.1f ms\n",
              static_cast<unsigned long long>(report.joins),
              static_cast<unsigned long long>(report.leaves),
              static_cast<double>(report.run_time.count()) * 1e-6);
}

TEST(Grid, StressResizesAtOffers) {
  do_every_task_once<true>(true, [](const Job& job) {
    await([&job] {
      const Report report = job.report();
      return report.joins > 500 && report.leaves > 500;
    });
  });
}

TEST(Grid, StressFindsLeftoverUsesOfGridDim) {
  const auto items_after = [](bool stress) {
    const Words items{10'007};
    engine()
        .launch(careless, {.local_size = 128, .resizable = stress, .stress = stress}, items.data(),
                10'007U, 100U)
        .wait();
    return items.all();
  };
  EXPECT_THAT(items_after(false), testing::Each(100U));
  EXPECT_THAT(items_after(true), testing::Not(testing::Each(100U)));
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string why;
  if (!cohort::cuda::available(&why)) {
    testing::GTEST_FLAG(filter) = "Nvrtc.*";
    const int failed = RUN_ALL_TESTS();
    std::printf("SKIPPED: %s\n", why.c_str());
    return failed != 0 ? failed : 77;
  }
  return RUN_ALL_TESTS();
}
