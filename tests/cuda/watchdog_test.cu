// CUDA calls that wait until a running job ends: what the engine reports and does about them.
// Without a device the tests are skipped visibly.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "cohort/cuda.hpp"
#include "conformance/waiting.hpp"

namespace cohort::test {

namespace {

struct Step {
  std::uint32_t step = 0;
};

/// Runs until it is cancelled. Two blocks of 1024 threads fill an SM completely.
__global__ void __launch_bounds__(1024, 2) endless(GridArg arg, std::uint32_t* steps) {
  const Grid<Step> grid{arg};
  if (!grid) return;
  for (Step state = grid.state();;) {
    if (grid.thread_rank() == 0) *steps = state.step;
    ++state.step;
    if (grid.sync(state)) return;
  }
}

__global__ void launched_before(std::uint32_t* word) { *word = 1; }

/// Messages reported by an engine.
class Reports {
 public:
  void add(const std::string& report) {
    const std::lock_guard lock{mutex_};
    all_.push_back(report);
  }
  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock{mutex_};
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

/// Plain CUDA memory, allocated before the job starts.
struct Plain {
  std::uint32_t* device = nullptr;
  std::uint32_t* pinned = nullptr;
  cudaStream_t stream = nullptr;

  Plain() {
    EXPECT_EQ(cudaMalloc(&device, sizeof *device), cudaSuccess);
    EXPECT_EQ(cudaHostAlloc(&pinned, sizeof *pinned, cudaHostAllocDefault), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    launched_before<<<1, 32>>>(device);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
};

template <class Call>
void expect_report(const std::string& name, const std::string& advice, Call call) {
  Reports reports;
  cuda::Engine engine{
      {.on_blocked_call = [&reports](const std::string& report) { reports.add(report); }}};
  const Plain plain;
  const auto steps = engine.fill<std::uint32_t>(1, 0);
  const std::uint32_t full = 2 * engine.capacity();
  const ScopedJob job =
      engine.launch(endless, {.max_groups = full, .local_size = 1024}, steps.data());
  await([&] { return groups_now(job) == full; });
  std::atomic<bool> returned{false};
  std::thread blocked{[&] {
    call(plain);
    returned = true;
  }};
  const auto until = std::chrono::steady_clock::now() + 8s;
  await([&] {
    return !reports.all().empty() || returned || std::chrono::steady_clock::now() > until;
  });
  const bool waited = !returned;
  job.cancel();
  blocked.join();
  if (!waited && reports.all().empty())
    GTEST_SKIP() << "with this driver, " << name << " does not wait for jobs";
  EXPECT_THAT(reports.all(),
              testing::ElementsAre(testing::AllOf(testing::StartsWith(name + " has waited for "),
                                                  testing::HasSubstr(advice))));
}

TEST(Watchdog, NamesCudaFree) {
  expect_report("cudaFree", "cudaFreeAsync", [](const Plain& plain) { cudaFree(plain.device); });
}

TEST(Watchdog, NamesCudaDeviceSynchronize) {
  expect_report("cudaDeviceSynchronize", "synchronise the stream",
                [](const Plain& /*plain*/) { cudaDeviceSynchronize(); });
}

TEST(Watchdog, NamesTheLegacyDefaultStream) {
  expect_report("the legacy default stream", "a lease", [](const Plain& plain) {
    launched_before<<<1, 32>>>(plain.device);
    cudaStreamSynchronize(cudaStreamLegacy);
  });
}

TEST(Watchdog, SuspendsTheJobUntilTheCallReturns) {
  Reports reports;
  cuda::Engine engine{
      {.on_blocked_call = [&reports](const std::string& report) { reports.add(report); },
       .suspend_for_blocked_calls = true}};
  const Plain plain;
  const auto steps = engine.fill<std::uint32_t>(1, 0);
  const ScopedJob job = engine.launch(endless, {.local_size = 256}, steps.data());
  await([&job] { return job.status() == Status::running; });
  std::this_thread::sleep_for(20ms);
  std::thread blocked{[&plain] { cudaFree(plain.device); }};
  blocked.join();  // the call returns without a cancel
  EXPECT_EQ(reports.all().size(), 1U);
  const std::uint32_t before = steps.read()[0];
  await([&] { return steps.read()[0] > before; });  // the job continues where it stopped
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string why;
  if (!cohort::cuda::available(&why)) {
    std::printf("SKIPPED: %s\n", why.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
