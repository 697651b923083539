// The graph searches of the apps under the explorer, in groups of several threads. A group shares
// the edges of a hub while another node of the same list may shorten the hub's distance. For nodes
// with few edges, its threads claim places in lists before they know whether they need them.
#include <gtest/gtest.h>

#include "apps/bfs/host.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/paths.hpp"
#include "cohort/explore.hpp"
#include "graph/spec.hpp"

namespace cohort::test {
namespace {

using apps::RunOptions;

/// The graph has an edge from 0 to the hub 1, and a shorter path through 2. From the hub, many
/// edges lead to 3, and as many to 4. So the threads that handle the hub's first edges learn of the
/// shorter path only one turn later. Most edges leave node 5, which is never reached, so a
/// direction-optimising search stays top-down.
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

/// All groups start.
explore::Options groups_of(std::uint32_t threads) {
  return {.schedules = 3000,
          .capacity = 4,
          .local_size = threads,
          .start_groups = 4,
          .weak_memory = true};
}

/// Explores `run(engine, options)`, whose result must pass `judge`.
template <class Run, class Judge>
void explore_search(Run run, Judge judge, const explore::Options& options = groups_of(2)) {
  RunOptions how;
  how.launch.local_size = options.local_size;
  const explore::Result result = explore::check_program(
      [&](explore::Engine& engine) -> std::string {
        const auto found = run(engine, how);
        return found.report.status == Status::finished ? judge(found).value_or("") : "";
      },
      options);
  EXPECT_TRUE(result.ok) << result;
}
void expect_levels(const Csr& graph, const apps::BfsOptions& options = {},
                   const explore::Options& explored = groups_of(2)) {
  explore_search(
      [&](auto& engine, const RunOptions& how) {
        return apps::run_bfs(engine, graph, 0, how, options);
      },
      [&](const auto& found) { return apps::check_bfs(graph, 0, found.levels); }, explored);
}
void expect_paths(const Csr& graph, const apps::ListSsspOptions& options) {
  explore_search(
      [&](auto& engine, const RunOptions& how) {
        return apps::run_l_sssp(engine, graph, 0, how, options);
      },
      [&](const auto& found) { return apps::check_paths(graph, 0, found.distances); });
}

TEST(Hubs, HaveManyEdges) { EXPECT_TRUE(apps::has_many_edges(hub())); }

TEST(Hubs, GiveShortestPaths) { expect_paths(hub(), {.delta = 100}); }

TEST(Hubs, GiveLevels) { expect_levels(hub()); }

// One group expands the hub alone; then all groups share its neighbours.
TEST(Hubs, AmongNodesOfFewEdgesGiveLevels) {
  const Csr star = load_graph("star:24");
  ASSERT_FALSE(apps::has_many_edges(star));
  expect_levels(star);
}

// Groups of one thread own words of the bitmaps. The levels in the middle are dense.
TEST(BothDirections, GiveLevels) {
  constexpr Node nodes = 130;
  Csr ring;
  for (Node node = 0; node < nodes; ++node) {
    for (const Node step : {1U, 11U, nodes - 11, nodes - 1})
      ring.targets.push_back((node + step) % nodes);
    ring.offsets.push_back(ring.targets.size());
  }
  explore::Options singles = groups_of(1);
  singles.schedules = 300;
  expect_levels(ring, {.direction = apps::BfsOptions::Direction::both}, singles);
}

/// Two squares. In each, the path to the opposite corner that is found second is the shorter one.
/// Nodes that are never reached ensure that the lists have room for every edge.
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
  EXPECT_LE(apps::max_degree(squares()), apps::most_few_edges);
  EXPECT_FALSE(apps::has_many_edges(squares()));
}

// With near nodes only, or with buckets in which nodes come nearer while they wait in piles.
TEST(FewEdges, GiveShortestPaths) {
  for (const apps::Distance delta : {100U, 2U}) {
    SCOPED_TRACE(delta);
    expect_paths(squares(), {.delta = delta, .piles = 3});
  }
}

// A node postponed beyond the window comes nearer, so that the next window is empty.
TEST(FewEdges, GiveShortestPathsBeyondAnEmptyWindow) {
  Csr graph;
  graph.offsets = {0, 3, 3, 4, 5, 5};
  graph.targets = {1, 2, 3, 1, 4};
  graph.weights = {20, 1, 60, 1, 1};
  expect_paths(graph, {.delta = 1});
}

// Runs with all groups, or with one that continues alone.
TEST(FewEdges, GiveLevels) {
  for (const std::uint32_t solo : {0U, 2U}) {
    SCOPED_TRACE(solo);
    expect_levels(squares(), {.solo = solo});
  }
}

}  // namespace
}  // namespace cohort::test
