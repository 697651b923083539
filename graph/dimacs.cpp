// DIMACS graphs: `c` comments, one line `p KIND NODES EDGES`, then the edges, counted from 1.
//   p sp    `a FROM TO [WEIGHT]`, directed (9th DIMACS challenge, shortest paths)
//   p tw    `FROM TO`, undirected (the PACE challenges, treewidth)
//   p edge  `e FROM TO`, undirected (2nd DIMACS challenge, colouring; also p col)
#include <array>

#include "graph/formats.hpp"

namespace cohort::detail {
namespace {

struct Kind {
  std::string_view name;
  char mark;  ///< the word before each edge; 0 if there is none
  Edges edges;
};
constexpr std::array kinds{
    Kind{"sp", 'a', Edges::directed},
    Kind{"tw", '\0', Edges::undirected},
    Kind{"edge", 'e', Edges::undirected},
    Kind{"col", 'e', Edges::undirected},
};

const Kind& kind_of(Scanner& text) {
  const std::string word{text.word()};
  for (const Kind& kind : kinds) {
    if (kind.name == word) return kind;
  }
  text.fail("the header should be `p sp`, `p tw`, `p edge` or `p col`, then nodes and edges");
}

}  // namespace

Csr read_dimacs(Scanner& text, Selection& selection) {
  if (!text.skip_comments("c")) text.fail("there is no header: expected `p sp NODES EDGES`");
  if (text.word() != "p")
    text.fail("the header `p sp NODES EDGES` should come before everything else");
  const std::uint64_t header = text.line();
  const Kind& kind = kind_of(text);
  const std::uint64_t nodes = text.number("the number of nodes", most_nodes);
  const std::uint64_t promised = text.number("the number of edges", ~std::uint64_t{0} >> 1U);
  text.end_line();

  EdgeTaker edges{selection, kind.edges};
  bool weighted = false;
  while (text.skip_comments("c")) {
    if (edges.seen() == promised)
      text.fail("the header promised " + std::to_string(promised) + " edges, and here is another");
    if (kind.mark != '\0' && !text.take(kind.mark))
      text.fail(std::string{"an edge should start with '"} + kind.mark + "'");
    const Node from = text.node(1, nodes);
    const Node to = text.node(1, nodes);
    if (edges.seen() == 0) weighted = kind.mark == 'a' && !text.at_line_end();
    edges.take({from, to}, weighted ? std::optional{text.weight()} : std::nullopt);
    text.end_line();
  }
  check_count(text, "edges", edges.seen(), promised);
  check_nodes(text, nodes, header);
  return edges.rows(nodes, weighted);
}

}  // namespace cohort::detail
