// Searches of a graph with a hub under the explorer, in groups of several threads: these share the
// hub's edges, while another node of the same list may bring it a shorter distance.
#include <gtest/gtest.h>

#include "apps/bfs/host.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/paths.hpp"
#include "cohort/explore.hpp"
#include "graph/spec.hpp"

namespace cohort::test {
namespace {

using apps::RunOptions;

/// From 0 to the hub 1, and shorter by way of 2; from there many edges to 3, then as many to 4. So
/// whoever has the hub's first edges is told of the shorter way by nobody but the next turn. Most
/// edges are those of 5, which nobody reaches: a search that knows both directions goes down.
const Csr& hub() {
  static const Csr graph = [] {
    constexpr std::size_t many = 20;
    constexpr std::size_t others = 1000;
    constexpr std::size_t reached = 3 + 2 * many;
    Csr result;
    result.offsets = {0, 2, 2 + 2 * many, reached, reached, reached, reached + others};
    result.targets = {1, 2};
    result.targets.insert(result.targets.end(), many, 3);
    result.targets.insert(result.targets.end(), many, 4);
    result.targets.push_back(1);
    result.targets.insert(result.targets.end(), others, 5);
    result.weights.assign(result.targets.size(), 1);
    result.weights[0] = 4;
    return result;
  }();
  return graph;
}

/// What is wrong with `run(engine, options)` in one of the schedules.
template <class Run>
explore::Result explored(Run run) {
  const explore::Options options{
      .schedules = 3000, .capacity = 4, .local_size = 2, .start_groups = 4, .weak_memory = true};
  RunOptions how;
  how.launch.local_size = options.local_size;
  return explore::check_program(
      [&](explore::Engine& engine) -> std::string { return run(engine, how).value_or(""); },
      options);
}

TEST(Hubs, HaveManyEdges) { EXPECT_TRUE(apps::has_many_edges(hub())); }

TEST(Hubs, GiveShortestPaths) {
  const explore::Result result =
      explored([](auto& engine, const RunOptions& how) -> std::optional<std::string> {
        const auto found = apps::run_l_sssp(engine, hub(), 0, how, {.delta = 100});
        if (found.report.status != Status::finished) return std::nullopt;
        return apps::check_paths(hub(), 0, found.distances);
      });
  EXPECT_TRUE(result.ok) << result;
}

// One group goes on alone with the hub, then all share its neighbours.
TEST(Hubs, AmongNodesOfFewEdgesGiveLevels) {
  const Csr star = load_graph("star:24");
  ASSERT_FALSE(apps::has_many_edges(star));
  const explore::Result result =
      explored([&star](auto& engine, const RunOptions& how) -> std::optional<std::string> {
        const auto found = apps::run_bfs(engine, star, 0, how);
        if (found.report.status != Status::finished) return std::nullopt;
        return apps::check_bfs(star, 0, found.levels);
      });
  EXPECT_TRUE(result.ok) << result;
}

TEST(Hubs, GiveLevels) {
  const explore::Result result =
      explored([](auto& engine, const RunOptions& how) -> std::optional<std::string> {
        const auto found = apps::run_bfs(engine, hub(), 0, how);
        if (found.report.status != Status::finished) return std::nullopt;
        return apps::check_bfs(hub(), 0, found.levels);
      });
  EXPECT_TRUE(result.ok) << result;
}

}  // namespace
}  // namespace cohort::test
