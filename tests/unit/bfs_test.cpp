// Tests of bfs: behaviour that depends on the degrees of nodes, bad sources, and a verifier that
// notices mistakes. apps_test has the tests that all graph apps share, tool_test the runs with
// every resizing barrier.
#include <gmock/gmock.h>

#include "apps/bfs/host.hpp"
#include "cohort/cpu.hpp"
#include "graph/generators.hpp"

namespace cohort::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Bfs, GivesTheDistanceFromTheSource) {
  cpu::Engine engine{{.capacity = 2}};
  const BfsResult result = run_bfs(engine, grid(3, 2), 1);
  EXPECT_EQ(result.report.status, Status::finished);
  EXPECT_THAT(result.levels, ElementsAre(1, 0, 1, 2, 1, 2));
}

TEST(Bfs, LeavesWhatHasNoPathUnreached) {
  cpu::Engine engine{{.capacity = 2}};
  const Csr two_islands{.offsets = {0, 1, 2, 2}, .targets = {1, 0}, .weights = {}};
  EXPECT_THAT(run_bfs(engine, two_islands, 0).levels, ElementsAre(0, 1, Levels::unreached));
  EXPECT_THAT(run_bfs(engine, two_islands, 2).levels,
              ElementsAre(Levels::unreached, Levels::unreached, 0));
}

TEST(Bfs, RefusesASourceThatIsNoNode) {
  cpu::Engine engine{{.capacity = 1}};
  EXPECT_THROW((void)run_bfs(engine, grid(2, 2), 4), Error);
  EXPECT_THROW((void)run_bfs(engine, Csr{}, 0), Error);
  EXPECT_EQ(max_degree(Csr{}), 0U);
}

TEST(Bfs, RefusesTooManyGroupsBeforeItAllocatesForThem) {
  cpu::Engine engine{{.capacity = 1}};
  RunOptions options;
  // Too many groups; the lists for them would be an error of their own.
  options.launch.max_groups = ~0U;
  try {
    (void)run_bfs(engine, grid(2, 2), 0, options);
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_options) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("1 to 4096"));
  }
}

TEST(FewEdges, TellWhereANodesEdgesAre) {
  const Csr graph = star(most_few_edges + 1);
  const FewEdges hub{graph.view(), 0};
  EXPECT_EQ(hub.begin(), 0U);
  EXPECT_EQ(hub.end(), most_few_edges);
  const FewEdges last{FewEdges{graph.view(), most_few_edges}.word()};
  EXPECT_EQ(last.begin(), graph.num_edges() - 1);
  EXPECT_EQ(last.end(), graph.num_edges());
  EXPECT_EQ(max_degree(graph), most_few_edges);
}

TEST(FewEdges, AreToldUpToTheLastThatFit) {
  constexpr std::uint64_t end = FewEdges::most_in_graph;
  const std::uint64_t offsets[] = {end - most_few_edges, end, end};
  const CsrView graph{offsets, nullptr, nullptr, 2};
  const FewEdges last{graph, 0};
  EXPECT_EQ(last.begin(), end - most_few_edges);
  EXPECT_EQ(last.end(), end);
  EXPECT_NE(last.word(), empty_place);
  const FewEdges none{graph, 1};
  EXPECT_EQ(none.begin(), none.end());
}

TEST(Bfs, IsCompiledForTheEdgesThatNodesHave) {
  const auto degrees = [](const Csr& graph, std::uint32_t local_size, bool movable) {
    return bfs::App{{known_graph(graph)}, 0}.degrees<cpu::Engine>(
        {.launch = {.local_size = local_size}, .movable = movable});
  };
  EXPECT_EQ(degrees(star(most_few_edges + 1), 8, false), Degrees::few);
  EXPECT_EQ(degrees(star(most_few_edges + 2), 8, false), Degrees::some);
  EXPECT_EQ(degrees(grid(9, 9), 1, false), Degrees::some);
  // A job that continues elsewhere finds the same lists.
  EXPECT_EQ(degrees(grid(9, 9), 1, true), degrees(grid(9, 9), 8, true));
}

TEST(Bfs, IsRightWithFewEdgesAndWithOneMore) {
  cpu::Engine engine{{.capacity = 3}};
  for (const Node nodes : {most_few_edges + 1, most_few_edges + 2}) {
    Csr graph = star(nodes);
    // Adds unreachable nodes, so that the lists have room for every edge.
    graph.offsets.insert(graph.offsets.end(), 1000, graph.num_edges());
    for (const Node source : {Node{0}, Node{5}}) {
      const BfsResult result =
          run_bfs(engine, graph, source, {.launch = {.local_size = 8}}, {.solo = 0});
      EXPECT_EQ(check_bfs(graph, source, result.levels), std::nullopt)
          << nodes << " nodes from " << source;
    }
  }
}

// Levels searched from the unreached nodes use words of 64 nodes, and skip nodes without incoming
// edges. A movable job does not keep track of unreached nodes.
TEST(Bfs, IsRightInBothDirectionsForEveryNumberOfNodes) {
  cpu::Engine engine{{.capacity = 3}};
  for (const Node nodes : {63U, 64U, 65U, 20'001U}) {
    Csr graph;
    for (Node node = 0; node < nodes; ++node) {
      const Node edges = node % 3 == 0 ? 24 : 2;
      for (Node i = 1; i <= edges; ++i)
        graph.targets.push_back((node * 31U + i * i * 7U) % nodes / 2 * 2);  // only even nodes
      graph.offsets.push_back(graph.targets.size());
    }
    for (const bool movable : {false, true}) {
      for (const std::uint32_t local_size : {1U, 5U}) {
        for (const std::uint64_t chunk : {std::uint64_t{0}, std::uint64_t{100}}) {
          const BfsResult result =
              run_bfs(engine, graph, 3, {.launch = {.local_size = local_size}, .movable = movable},
                      {.direction = BfsOptions::Direction::both, .chunk = chunk});
          EXPECT_EQ(check_bfs(graph, 3, result.levels), std::nullopt)
              << nodes << " nodes, groups of " << local_size << ", chunk " << chunk
              << (movable ? ", movable" : "");
        }
      }
    }
  }
}

TEST(Bfs, LeavesItsGraphForTheNextRun) {
  cpu::Engine engine{{.capacity = 2}};
  RunOptions options;
  const GraphInput graph = known_graph(grid(40, 30));
  const GraphMemory* const resident = &graph->in_memory(engine);
  for (const Node source : {0U, 700U}) {
    const bfs::App app{{graph}, source};
    EXPECT_EQ(app.difference(solve(engine, app, options)), std::nullopt);
    EXPECT_EQ(&graph->in_memory(engine), resident);
  }
  options.results = false;
  const BfsResult result = solve(engine, bfs::App{{graph}, 0}, options);
  EXPECT_EQ(result.report.status, Status::finished);
  EXPECT_THAT(result.levels, IsEmpty());
}

TEST(Bfs, IsEndedBeforeADriversExceptionGoesOn) {
  const Csr graph = grid(1, 1'000'000);
  cpu::Engine engine{{.capacity = 2}};
  RunOptions options;
  options.launch.local_size = 64;  // makes the run slow: it must not end before it is cancelled
  Job job{nullptr};
  options.drive = [&job](const Job& launched) -> Report {
    job = launched;
    throw std::logic_error{"the driver gave up"};
  };
  EXPECT_THROW((void)run_bfs(engine, graph, 0, options), std::logic_error);
  EXPECT_EQ(job.status(), Status::cancelled);
}

TEST(CheckBfs, NamesTheFirstNodeThatIsWrong) {
  const Csr graph = grid(3, 1);
  EXPECT_EQ(check_bfs(graph, 0, {0, 1, 2}), std::nullopt);
  EXPECT_EQ(check_bfs(graph, 0, {0, 1, 3}), "node 2 has level 3 instead of 2");
  EXPECT_EQ(check_bfs(graph, 0, {0, ~0U, 2}), "node 1 has level none instead of 1");
  EXPECT_THAT(check_bfs(graph, 0, {0, 1}).value_or(""), HasSubstr("3 nodes"));
}

}  // namespace
}  // namespace cohort::apps
