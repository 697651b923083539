// METIS graphs (Karypis, METIS manual 5.1, section 4.1.1): `%` comments, a line `NODES EDGES [FMT
// [CONSTRAINTS]]`, then one line per node. Such a line lists the node's neighbours, counted from 1,
// each followed by a weight if FMT says so. FMT may also put the node's size and weights first;
// they are skipped. Graphs are undirected: every edge appears twice, and no node is its own
// neighbour.
#include "graph/formats.hpp"

namespace cohort::detail {
namespace {

struct Header {
  std::uint64_t line = 0;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  /// Numbers before a node's neighbours: its size and weights, which are skipped.
  std::uint64_t before_neighbours = 0;
  bool weighted = false;
};

Header read_header(Scanner& text) {
  while (text.peek() == '%') text.skip_line();
  if (text.at_line_end()) text.fail("the header `NODES EDGES` should come before everything else");
  Header header{.line = text.line()};
  header.nodes = text.number("the number of nodes", most_nodes);
  header.edges = text.number("the number of edges", ~std::uint64_t{0} >> 2U);
  std::uint64_t constraints = 0;
  if (!text.at_line_end()) {
    const std::string fmt{text.word()};
    if (fmt.size() > 3 || fmt.find_first_not_of("01") != std::string::npos)
      text.fail("the third number of the header should be three digits, each 0 or 1");
    const auto digit = [&fmt](std::size_t from_right) {
      return fmt.size() >= from_right && fmt[fmt.size() - from_right] == '1';
    };
    header.weighted = digit(1);
    constraints = digit(2) ? 1 : 0;
    if (!text.at_line_end()) {
      const std::uint64_t given = text.number("the number of node weights", 1024);
      if (constraints != 0) constraints = given;
    }
    header.before_neighbours = constraints + (digit(3) ? 1 : 0);
  }
  text.end_line();
  return header;
}

struct Kept {
  Selection& selection;
  Csr graph = {};
  std::uint64_t seen = 0;  ///< number of neighbours, kept or not
};

/// Reads the line of one node.
void read_node(Scanner& text, const Header& header, Node node, Kept& kept) {
  for (std::uint64_t i = 0; i < header.before_neighbours; ++i)
    (void)text.number("a size or weight of the node", ~std::uint64_t{0});
  const bool mine = kept.selection.keeps(node);
  while (!text.at_line_end()) {
    const Node neighbour = text.node(1, header.nodes);
    if (neighbour == node)
      text.fail("node " + std::to_string(node + 1ULL) + " is its own neighbour");
    const Weight weight = header.weighted ? text.weight() : 0;
    ++kept.seen;
    if (!kept.selection.all()) kept.selection.see({node, neighbour}, Edges::directed, weight);
    if (!mine) continue;
    kept.graph.targets.push_back(neighbour);
    if (header.weighted) kept.graph.weights.push_back(weight);
  }
  kept.graph.offsets.push_back(kept.graph.targets.size());
}

}  // namespace

Csr read_metis(Scanner& text, Selection& selection) {
  const Header header = read_header(text);
  Kept kept{selection};
  for (std::uint64_t node = 0; node < header.nodes;) {
    if (text.at_end()) check_count(text, "node lines", node, header.nodes);
    if (text.peek() == '%') {
      text.skip_line();
      continue;
    }
    read_node(text, header, static_cast<Node>(node++), kept);
    text.end_line();
  }
  if (text.skip_comments("%")) text.end_line();  // end_line() fails if there is more text
  if (kept.seen != 2 * header.edges) {
    text.fail_at(header.line, "the header promised " + std::to_string(header.edges) +
                                  " edges, which are neighbours twice, but there are " +
                                  std::to_string(kept.seen) + " neighbours");
  }
  if (!selection.all()) {
    selection.finish(header.weighted);
    if (selection.symmetric()) return std::move(kept.graph);
    text.fail(
        "a node is not a neighbour of one of its neighbours, or not as often or with another "
        "weight; a run on one rank says which");
  }
  if (const auto edge = one_way_edge(kept.graph)) {
    const auto from = std::to_string(edge->from + 1ULL);
    const auto to = std::to_string(edge->to + 1ULL);
    text.fail("node " + to + " is a neighbour of node " + from + ", but " + from +
              " is not one of " + to + ", or not as often or with another weight");
  }
  return std::move(kept.graph);
}

}  // namespace cohort::detail
