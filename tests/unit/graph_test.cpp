// Graphs: what the generators make, and what input specs are taken or refused.
#include <gmock/gmock.h>

#include "cohort/error.hpp"
#include "graph/generators.hpp"
#include "graph/spec.hpp"

namespace cohort {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(Csr, StartsEmpty) {
  const Csr graph;
  EXPECT_EQ(graph.num_nodes(), 0U);
  EXPECT_EQ(graph.view().num_edges(), 0U);
}

TEST(Spec, NamesAGraph) { EXPECT_EQ(load_graph("grid:20x7").num_nodes(), 140U); }

TEST(Spec, EveryExampleIsTaken) {
  for (const SpecKind& kind : graph_specs())
    EXPECT_GT(load_graph(kind.example).num_nodes(), 0U) << kind.syntax;
}

TEST(Spec, MalformedIsAnErrorThatNamesItAndTheFix) {
  for (const std::string spec :
       {"grid", "grid:", "grid:10", "grid:x", "grid:10x", "grid:x10", "grid:-1x5", "grid:1.5x2",
        "grid:0x5", "grid:5x0", "grid:5x5x5", "grid: 5x5", "grid:5x5 "}) {
    EXPECT_THAT(refusal(spec), AllOf(HasSubstr("'" + spec + "'"), HasSubstr("grid:"))) << spec;
  }
}

TEST(Spec, OfTooManyNodesIsAnErrorThatSaysSo) {
  for (const std::string spec : {"grid:65536x65536", "grid:4294967296x1",
                                 "grid:99999999999999999999x1", "grid:18446744073709551615x2"}) {
    EXPECT_THAT(refusal(spec), AllOf(HasSubstr("'" + spec + "'"), HasSubstr("4294967295 nodes")));
  }
}

TEST(Spec, OfAnUnknownKindIsAnsweredWithThoseThereAre) {
  EXPECT_THAT(refusal("tree:5"), AllOf(HasSubstr("'tree:5'"), HasSubstr("grid:<width>x<height>")));
  EXPECT_THAT(refusal(""), HasSubstr("grid:<width>x<height>"));
}

}  // namespace
}  // namespace cohort
