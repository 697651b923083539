// Edge lists: one `FROM TO` or `FROM TO WEIGHT` per line, directed, with nodes counted from 0. `#`
// and `%` start comments. The largest id determines the number of nodes.
#include <algorithm>

#include "graph/formats.hpp"

namespace cohort::detail {

Csr read_edge_list(Scanner& text, bool weighted, Selection& selection) {
  EdgeTaker edges{selection, Edges::directed};
  std::uint64_t nodes = 0;
  std::uint64_t line_of_last = 1;
  while (text.skip_comments("#%")) {
    const Node from = text.node(0, most_nodes);
    const Node to = text.node(0, most_nodes);
    const std::uint64_t last = std::uint64_t{std::max(from, to)} + 1;
    if (last > nodes) {
      nodes = last;
      line_of_last = text.line();
    }
    std::optional<Weight> weight;
    if (weighted) {
      weight = text.weight();
    } else if (!text.at_line_end()) {
      text.fail("there should be two numbers; a list with weights is a .wel file");
    }
    edges.take({from, to}, weight);
    text.end_line();
  }
  check_nodes(text, nodes, line_of_last);
  return edges.rows(nodes, weighted);
}

}  // namespace cohort::detail
