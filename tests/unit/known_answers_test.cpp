// Runs the paper's 11 pairs of app and input, with the paper's algorithms and with ours, in static
// launches and while groups join and leave. Compares the results with known answers. Real graphs
// are read from the folder $COHORT_DATA.
#include <gmock/gmock.h>

#include "apps/registry.hpp"
#include "apps_support.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {
namespace {

using testing::IsSupersetOf;

/// Runs the app with a fixed number of groups and with random ones. Both runs must verify and
/// return `known`.
void expect(const std::string& app, const std::string& input,
            const std::vector<std::string>& settings, const Numbers& known) {
  if (input.find(':') == std::string::npos && !find_input(input))
    GTEST_SKIP() << "no " << input << ": set COHORT_DATA to the folder that has it";
  const Ready ready = find_app(app).prepare(input, Settings{settings});
  const auto run_once = [&](const RunOptions& options) {
    cpu::Engine engine{{.capacity = 2}};
    const Outcome outcome = apps::outcome(run_app(ready, engine, options), true);
    EXPECT_EQ(outcome.verified, true) << app << " on " << input << ": " << outcome.difference;
    EXPECT_THAT(outcome.result, IsSupersetOf(known)) << app << " on " << input;
    return outcome.report;
  };
  RunOptions fixed;
  fixed.launch.resizable = false;
  (void)run_once(fixed);
  repeat_until_resized(1, [&](std::uint32_t seed) { return run_once(resized_at_random(2, seed)); });
}

constexpr const char* new_york = "USA-road-d.NY.gr";
constexpr const char* north_west = "road-NW.topology.gr";
constexpr const char* circuit = "G3_circuit.graph";

const Numbers new_york_paths{{"farthest", 1440081}, {"sum", 186686642878}, {"reached", 264346}};

// The paper's pairs.
TEST(KnownAnswers, ColorOnAGrid) {
  expect("color", "grid:1000x1000", {}, {});
  expect("color", "grid:1000x1000", {"algorithm=paper"}, {});
}
TEST(KnownAnswers, ColorOnG3Circuit) {
  expect("color", circuit, {}, {});
  expect("color", circuit, {"algorithm=paper"}, {});
}
// With priorities by id, two sweeps do everything. Short steps let groups join and leave.
TEST(KnownAnswers, MisOnAGrid) {
  expect("mis", "grid:1000x1000", {}, {{"size", 364097}});
  expect("mis", "grid:1000x1000", {"algorithm=paper"}, {{"size", 364097}});
  expect("mis", "grid:1000x1000", {"priority=id", "chunk=1024"}, {{"size", 500000}});
}
TEST(KnownAnswers, MisOnG3Circuit) {
  expect("mis", circuit, {}, {{"size", 575794}});
  expect("mis", circuit, {"algorithm=paper"}, {{"size", 575794}});
  expect("mis", circuit, {"priority=id", "chunk=1024"}, {{"size", 689390}});
}
TEST(KnownAnswers, PullSsspOnTheNorthWest) { expect("p-sssp", north_west, {}, {}); }
TEST(KnownAnswers, PaperPullSsspOnTheNorthWest) {
  expect("p-sssp", north_west, {"algorithm=paper"}, {});
}
TEST(KnownAnswers, BfsOnRmat) {
  expect("bfs", "rmat:22", {}, {});
  expect("bfs", "rmat:22", {"algorithm=paper"}, {});
}
TEST(KnownAnswers, BfsOnTheNorthWest) {
  expect("bfs", north_west, {}, {{"depth", 1959}});
  expect("bfs", north_west, {"algorithm=paper"}, {{"depth", 1959}});
}
TEST(KnownAnswers, ListSsspOnRmat) {
  expect("l-sssp", "rmat:20", {}, {});
  expect("l-sssp", "rmat:20", {"algorithm=paper"}, {});
}
TEST(KnownAnswers, ListSsspOnNewYork) {
  expect("l-sssp", new_york, {}, new_york_paths);
  expect("l-sssp", new_york, {"algorithm=paper"}, new_york_paths);
}
TEST(KnownAnswers, OctreeOfThreeMillionParticles) {
  const Numbers known{
      {"tasks", 241509}, {"depth", 8}, {"leaves", 1320820}, {"empty_leaves", 369744}};
  expect("octree", "particles:3000000", {}, known);
  expect("octree", "particles:3000000", {"pools=mutex"}, known);
}
TEST(KnownAnswers, ConnectFour) {
  const Numbers known{{"move0", 1}, {"move1", 3},   {"move2", 666}, {"move3", 4},
                      {"move4", 4}, {"move5", 666}, {"move6", 666}, {"positions", 83759}};
  expect("game", "connect4:6", {"grain=0", "pools=mutex"}, known);
  expect("game", "connect4:6", {}, known);
}

// Other known answers.
TEST(KnownAnswers, BfsOnNewYork) { expect("bfs", new_york, {}, {{"depth", 619}}); }
TEST(KnownAnswers, PullSsspOnNewYork) {
  expect("p-sssp", new_york, {}, new_york_paths);
  expect("p-sssp", new_york, {"algorithm=paper"}, new_york_paths);
}

}  // namespace
}  // namespace cohort::apps
