// Graphs: the output of the generators, derived graphs, and which input specs are accepted or
// refused.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>

#include "cohort/error.hpp"
#include "graph/build.hpp"
#include "graph/generators.hpp"
#include "graph/random.hpp"
#include "graph/spec.hpp"

namespace cohort {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;

std::vector<Node> neighbours(const Csr& graph, Node node) {
  const Neighbours range = graph.view().neighbours(node);
  return {range.begin(), range.end()};
}

std::string refusal(const std::string& spec) {
  try {
    (void)load_graph(spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_options);
    return error.what();
  }
  return "taken";
}

bool same(const Csr& one, const Csr& other) {
  return one.offsets == other.offsets && one.targets == other.targets &&
         one.weights == other.weights;
}

/// A simple search from node 0: the number of nodes that it reaches, and their distances.
struct Reach {
  std::size_t nodes = 0;
  std::uint32_t depth = 0;
};
Reach reach(const Csr& graph) {
  std::vector<std::uint32_t> level(graph.num_nodes(), ~0U);
  std::queue<Node> open{{0}};
  level[0] = 0;
  Reach result;
  for (; !open.empty(); open.pop()) {
    ++result.nodes;
    result.depth = level[open.front()];
    for (const Node next : graph.view().neighbours(open.front())) {
      if (level[next] != ~0U) continue;
      level[next] = level[open.front()] + 1;
      open.push(next);
    }
  }
  return result;
}

/// Checks what every generator guarantees, without using code of the generators.
void expect_undirected_and_simple(const Csr& graph) {
  EXPECT_EQ(broken(graph), std::nullopt);
  std::set<std::tuple<Node, Node, Weight>> edges;
  std::set<std::pair<Node, Node>> pairs;
  const CsrView view = graph.view();
  for (Node node = 0; node < view.num_nodes(); ++node) {
    for (std::uint64_t edge = view.first_edge(node); edge < view.first_edge(node + 1); ++edge) {
      EXPECT_NE(view.target(edge), node) << "a self loop";
      EXPECT_TRUE(pairs.emplace(node, view.target(edge)).second) << "a duplicate";
      edges.emplace(node, view.target(edge), view.weight(edge));
    }
  }
  for (const auto& [from, to, weight] : edges)
    EXPECT_TRUE(edges.contains({to, from, weight})) << to << " to " << from << " is missing";
}

// ---- generators

TEST(Grid, ConnectsEachNodeWithThoseBesideIt) {
  const Csr graph = grid(3, 2);  // 0 1 2
                                 // 3 4 5
  EXPECT_EQ(graph.num_nodes(), 6U);
  EXPECT_EQ(graph.num_edges(), 14U);
  EXPECT_EQ(graph.view().num_nodes(), 6U);
  EXPECT_EQ(graph.view().num_edges(), 14U);
  EXPECT_THAT(neighbours(graph, 0), ElementsAre(1, 3));
  EXPECT_THAT(neighbours(graph, 1), ElementsAre(0, 2, 4));
  EXPECT_THAT(neighbours(graph, 5), ElementsAre(2, 4));
}

TEST(Grid, OfOneNodeHasNoEdges) {
  const Csr graph = grid(1, 1);
  EXPECT_EQ(graph.num_nodes(), 1U);
  EXPECT_EQ(graph.num_edges(), 0U);
}

TEST(Generators, MakeUndirectedGraphsWithoutLoopsOrDuplicates) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> all = {
      {"grid", {"7x5"}},
      {"rmat", {"8", "0", "1", "6,factor=200", "6,a=1,b=0,c=0", "7,a=0.7,b=0.1,c=0.1"}},
      {"power", {"1", "2", "300", "200,exponent=2.1,factor=3", "9,exponent=4"}},
      {"road", {"500", "1", "2", "3", "7"}},
      {"geometric", {"300", "1", "2,degree=5", "50,degree=3000"}},
      {"star", {"1", "9", "9,tail=1", "30,tail=4", "3,tail=50"}},
      {"path", {"1", "9"}},
      {"complete", {"1", "9"}},
      {"empty", {"9"}}};
  for (const auto& [kind, examples] : all) {
    for (const std::string& arguments : examples) {
      SCOPED_TRACE(kind + ":" + arguments);
      expect_undirected_and_simple(load_graph(kind + ":" + arguments));
    }
  }
}

TEST(Generators, MakeAsManyNodesAsAsked) {
  for (const char* kind :
       {"road:", "geometric:", "power:", "star:", "path:", "complete:", "empty:"}) {
    for (const Node nodes : {0U, 1U, 2U, 3U, 50U})
      EXPECT_EQ(load_graph(kind + std::to_string(nodes)).num_nodes(), nodes) << kind;
  }
}

TEST(Generators, MakeTheSameGraphFromTheSameSeedAndAnotherFromAnother) {
  for (const std::string spec : {"rmat:9", "road:2000", "geometric:2000", "power:2000"}) {
    EXPECT_TRUE(same(load_graph(spec), load_graph(spec + ",seed=1"))) << spec;
    EXPECT_FALSE(same(load_graph(spec), load_graph(spec + ",seed=2"))) << spec;
  }
}

/// A hash of the whole graph.
std::uint64_t fingerprint(const Csr& graph) {
  std::uint64_t hash = graph.num_nodes();
  for (const std::uint64_t offset : graph.offsets) hash = splitmix64(hash ^ offset);
  for (const Node target : graph.targets) hash = splitmix64(hash ^ target);
  for (const Weight weight : graph.weights) hash = splitmix64(hash ^ weight);
  return hash;
}

TEST(Generators, MakeTheSameGraphsForEver) {
  EXPECT_EQ(fingerprint(rmat(10)), 10512484649892334798U);
  EXPECT_EQ(fingerprint(road(1000)), 4738603523706624163U);
  EXPECT_EQ(fingerprint(geometric(1000)), 1045117572159244568U);
}

TEST(Rmat, HasHubsAndAlmostAllEdgesThatWereDrawn) {
  const Csr graph = rmat(12);
  EXPECT_EQ(graph.num_nodes(), 4096U);
  const std::uint64_t drawn = 2ULL * 16 * 4096;
  EXPECT_THAT(graph.num_edges(), AllOf(Gt(drawn / 2), Lt(drawn)));
  EXPECT_GT(graph.view().degree(hub(graph)), 20 * graph.num_edges() / graph.num_nodes());
}

TEST(Rmat, HasLargerHubsWithALargerFirstShare) {
  // Largest degree, as a fraction of the drawn edges.
  const auto most = [](const RmatShares& shares) {
    std::vector<std::size_t> degrees(1U << 12U);
    for (const Edge& edge : rmat_edges(12, 1, 0, 16U << 12U, shares)) ++degrees[edge.from];
    return *std::max_element(degrees.begin(), degrees.end());
  };
  EXPECT_GT(2 * most({}), 3 * most({25, 25, 25})) << "at random";
  EXPECT_GT(2 * most({70, 10, 10}), 3 * most({}));
  EXPECT_TRUE(same(load_graph("rmat:9,a=0.57,b=0.19,c=0.19"), rmat(9)));
}

// In a graph of this kind, 4 times as many nodes have more than d edges as have more than d times
// 4^(1 / (exponent - 1)) edges.
TEST(PowerLaw, HasTheExponentThatWasAskedFor) {
  for (const std::uint32_t exponent : {220U, 250U, 300U}) {
    const Csr graph = power_law(200'000, exponent, 4);
    std::vector<std::uint64_t> degrees;
    for (Node node = 0; node < graph.num_nodes(); ++node)
      degrees.push_back(graph.view().degree(node));
    std::sort(degrees.rbegin(), degrees.rend());
    // The slope of the tail, between the 40th largest degree and the 4000th.
    const double slope = std::log(100.0) / std::log(static_cast<double>(degrees[40]) /
                                                    static_cast<double>(degrees[4000]));
    EXPECT_NEAR(1 + slope, exponent / 100.0, 0.3);
  }
}

TEST(Rmat, NumbersItsNodesAtRandom) {
  // Before the renumbering, node 0 is the hub for every seed.
  std::set<Node> hubs;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) hubs.insert(hub(rmat(10, seed)));
  EXPECT_GT(hubs.size(), 2U);
}

TEST(Road, IsOnePartWithALargeDiameterAndFewEdges) {
  const Csr graph = road(10'000);
  const Reach found = reach(graph);
  EXPECT_EQ(found.nodes, 10'000U);
  EXPECT_THAT(found.depth, AllOf(Gt(150U), Lt(1000U)));
  const double degree = static_cast<double>(graph.num_edges()) / graph.num_nodes();
  EXPECT_THAT(degree, AllOf(Gt(2.2), Lt(2.8)));
  const auto [least, most] = std::minmax_element(graph.weights.begin(), graph.weights.end());
  EXPECT_GT(*least, 0U);
  EXPECT_LT(*most, 2000U);
}

TEST(Geometric, HasAboutTheDegreeThatWasAskedFor) {
  for (const std::uint32_t degree : {4U, 8U, 30U}) {
    const Csr graph = geometric(20'000, degree);
    const double average = static_cast<double>(graph.num_edges()) / graph.num_nodes();
    EXPECT_NEAR(average, degree, 0.08 * degree);
    const auto [least, most] = std::minmax_element(graph.weights.begin(), graph.weights.end());
    EXPECT_GT(*least, 0U);
    EXPECT_LT(*most, 1000U);
  }
}

TEST(Star, ConnectsTheFirstNodeWithAllOthers) {
  const Csr graph = star(4);
  EXPECT_THAT(neighbours(graph, 0), ElementsAre(1, 2, 3));
  for (const Node leaf : {1U, 2U, 3U}) EXPECT_THAT(neighbours(graph, leaf), ElementsAre(0));
}

TEST(Star, MayHaveTails) {
  const Csr graph = star(8, 2);  // 0-1-2-3, 0-4-5-6, 0-7
  EXPECT_THAT(neighbours(graph, 0), ElementsAre(1, 4, 7));
  EXPECT_THAT(neighbours(graph, 2), ElementsAre(1, 3));
  EXPECT_THAT(neighbours(graph, 6), ElementsAre(5));
  EXPECT_THAT(neighbours(graph, 7), ElementsAre(0));
}

TEST(Path, ConnectsEachNodeWithTheNext) {
  const Csr graph = path(4);
  EXPECT_THAT(neighbours(graph, 0), ElementsAre(1));
  EXPECT_THAT(neighbours(graph, 2), ElementsAre(1, 3));
  EXPECT_EQ(reach(graph).depth, 3U);
}

TEST(Complete, ConnectsEveryPair) {
  const Csr graph = complete(4);
  EXPECT_EQ(graph.num_edges(), 12U);
  EXPECT_THAT(neighbours(graph, 2), ElementsAre(0, 1, 3));
}

TEST(Splitmix64, IsTheStandardOne) {
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(splitmix64(0x9E3779B97F4A7C15U),
            0x6E789E6AA1B965F4U);  // the second number of the stream
}

// ---- one graph from another

TEST(Csr, StartsEmpty) {
  const Csr graph;
  EXPECT_EQ(graph.num_nodes(), 0U);
  EXPECT_EQ(graph.view().num_edges(), 0U);
}

const EdgeList some{
    .nodes = 4, .edges = {{0, 1}, {2, 2}, {0, 1}, {1, 0}, {3, 1}}, .weights = {7, 1, 5, 9, 2}};

TEST(Edges, BecomeRowsInTheirOrder) {
  const Csr graph = to_csr(some);
  EXPECT_THAT(graph.offsets, ElementsAre(0, 2, 3, 4, 5));
  EXPECT_THAT(graph.targets, ElementsAre(1, 1, 0, 2, 1));
  EXPECT_THAT(graph.weights, ElementsAre(7, 5, 9, 1, 2));
}

TEST(Edges, CountTwiceWhenUndirectedButSelfLoopsOnce) {
  const Csr graph = to_csr(some, Edges::undirected);
  EXPECT_THAT(graph.offsets, ElementsAre(0, 3, 7, 8, 9));
  EXPECT_THAT(graph.targets, ElementsAre(1, 1, 1, 0, 0, 0, 3, 2, 1));
  EXPECT_THAT(graph.weights, ElementsAre(7, 5, 9, 7, 5, 9, 2, 1, 2));
}

TEST(Transpose, GivesTheInEdges) {
  const Csr graph = transpose(to_csr(some));
  EXPECT_THAT(graph.offsets, ElementsAre(0, 1, 4, 5, 5));
  EXPECT_THAT(graph.targets, ElementsAre(1, 0, 0, 3, 2));
  EXPECT_THAT(graph.weights, ElementsAre(9, 7, 5, 2, 1));
  EXPECT_TRUE(same(transpose(graph), to_csr(some)));
  EXPECT_EQ(transpose(Csr{}).num_nodes(), 0U);
}

TEST(Symmetrise, AddsTheOtherDirectionsAndKeepsTheLeastWeightOfEachEdge) {
  const Csr graph = symmetrise(to_csr(some));
  EXPECT_THAT(graph.offsets, ElementsAre(0, 1, 3, 3, 4));
  EXPECT_THAT(graph.targets, ElementsAre(1, 0, 3, 1));
  EXPECT_THAT(graph.weights, ElementsAre(5, 5, 2, 2));
  EXPECT_TRUE(same(symmetrise(some), graph));
  EXPECT_TRUE(same(symmetrise(graph), graph)) << "twice is once";
}

TEST(Symmetrise, LeavesUnweightedGraphsUnweighted) {
  EdgeList list = some;
  list.weights.clear();
  const Csr graph = symmetrise(list);
  EXPECT_THAT(graph.targets, ElementsAre(1, 0, 3, 1));
  EXPECT_THAT(graph.weights, IsEmpty());
}

TEST(Symmetric, MeansThatEveryEdgeHasItsTwin) {
  const auto graph_of = [](std::vector<Edge> edges, std::vector<Weight> weights = {}) {
    return to_csr({.nodes = 4, .edges = std::move(edges), .weights = std::move(weights)});
  };
  EXPECT_TRUE(is_symmetric(Csr{}));
  EXPECT_TRUE(is_symmetric(graph_of({{0, 1}, {1, 0}, {2, 2}})));
  EXPECT_TRUE(is_symmetric(graph_of({{0, 1}, {1, 0}}, {4, 4})));
  EXPECT_FALSE(is_symmetric(graph_of({{0, 1}})));
  EXPECT_FALSE(is_symmetric(graph_of({{0, 1}, {1, 0}}, {4, 5})));
  EXPECT_FALSE(is_symmetric(graph_of({{0, 1}, {0, 1}, {1, 0}})));
  EXPECT_EQ(one_way_edge(graph_of({{0, 1}, {1, 0}})), std::nullopt);
  EXPECT_EQ(one_way_edge(graph_of({{0, 1}, {1, 0}, {3, 1}})), (Edge{3, 1}));
  EXPECT_EQ(one_way_edge(graph_of({{0, 1}, {0, 1}, {1, 0}})), (Edge{0, 1}));
}

TEST(MissingWeights, AreTheStatedHashOfBothEnds) {
  const Csr graph = with_weights(path(3));
  const auto expected = [](std::uint64_t low, std::uint64_t high) {
    return static_cast<Weight>(1 + splitmix64(low * 3 + high) % 255);
  };
  EXPECT_THAT(graph.weights,
              ElementsAre(expected(0, 1), expected(0, 1), expected(1, 2), expected(1, 2)));
  EXPECT_TRUE(same(with_weights(to_csr(some)), to_csr(some))) << "what is there stays";
}

TEST(Hub, IsTheFirstNodeOfHighestDegree) {
  EXPECT_EQ(hub(star(5)), 0U);
  EXPECT_EQ(hub(path(5)), 1U);
  EXPECT_EQ(hub(Csr{}), 0U);
}

TEST(Broken, NamesWhatIsWrong) {
  EXPECT_EQ(broken(grid(3, 3)), std::nullopt);
  EXPECT_EQ(broken(Csr{}), std::nullopt);
  EXPECT_NE(broken({.offsets = {}, .targets = {}, .weights = {}}), std::nullopt);
  EXPECT_NE(broken({.offsets = {1, 1}, .targets = {0}, .weights = {}}), std::nullopt);
  EXPECT_NE(broken({.offsets = {0, 2, 1}, .targets = {0}, .weights = {}}), std::nullopt);
  EXPECT_NE(broken({.offsets = {0, 1}, .targets = {}, .weights = {}}), std::nullopt);
  EXPECT_NE(broken({.offsets = {0, 1}, .targets = {1}, .weights = {}}), std::nullopt);
  EXPECT_NE(broken({.offsets = {0, 1}, .targets = {0}, .weights = {1, 2}}), std::nullopt);
}

// ---- specs

TEST(Spec, NamesAGraph) { EXPECT_EQ(load_graph("grid:20x7").num_nodes(), 140U); }

TEST(Spec, EveryExampleIsTaken) {
  for (const SpecKind& kind : graph_specs()) {
    if (kind.syntax == "<file>") continue;  // the file may not exist
    EXPECT_GT(load_graph(kind.example).num_nodes(), 0U) << kind.syntax;
  }
}

TEST(Spec, MalformedIsAnErrorThatNamesItAndTheFix) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> malformed = {
      {"grid",
       {"", ":", ":10", ":x", ":10x", ":x10", ":-1x5", ":1.5x2", ":0x5", ":5x0", ":5x5x5", ": 5x5",
        ":5x5 ", ":5x5,seed=1"}},
      {"rmat",
       {"",
        ":",
        ":32",
        ":-1",
        ":4,",
        ":4,seed",
        ":4,seed=",
        ":4,seed=x",
        ":4,seed=1,seed=2",
        ":4,depth=1",
        ":4,factor=0",
        ":4,a=1.01",
        ":4,a=0.9,b=0.2",
        ":4,a=.5",
        ":4,a=0.",
        ":4,a=0.571",
        ":4,a=-1",
        ":4,a=",
        ":4,a=1e-1",
        ":99999999999999999999",
        ":4,seed=99999999999999999999999x"}},
      {"road", {":", ":4294967296", ":ten", ":5,degree=2"}},
      {"geometric", {":5,degree=0"}},
      {"power", {":", ":5,exponent=2", ":5,exponent=10.01", ":5,exponent=x", ":5,factor=0"}},
      {"star", {":", ":5,seed=1", ":5,tail=-1"}},
      {"path", {":-3"}},
      {"complete", {":99999999999999999999"}},
      {"empty", {":0x10"}}};
  for (const auto& [kind, endings] : malformed) {
    for (const std::string& rest : endings) {
      EXPECT_THAT(refusal(kind + rest),
                  AllOf(HasSubstr("'" + kind + rest + "'"), HasSubstr(kind + ":<")));
    }
  }
}

TEST(Spec, OfTooManyNodesIsAnErrorThatSaysSo) {
  for (const std::string spec : {"grid:65536x65536", "grid:4294967296x1",
                                 "grid:99999999999999999999x1", "grid:18446744073709551615x2"}) {
    EXPECT_THAT(refusal(spec), AllOf(HasSubstr("'" + spec + "'"), HasSubstr("4294967295 nodes")));
  }
}

TEST(Spec, OfMoreThanThisMachineHoldsIsAnErrorThatSaysSo) {
  for (const std::string spec : {"complete:4294967295", "rmat:31,factor=65536"})
    EXPECT_THAT(refusal(spec), AllOf(HasSubstr("'" + spec + "'"), HasSubstr("MiB")));
}

TEST(Spec, OfAnUnknownKindIsAnsweredWithThoseThereAre) {
  EXPECT_THAT(refusal("tree:5"), AllOf(HasSubstr("'tree:5'"), HasSubstr("grid:<width>x<height>"),
                                       HasSubstr("COHORT_DATA")));
  EXPECT_THAT(refusal(""), HasSubstr("grid:<width>x<height>"));
}

TEST(SpecArguments, AreForOtherInputsToo) {
  constexpr SpecKind kind{
      .syntax = "particles:<n>[,seed=<n>]", .example = "particles:5", .summary = "somebody else's"};
  SpecArguments arguments{"particles:3000,seed=7", kind};
  EXPECT_EQ(arguments.number("particles", 1, 5000), 3000U);
  EXPECT_EQ(arguments.option("seed", 1), 7U);
  EXPECT_EQ(arguments.option("other", 9), 9U);
  arguments.finish();
  EXPECT_THROW((void)arguments.number("particles", 1, 2999), Error);
  EXPECT_THROW((void)arguments.number("particles", 3001), Error);
  EXPECT_EQ(kind_of("particles:3"), "particles");
}

}  // namespace
}  // namespace cohort
