// Every app on the device, verified: with a fixed number of groups, and while it changes at random.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "apps/cuda/registry.hpp"

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
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const std::string app : {"bfs", "color", "mis", "p-sssp", "l-sssp", "cc"}) {
    for (const std::string input : {"grid:300x300", "rmat:14", "road:100000", "star:5000"}) {
      result.push_back({app, input});
    }
    result.push_back({app, "geometric:50000", {"chunk=64"}});
    if (const char* const folder = std::getenv("COHORT_DATA")) {  // NOLINT(concurrency-mt-unsafe)
      for (const std::string file : {"G3_circuit", "ecology1", "hugetric-00000", "USA-road-d.NY"}) {
        for (const std::string ending : {".mtx", ".mtx.gz", ".graph", ".gr.gz"}) {
          const std::string path = std::string{folder} + "/" + file + ending;
          if (std::ifstream{path}) result.push_back({app, path});
        }
      }
    }
  }
  for (const std::string kill : {"kill=highest", "kill=any"}) {
    result.push_back({"octree", "particles:200000", {kill}});
    result.push_back({"game", "connect4:7", {kill}});
  }
  return result;
}

apps::Outcome run(const Case& what, bool fixed, std::uint32_t seed) {
  apps::Request request{.input = what.input,
                        .settings = apps::Settings{what.settings},
                        .options = {},
                        .verify = true};
  request.options.launch.max_groups = engine().capacity();
  request.options.launch.local_size = 256;
  request.options.launch.resizable = !fixed;
  if (!fixed) {
    request.options.drive = [seed](const Job& job) {
      std::mt19937 random{seed};
      for (;;) {
        job.set_target(1 + static_cast<std::uint32_t>(random() % engine().capacity()));
        if (auto report = job.wait_for(std::chrono::microseconds{random() % 300})) return *report;
      }
    };
  }
  return apps::run_on_cuda(what.app, engine(), request);
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
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    const apps::Outcome moving = run(what, false, seed);
    expect_right(moving, "resized, seed " + std::to_string(seed));
    events += moving.report.joins + moving.report.leaves;
    milliseconds += static_cast<double>(moving.report.run_time.count()) / 5e6;
  }
  std::printf("  %s on %s: static %.2f ms; resized %.2f ms, %llu joins and leaves in 5 runs\n",
              what.app.c_str(), what.input.c_str(),
              static_cast<double>(still.report.run_time.count()) / 1e6, milliseconds,
              static_cast<unsigned long long>(events));
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.app + "_" + info.param.input;
  for (const std::string& each : info.param.settings) name += "_" + each;
  for (char& each : name) {
    if (std::isalnum(static_cast<unsigned char>(each)) == 0) each = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(, CudaApps, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace cohort
