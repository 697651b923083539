// Verifies every app on the device, with a fixed number of groups and with random changes of that
// number.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "apps/cuda/occupancy.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/p_sssp/host.hpp"
#include "cohort/cpu.hpp"
#include "cohort/cuda.hpp"

namespace cohort {
namespace {

cuda::Engine& engine() {
  static cuda::Engine the_engine;
  return the_engine;
}

struct Case {
  std::string app;
  std::string input;
  std::vector<std::string> settings = {};
  std::uint32_t seeds = 5;  ///< number of resized runs
};

/// The graphs in $COHORT_DATA, if there are any.
std::vector<std::string> data_files() {
  std::vector<std::string> result;
  const char* const folder = std::getenv("COHORT_DATA");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return result;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".gz" || ending == ".xz" || ending == ".mtx" || ending == ".gr" ||
        ending == ".graph") {
      result.push_back(entry.path().string());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const apps::AppInfo& app : apps::all()) {
    const std::string name{app.name};
    for (const std::string_view input : app.examples) result.push_back({name, std::string{input}});
    if (app.examples.data() != apps::graph_examples.data()) continue;
    if (app.options.find("chunk=") != std::string_view::npos)
      result.push_back({name, "geometric:50000", {"chunk=64"}});
    for (const std::string& file : data_files()) result.push_back({name, file, {}, 1});
  }
  result.push_back({"octree", "particles:200000", {"chunk=4096"}});
  result.push_back({"octree", "particles:200000", {"kill=any"}});
  result.push_back({"octree", "particles:200000", {"kill=any", "chunk=4096"}});
  result.push_back({"game", "connect4:7", {"kill=any"}});
  result.push_back({"decode", "llama:tiny", {"batch=8", "requests=20", "stop=7", "context=500"}});
  result.push_back({"decode", "llama:tiny", {"batch=3", "context=0", "chunk=5"}});
  result.push_back({"decode", "llama:100m", {"tokens=8", "batch=2", "context=3000"}, 2});
  return result;
}

apps::Outcome run(const Case& what, bool fixed, std::uint32_t seed,
                  std::optional<std::uint32_t> local_size = 256) {
  const apps::Ready app =
      apps::find_app(what.app).prepare(what.input, apps::Settings{what.settings});
  apps::RunOptions options;
  // One group per SM, or as many as suit the app.
  const std::uint32_t sms = engine().capacity();
  const std::uint32_t groups =
      seed % 2 == 0 ? sms
                    : sms * apps::groups_on_sm(app.threads_per_sm, local_size.value_or(256), sms);
  options.launch.max_groups = groups;
  options.launch.local_size = local_size;
  options.launch.resizable = !fixed;
  if (!fixed) {
    options.drive = [seed, groups](const Job& job) {
      std::mt19937 random{seed};
      for (;;) {
        job.set_target(1 + static_cast<std::uint32_t>(random() % groups));
        if (auto report = job.wait_for(std::chrono::microseconds{random() % 300})) return *report;
      }
    };
  }
  return apps::outcome(apps::run_app(app, engine(), options), true);
}

class CudaApps : public testing::TestWithParam<Case> {};

TEST_P(CudaApps, AreRight) {
  std::string why;
  if (!cuda::available(&why)) GTEST_SKIP() << why;
  const Case& what = GetParam();
  const auto expect_right = [&](const apps::Outcome& outcome, const std::string& how) {
    EXPECT_EQ(outcome.report.status, Status::finished) << how;
    EXPECT_TRUE(outcome.verified.value_or(false)) << how << ": " << outcome.difference;
  };
  const apps::Outcome still = run(what, true, 0);
  expect_right(still, "static");
  std::uint64_t events = 0;
  double milliseconds = 0;
  for (std::uint32_t seed = 1; seed <= what.seeds; ++seed) {
    const apps::Outcome moving = run(what, false, seed);
    expect_right(moving, "resized, seed " + std::to_string(seed));
    events += moving.report.joins + moving.report.leaves;
    milliseconds += static_cast<double>(moving.report.run_time.count()) / 1e6;
  }
  std::printf("  %s on %s: static %.2f ms; resized %.2f ms, %.0f joins and leaves\n",
              what.app.c_str(), what.input.c_str(),
              static_cast<double>(still.report.run_time.count()) / 1e6, milliseconds / what.seeds,
              static_cast<double>(events) / what.seeds);
}

TEST(CudaGroups, OfOneThreadAndOfTheDefaultSizeAreRightForApps) {
  std::string why;
  if (!cuda::available(&why)) GTEST_SKIP() << why;
  for (const Case& what :
       {Case{"bfs", "rmat:14"}, Case{"bfs", "road:100000"}, Case{"l-sssp", "rmat:14"},
        Case{"l-sssp", "road:100000"}, Case{"game", "connect4:7"}}) {
    for (const auto local_size : {std::optional{1U}, std::optional<std::uint32_t>{}}) {
      const apps::Outcome outcome = run(what, false, 1, local_size);
      EXPECT_TRUE(outcome.verified.value_or(false))
          << what.app << " on " << what.input << ": " << outcome.difference;
    }
  }
}

// The inputs above have weights and path lengths of 32 bits.
TEST(CudaPaths, MayBeLongOrWithoutWeights) {
  std::string why;
  if (!cuda::available(&why)) GTEST_SKIP() << why;
  Csr chain;
  for (const Node next : {1U, 2U, 3U, 4U}) {
    chain.targets.push_back(next);
    chain.offsets.push_back(next);
  }
  chain.offsets.push_back(4);
  const apps::RunOptions options{.launch = {.max_groups = 3, .local_size = 64}};
  const auto distances = [&] {
    const auto found = apps::run_p_sssp(engine(), chain, 0, options).distances;
    EXPECT_EQ(found, apps::run_l_sssp(engine(), chain, 0, options).distances);
    return found;
  };
  EXPECT_THAT(distances(), testing::ElementsAre(0, 1, 2, 3, 4));
  chain.weights.assign(4, ~Weight{0});
  const apps::Distance most = ~Weight{0};
  EXPECT_THAT(distances(), testing::ElementsAre(0, most, 2 * most, 3 * most, 4 * most));
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.app + "_" + info.param.input;
  for (const std::string& each : info.param.settings) name += "_" + each;
  for (char& each : name) {
    if (std::isalnum(static_cast<unsigned char>(each)) == 0) each = '_';
  }
  return name;
}

TEST(CudaMove, ABfsMovesToTheGpuAndBack) {
  std::string why;
  if (!cuda::available(&why)) GTEST_SKIP() << why;
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / ("cohort-bfs-" + std::to_string(::getpid()));
  cpu::Engine host{{.capacity = 2}};
  const apps::Ready bfs = apps::find_app("bfs").prepare("road:1000000", {});
  const auto options = [&](bool to_the_end) {
    apps::RunOptions result;
    result.movable = true;
    if (fs::exists(file)) result.restore = file;
    if (to_the_end) return result;
    result.drive = [file](const Job& job) {
      do {
        if (auto report = job.wait_for(std::chrono::milliseconds{1})) return *report;
      } while (job.report().sizes.empty());
      if (job.suspend() == Status::suspended) job.checkpoint(file);
      return job.report();
    };
    return result;
  };
  const auto suspended = [&](auto& on) {
    Status status{};
    do {  // repeats if the search ended before the suspend
      status = apps::run_app(bfs, on, options(false)).report.status;
    } while (status == Status::finished);
    return status;
  };
  ASSERT_EQ(suspended(host), Status::suspended);
  ASSERT_EQ(suspended(engine()), Status::suspended);
  const apps::Outcome outcome = apps::outcome(apps::run_app(bfs, host, options(true)), true);
  fs::remove(file);
  EXPECT_EQ(outcome.report.status, Status::finished);
  EXPECT_TRUE(outcome.verified.value_or(false)) << outcome.difference;
}

INSTANTIATE_TEST_SUITE_P(, CudaApps, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace cohort
