// Checkpoints of the apps: each app continues where another process, or groups of another size,
// left it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "apps/registry.hpp"
#include "cohort/cpu.hpp"
#include "resize_hold.hpp"

namespace cohort::apps {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Case {
  std::string app;
  std::string input;
  std::vector<std::string> settings = {};
};

std::string index_of(const testing::TestParamInfo<Case>& each) {
  return std::to_string(each.index);
}

class Checkpoints : public testing::TestWithParam<Case> {
 protected:
  Checkpoints()
      : file_(std::filesystem::temp_directory_path() /
              ("cohort-checkpoints-" + std::to_string(::getpid()))),
        app_(find_app(GetParam().app).prepare(GetParam().input, Settings{GetParam().settings})) {}
  ~Checkpoints() override { std::filesystem::remove(file_); }

  /// Runs the app up to this number of resizing points, counted over all groups, and writes it to
  /// the file. Returns false if it has finished before.
  bool suspend_at(std::uint32_t point, std::uint32_t local_size) {
    test::ResizeHold hold{point, false};
    RunOptions options;
    options.movable = true;
    options.launch.max_groups = 3;
    options.launch.local_size = local_size;
    options.launch.tracer = &hold;
    options.drive = [&](const Job& job) {
      while (!hold.reached()) {
        if (auto report = job.wait_for(std::chrono::microseconds{100})) return *report;
      }
      if (job.suspend() == Status::suspended) job.checkpoint(file_);
      return job.report();
    };
    return run_app(app_, engine_, options).report.status == Status::suspended;
  }
  AppRun go_on(std::uint32_t groups, std::uint32_t local_size) {
    RunOptions options;
    options.movable = true;
    options.restore = file_;
    options.launch.max_groups = groups;
    options.launch.local_size = local_size;
    cpu::Engine other{{.capacity = 2}};
    return run_app(app_, other, options);
  }

  std::filesystem::path file_;
  cpu::Engine engine_{{.capacity = 3}};
  Ready app_;
};

TEST_P(Checkpoints, GoOnInGroupsOfAnotherSize) {
  constexpr std::uint32_t sizes[][2] = {{1, 1}, {1, 8}, {8, 1}};
  std::uint32_t moved = 0;
  for (std::uint32_t point = 1; point < 1000; point *= 5) {
    for (const auto& [from, to] : sizes) {
      if (!suspend_at(point, from)) continue;
      ++moved;
      EXPECT_EQ(go_on(3, to).difference(), std::nullopt)
          << "from " << from << " threads to " << to << ", at resizing point " << point;
    }
  }
  EXPECT_GT(moved, 2U);
}

INSTANTIATE_TEST_SUITE_P(, Checkpoints,
                         testing::Values(Case{"bfs", "grid:60x60"}, Case{"bfs", "rmat:10"},
                                         Case{"color", "grid:60x60"}, Case{"color", "rmat:10"},
                                         Case{"mis", "grid:60x60"}, Case{"mis", "rmat:10"},
                                         Case{"p-sssp", "grid:60x60"}, Case{"p-sssp", "rmat:10"},
                                         Case{"l-sssp", "grid:60x60"}, Case{"l-sssp", "rmat:10"},
                                         Case{"cc", "grid:60x60", {"chunk=16"}},
                                         Case{"cc", "rmat:10", {"chunk=16"}},
                                         Case{"octree", "particles:5000"},
                                         Case{"octree", "particles:5000", {"pools=mutex"}},
                                         Case{"octree", "particles:5000", {"chunk=256"}},
                                         Case{"game", "connect4:5"}, Case{"pagerank", "rmat:10"}),
                         &index_of);

using CheckpointsOfPools = Checkpoints;

// There is one pool per group, so a checkpoint does not fit a job with another number of groups.
TEST_P(CheckpointsOfPools, GoOnOnlyInAsManyGroups) {
  ASSERT_TRUE(suspend_at(1, 1));
  EXPECT_THAT([&] { go_on(2, 1); }, ThrowsMessage<Error>(HasSubstr("pools of 3 groups")));
}

INSTANTIATE_TEST_SUITE_P(, CheckpointsOfPools,
                         testing::Values(Case{"octree", "particles:5000"},
                                         Case{"game", "connect4:6"}),
                         &index_of);

using CheckpointsOfThePaper = Checkpoints;

TEST_P(CheckpointsOfThePaper, AreRefusedInOneLine) {
  RunOptions options;
  options.movable = true;
  EXPECT_THAT([&] { run_app(app_, engine_, options); },
              ThrowsMessage<Error>(HasSubstr("the paper's algorithm has no checkpoints")));
  options.launch.resizable = false;
  EXPECT_THAT([&] { run_app(app_, engine_, options); },
              ThrowsMessage<Error>(HasSubstr("a static launch has no checkpoints")));
}

INSTANTIATE_TEST_SUITE_P(, CheckpointsOfThePaper,
                         testing::Values(Case{"bfs", "grid:9x9", {"algorithm=paper"}},
                                         Case{"color", "grid:9x9", {"algorithm=paper"}},
                                         Case{"mis", "grid:9x9", {"algorithm=paper"}},
                                         Case{"p-sssp", "grid:9x9", {"algorithm=paper"}},
                                         Case{"l-sssp", "grid:9x9", {"algorithm=paper"}}),
                         &index_of);

}  // namespace
}  // namespace cohort::apps
