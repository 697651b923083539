// Features that only the CUDA engine has: all SMs of a device, placement, leases, tapes, device
// memory and device loss. tests/conformance covers the features that every engine has. Without a
// device the tests are skipped visibly.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "cohort/cpu.hpp"
#include "cohort/cuda.hpp"
#include "cohort/trace_log.hpp"
#include "conformance/lookout.hpp"
#include "conformance/scale.hpp"
#include "conformance/waiting.hpp"
#include "cuda/kernels.cuh"

namespace cohort::test {
namespace {

namespace fs = std::filesystem;

/// One engine for all tests that do not need their own, because starting an engine takes long.
cuda::Engine& engine() {
  static cuda::Engine shared;
  return shared;
}

/// A word on the device that the host and kernels access.
class Word {
 public:
  explicit Word(std::uint32_t value = 0) : buffer_(engine().fill<std::uint32_t>(1, value)) {}
  [[nodiscard]] std::uint32_t* data() const { return buffer_.data(); }
  [[nodiscard]] std::uint32_t get() const { return buffer_.read()[0]; }
  void set(std::uint32_t value) const { buffer_.fill(value); }

 private:
  Buffer<std::uint32_t> buffer_;
};

struct Marched {
  std::uint32_t count = 10007;
  Buffer<std::uint32_t> items = engine().fill<std::uint32_t>(count, 0);
  Word stop;
  Word wrong;

  [[nodiscard]] Steps kernel(std::uint32_t steps) const {
    return {items.data(), count, steps, stop.data(), wrong.data()};
  }
  void expect(std::uint32_t steps) const {
    EXPECT_EQ(wrong.get(), 0U);
    EXPECT_THAT(items.read(), testing::Each(steps));
  }
};

struct Held {
  Buffer<std::uint32_t> held = engine().fill<std::uint32_t>(max_groups_limit, 0);
  Word wrong;

  [[nodiscard]] Holders holders() const { return {held.data(), wrong.data()}; }
};

/// Takes numbered tasks until it is stopped.
struct Tasks {
  static constexpr std::uint32_t count = 100'000;
  Held ids;
  Buffer<std::uint64_t> next = engine().fill<std::uint64_t>(1, 0);
  Buffer<std::uint32_t> done = engine().fill<std::uint32_t>(count, 0);
  Word stop;

  template <KillOrder order = KillOrder::highest_first>
  [[nodiscard]] Taking<order> kernel(long long cycles,
                                     std::uint64_t pause_from = ~std::uint64_t{0}) const {
    return {ids.holders(), next.data(), done.data(), count, stop.data(), cycles, pause_from};
  }
  [[nodiscard]] std::uint64_t taken() const { return next.read()[0]; }
  void expect_each_done_once() const {
    EXPECT_EQ(ids.wrong.get(), 0U);
    const std::uint64_t all = taken();
    std::vector<std::uint32_t> expected(count, static_cast<std::uint32_t>(all / count));
    for (std::uint64_t i = 0; i < all % count; ++i) ++expected[i];
    EXPECT_EQ(done.read(), expected);
  }
};

/// Changes the target at random until at least `wanted` groups have joined and as many have left.
/// Returns the number of changes.
std::uint64_t shake(const Job& job, std::uint32_t groups, std::uint32_t seed,
                    std::uint64_t wanted = scaled(1000, 100)) {
  std::mt19937 random{seed};
  for (std::uint64_t turn = 1;; ++turn) {
    job.set_target(1 + random() % groups);
    const bool ended = job.wait_for(std::chrono::microseconds{random() % 200}).has_value();
    EXPECT_FALSE(ended) << "the job ended before it was told to stop";
    if (!ended && turn % 16 != 0) continue;
    const Report report = job.report();
    if (!ended && (report.joins < wanted || report.leaves < wanted)) continue;
    job.reset_target();
    return turn;
  }
}

// ---- barriers

TEST(Cuda, StepsOnAllSms) {
  for (const std::uint32_t local_size : {1U, 32U, 100U, 256U}) {
    for (const bool resizable : {true, false}) {
      const Marched march;
      const Report report =
          engine()
              .launch(march.kernel(2000), {.local_size = local_size, .resizable = resizable})
              .wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_EQ(report.start_groups, engine().capacity());
      march.expect(2000);
    }
  }
}

TEST(Cuda, ManyMoreGroupsThanFitFinish) {
  const std::uint32_t groups = std::min(max_groups_limit, engine().capacity() * 8 * 4);
  const auto counts = engine().fill<std::uint32_t>(100, 0);
  const Word wrong;
  const Report report = engine()
                            .launch(Barriers{100, counts.data(), wrong.data()},
                                    {.max_groups = groups, .local_size = 256})
                            .wait();
  EXPECT_EQ(report.status, Status::finished);
  EXPECT_EQ(wrong.get(), 0U);
}

// ---- offers and forks

TEST(Cuda, EverythingMixedUnderResizing) {
  const Held ids;
  const auto last = engine().fill<std::uint32_t>(2, 0);
  const Word rounds;
  const Word stop;
  const ScopedJob job = engine().launch(
      Mixed{ids.holders(), rounds.data(), last.data(), stop.data(), ~0U}, {.local_size = 64});
  shake(job, engine().capacity(), 2);
  await([&] { return rounds.get() > 100; });
  stop.set(1);
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(ids.wrong.get(), 0U);
}

template <KillOrder order>
void every_task_once() {
  const Tasks tasks;
  const ScopedJob job = engine().launch(tasks.kernel<order>(20'000), {.local_size = 128});
  shake(job, engine().capacity(), 3);
  tasks.stop.set(1);
  EXPECT_EQ(job.wait().status, Status::finished);
  tasks.expect_each_done_once();
}

TEST(Cuda, HighestFirstLosesNoTask) { every_task_once<KillOrder::highest_first>(); }
TEST(Cuda, AnyOrderLosesNoTask) { every_task_once<KillOrder::any>(); }

TEST(Cuda, AnSmBelongsToOneGroup) {
  const std::uint32_t sms = engine().capacity();
  for (const std::uint32_t local_size : {64U, 1024U}) {
    const auto sm = engine().fill<std::uint32_t>(sms, ~0U);
    const Word groups;
    const Word stop;
    const ScopedJob job = engine().launch(Places{sm.data(), groups.data(), stop.data()},
                                          {.max_groups = sms, .local_size = local_size});
    for (const std::uint32_t target : {sms / 3, sms, 1U, sms}) {
      job.set_target(target);
      await([&] { return groups.get() == target; });
    }
    stop.set(1);
    EXPECT_EQ(job.wait().status, Status::finished);
    const std::vector<std::uint32_t> at = sm.read();
    EXPECT_THAT(at, testing::Each(testing::Lt(~0U)));
    EXPECT_EQ((std::set<std::uint32_t>{at.begin(), at.end()}.size()), sms) << local_size;
  }
}

TEST(Cuda, GroupsOfAnSmHaveNeighbouringIds) {
  const std::uint32_t sms = engine().capacity();
  const auto sm = engine().fill<std::uint32_t>(2 * sms, ~0U);
  const Word groups;
  const Word stop;
  const ScopedJob job = engine().launch(Places{sm.data(), groups.data(), stop.data()},
                                        {.max_groups = 2 * sms, .local_size = 256});
  await([&] { return groups.get() == 2 * sms; });
  const std::vector<std::uint32_t> at = sm.read();
  for (std::uint32_t i = 0; i < sms; ++i) EXPECT_EQ(at[2 * i], at[2 * i + 1]) << i;
  job.set_target(sms);
  await([&] { return groups.get() == sms; });
  job.reset_target();
  await([&] { return groups.get() == 2 * sms; });
  stop.set(1);
  EXPECT_EQ(job.wait().status, Status::finished);
}

// ---- a job's life

TEST(Cuda, ATracerHearsOfEveryStay) {
  const Marched march;
  TraceLog log;
  const ScopedJob job = engine().launch(march.kernel(~0U), {.local_size = 128, .tracer = &log});
  shake(job, engine().capacity(), 7, 20);  // few changes: a tape has room for 256 events
  march.stop.set(1);
  const Report report = job.wait();
  std::map<Trace, std::uint64_t> count;
  std::map<std::uint32_t, bool> inside;  // indexed by unit
  for (const LoggedEvent& logged : log.events()) {
    const TraceEvent& event = logged.event;
    ++count[event.what];
    const bool begins = event.what == Trace::start || event.what == Trace::join;
    EXPECT_NE(inside[event.unit], begins) << "on SM " << event.unit;
    inside[event.unit] = event.what != Trace::kill && event.what != Trace::finish;
  }
  EXPECT_EQ(count[Trace::start], report.start_groups);
  EXPECT_EQ(count[Trace::join], report.joins);
  EXPECT_EQ(count[Trace::kill], report.leaves);
  EXPECT_EQ(count[Trace::finish], report.start_groups + report.joins - report.leaves);
  EXPECT_GT(count[Trace::arrive], 0U);
  EXPECT_EQ(count[Trace::arrive], count[Trace::pass]);
}

TEST(Cuda, ATracerHearsOfOffers) {
  // A tape has room for the offers up to this task. After it, groups offer only on demand.
  const std::uint64_t pause_from = 200 * engine().capacity();
  const Tasks tasks;
  TraceLog log;
  const ScopedJob job =
      engine().launch(tasks.kernel(20'000, pause_from), {.local_size = 128, .tracer = &log});
  await([&] { return tasks.taken() > pause_from; });
  job.set_target(engine().capacity() / 2);
  await([&] { return job.report().leaves > 0; });
  tasks.stop.set(1);
  const Report report = job.wait();
  std::map<std::uint32_t, Trace> last;  // indexed by unit
  std::map<std::uint32_t, std::uint64_t> offers;
  std::uint64_t kills = 0;
  for (const LoggedEvent& logged : log.events()) {
    const TraceEvent& event = logged.event;
    if (event.what == Trace::offer) ++offers[event.group];
    if (event.what == Trace::kill) {
      ++kills;
      EXPECT_EQ(last[event.unit], Trace::offer) << "group " << event.group;
    }
    last[event.unit] = event.what;
  }
  EXPECT_EQ(kills, report.leaves);
  EXPECT_GT(kills, 0U);
  EXPECT_EQ(offers.size(), report.start_groups + report.joins);
}

TEST(Cuda, ACheckpointMovesBetweenEngines) {
  const fs::path file = fs::temp_directory_path() / ("cohort-cuda-" + std::to_string(::getpid()));
  constexpr std::uint32_t count = 1000;
  constexpr std::uint32_t endless = ~0U;
  std::uint32_t steps = 0;
  // Starts on the CPU.
  std::vector<std::uint32_t> items(count);
  std::uint32_t stop = 0;
  std::uint32_t wrong = 0;
  cpu::Engine host{{.capacity = 2}};
  {
    Lookout arrival{Trace::arrive};
    const ScopedJob job =
        host.launch(Steps{items.data(), count, endless, &stop, &wrong}, {.tracer = &arrival});
    await([&] { return arrival.seen.load(); });
    ASSERT_EQ(job.suspend(), Status::suspended);
    job.checkpoint(file);
    EXPECT_GT(items[0], 0U);
  }
  // Continues on the GPU.
  {
    const auto on_device = engine().fill<std::uint32_t>(count, 0);
    const Word device_stop;
    const Word device_wrong;
    const ScopedJob job = engine().restore(
        Steps{on_device.data(), count, endless, device_stop.data(), device_wrong.data()}, file,
        {.local_size = 128});
    await([&] { return on_device.read()[0] > items[0]; });
    ASSERT_EQ(job.suspend(), Status::suspended);
    EXPECT_EQ(device_wrong.get(), 0U);
    job.checkpoint(file);
    steps = on_device.read()[0] + 1000;
  }
  // Finishes on the CPU.
  std::fill(items.begin(), items.end(), 0);
  const Job job = host.restore(Steps{items.data(), count, steps, &stop, &wrong}, file);
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(wrong, 0U);
  EXPECT_THAT(items, testing::Each(steps));
  fs::remove(file);
}

/// A stream of the given priority.
class Stream {
 public:
  explicit Stream(int priority) {
    EXPECT_EQ(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority), cudaSuccess);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

__global__ void count_blocks(std::uint32_t* blocks, long long cycles) {
  if (threadIdx.x == 0) atomicAdd(blocks, 1U);
  for (const long long until = clock64() + cycles; clock64() < until;) {
  }
}

TEST(Cuda, ALeaseHoldsSmsForForeignWork) {
  const Stream stream{-5};
  const Marched march;
  const Word blocks;
  const ScopedJob job = engine().launch(march.kernel(~0U), {.local_size = 256});
  EXPECT_EQ(
      cudaFuncSetAttribute(count_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 160'000),
      cudaSuccess);
  await([&] { return groups_now(job) == engine().capacity(); });
  std::uint32_t expected = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint32_t sms = 1 + static_cast<std::uint32_t>(i) * 7 % (engine().capacity() - 1);
    const cuda::Lease lease = engine().lease(stream, {.sms = sms});
    count_blocks<<<sms, 256, 160'000, stream>>>(blocks.data(), 20'000);
    expected += sms;
  }
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(blocks.get(), expected);
  await([&] { return groups_now(job) == engine().capacity(); });
  march.stop.set(1);
  const Report report = job.wait();
  EXPECT_EQ(report.status, Status::finished);
  EXPECT_GT(report.leaves, 10U);
  march.expect(march.items.read()[0]);
}

TEST(Cuda, ALeaseCanBeCaptured) {
  const Stream stream{-5};
  const Marched march;
  const Word blocks;
  const ScopedJob job = engine().launch(march.kernel(~0U), {.local_size = 256});
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(
      cudaFuncSetAttribute(count_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 160'000),
      cudaSuccess);
  // The strictest capture mode: no thread may do anything that could disturb a capture.
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  {
    const cuda::Lease lease = engine().lease(stream, {.sms = 33});
    count_blocks<<<33, 256, 160'000, stream>>>(blocks.data(), 20'000);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    const Word arrived;
    const Word wrong;
    const TaskReport beside =
        engine()
            .submit(Gang{arrived.data(), wrong.data()}, {.groups = 1, .local_size = 128})
            .wait();
    EXPECT_EQ(beside.status, Status::finished);
  }
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(blocks.get(), 20U * 33U);
  await([&] { return groups_now(job) == engine().capacity(); });
  march.stop.set(1);
  EXPECT_EQ(job.wait().status, Status::finished);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST(Cuda, LeasesThatCannotWorkAreRefused) {
  const auto refused = [](cudaStream_t stream, std::uint32_t sms) -> std::string {
    try {
      const cuda::Lease lease = engine().lease(stream, {.sms = sms});
      return "granted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_options);
      return error.what();
    }
  };
  const Stream low{0};
  const Stream high{-1};
  const Marched march;
  const ScopedJob job = engine().launch(march.kernel(~0U), {.local_size = 128});
  await([&] { return job.status() == Status::running; });
  EXPECT_THAT(refused(low, 1), testing::HasSubstr("does not outrank"));
  EXPECT_THAT(refused(high, 0), testing::HasSubstr("it can be 1 to"));
  EXPECT_THAT(refused(high, engine().capacity()), testing::HasSubstr("suspend a job first"));
  EXPECT_EQ(refused(high, 1), "granted");
  {
    std::vector<cuda::Lease> all;
    for (std::uint32_t i = 0; i < 31; ++i) all.push_back(engine().lease(high, {.sms = 1}));
    while (refused(high, 1) == "granted") {  // a captured lease may still hold a slot
      all.push_back(engine().lease(high, {.sms = 1}));
      ASSERT_LE(all.size(), 32U);
    }
    EXPECT_THAT(refused(high, 1), testing::HasSubstr("give one back"));
  }
  EXPECT_EQ(cudaStreamSynchronize(high), cudaSuccess);
  EXPECT_EQ(refused(high, 1), "granted");
}

// ---- memory

TEST(Cuda, ADeviceThatIsNotThereIsRefused) { EXPECT_THROW(cuda::Engine({.device = 77}), Error); }

TEST(Cuda, BuffersAreFilledHoweverLargeTheyAre) {
  struct Odd {
    std::uint32_t words[7];
  };
  const Odd value{{1, 2, 3, 4, 5, 6, 7}};
  const auto few = engine().fill<Odd>(3, value);
  const auto many = engine().fill<Odd>(1'000'001, value);  // more than one copy transfers
  for (const auto* buffer : {&few, &many}) {
    std::size_t wrong = 0;
    for (const Odd& each : buffer->read())
      wrong += std::equal(each.words, each.words + 7, value.words) ? 0 : 1;
    EXPECT_EQ(wrong, 0U) << "of " << buffer->size();
  }
  struct Huge {
    std::uint32_t words[2'000'000];
  };
  const auto large = std::make_unique<Huge>();
  large->words[1'999'999] = 9;
  EXPECT_EQ(engine().fill<Huge>(2, *large).read().back().words[1'999'999], 9U);
}

TEST(Cuda, MemoryNeverWaitsForAJob) {
  const Marched march;
  const ScopedJob job = engine().launch(march.kernel(~0U), {.local_size = 1});
  await([&] { return march.items.read()[0] > 0; });
  for (int i = 0; i < 20; ++i) {  // this would hang if memory waited for the job
    const auto buffer = engine().fill<std::uint32_t>(1'000'000, 7);
    EXPECT_EQ(buffer.read().back(), 7U);
  }
  EXPECT_EQ(job.status(), Status::running);
  march.stop.set(1);
  job.wait();
}

TEST(Cuda, ALongLifeLeaksNothing) {
  const auto free_bytes = [] {
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    return free;
  };
  const auto life = [] {
    cuda::Engine own;
    const auto items = own.fill<std::uint32_t>(1000, 0);
    const auto words = own.fill<std::uint32_t>(2, 0);
    for (int i = 0; i < 50; ++i) {
      own.launch(Steps{items.data(), 1000, 1, words.data(), words.data() + 1}, {.local_size = 64})
          .wait();
    }
  };
  life();
  const std::size_t before = free_bytes();
  for (int i = 0; i < 5; ++i) life();
  EXPECT_GE(free_bytes() + (std::size_t{1} << 20U), before);
}

/// A process of its own, because CUDA does not work after this error.
TEST(CudaDeathTest, ADeviceErrorSurfacesAndTheEngineIsLost) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto crash = [] {
    cuda::Engine own;
    bool failed = false;
    try {
      own.launch(Wild{}, {.max_groups = 2}).wait();
    } catch (const Error& error) {
      std::fprintf(stderr, "first: %s\n", error.what());
      failed = error.code() == Errc::device_lost;
    }
    try {
      own.launch(Wild{}).wait();
    } catch (const Error& error) {
      std::fprintf(stderr, "then: %s\n", error.what());
      std::_Exit(failed && error.code() == Errc::device_lost ? 3 : 4);
    }
    std::_Exit(5);
  };
  EXPECT_EXIT(crash(), testing::ExitedWithCode(3), "lost");
}

// ---- stress

TEST(Stress, AHundredThousandResizesLoseNobody) {
  const Marched march;
  const ScopedJob job = engine().launch(march.kernel(~0U), {.local_size = 128});
  const std::uint64_t turns = shake(job, engine().capacity(), 0, scaled(50'000, 500));
  march.stop.set(1);
  const Report report = job.wait();
  EXPECT_EQ(report.status, Status::finished);
  march.expect(march.items.read()[0]);
  std::printf("  %llu targets, %llu joins, %llu leaves, %u steps, %.1f s\n",
              static_cast<unsigned long long>(turns), static_cast<unsigned long long>(report.joins),
              static_cast<unsigned long long>(report.leaves), march.items.read()[0],
              static_cast<double>(report.run_time.count()) * 1e-9);
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  std::string why;
  if (!cohort::cuda::available(&why)) {
    std::printf("SKIPPED: %s\n", why.c_str());
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
