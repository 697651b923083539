// Searches under the explorer, in groups of several threads. These share the edges of a hub, while
// another node of the same list may bring it a shorter distance; and of nodes with few edges they
// claim places in lists before they know what for.
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

/// Two ways from 0 to 3 of which the second to be found is shorter, and so it is with the next
/// square. Other nodes, which nobody reaches, so that lists have room for every edge.
const Csr& squares() {
  static const Csr graph = [] {
    constexpr std::size_t others = 60;
    Csr result;
    result.offsets = {0, 2, 4, 6, 10, 12, 14, 16};
    result.targets = {1, 2, 0, 3, 0, 3, 1, 2, 4, 5, 3, 6, 3, 6, 4, 5};
    result.weights = {1, 3, 1, 9, 3, 2, 9, 2, 1, 3, 1, 9, 3, 2, 9, 2};
    result.offsets.insert(result.offsets.end(), others, result.targets.size());
    return result;
  }();
  return graph;
}

TEST(FewEdges, AreThoseOfTheSquares) {
  EXPECT_LE(apps::most_edges(squares()), apps::most_few_edges);
  EXPECT_FALSE(apps::has_many_edges(squares()));
}

// Near nodes only, or buckets whose nodes come nearer while they wait in piles.
TEST(FewEdges, GiveShortestPaths) {
  for (const apps::Distance delta : {100U, 2U}) {
    const explore::Result result =
        explored([delta](auto& engine, const RunOptions& how) -> std::optional<std::string> {
          const auto found =
              apps::run_l_sssp(engine, squares(), 0, how, {.delta = delta, .piles = 3});
          if (found.report.status != Status::finished) return std::nullopt;
          return apps::check_paths(squares(), 0, found.distances);
        });
    EXPECT_TRUE(result.ok) << "delta " << delta << ": " << result;
  }
}

// A node that is put off beyond the window comes nearer, so that the next window is empty.
TEST(FewEdges, GiveShortestPathsBeyondAnEmptyWindow) {
  Csr graph;
  graph.offsets = {0, 3, 3, 4, 5, 5};
  graph.targets = {1, 2, 3, 1, 4};
  graph.weights = {20, 1, 60, 1, 1};
  const explore::Result result =
      explored([&graph](auto& engine, const RunOptions& how) -> std::optional<std::string> {
        const auto found = apps::run_l_sssp(engine, graph, 0, how, {.delta = 1});
        if (found.report.status != Status::finished) return std::nullopt;
        return apps::check_paths(graph, 0, found.distances);
      });
  EXPECT_TRUE(result.ok) << result;
}

// By all groups, or by one that goes on alone.
TEST(FewEdges, GiveLevels) {
  for (const std::uint32_t solo : {0U, 2U}) {
    const explore::Result result =
        explored([solo](auto& engine, const RunOptions& how) -> std::optional<std::string> {
          const auto found = apps::run_bfs(engine, squares(), 0, how, {.solo = solo});
          if (found.report.status != Status::finished) return std::nullopt;
          return apps::check_bfs(squares(), 0, found.levels);
        });
    EXPECT_TRUE(result.ok) << "solo " << solo << ": " << result;
  }
}

}  // namespace
}  // namespace cohort::test
