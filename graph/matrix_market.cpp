// Matrix Market coordinates (Boisvert, Pozo, Remington, NIST 1996): a banner, `%` comments, one
// line `ROWS COLUMNS ENTRIES`, then `ROW COLUMN [VALUE]`, counted from 1. A graph's matrix is
// square, and an entry is the edge from its row to its column.
#include <algorithm>
#include <cmath>

#include "graph/formats.hpp"

namespace cohort::detail {
namespace {

enum class Values { pattern, integer, real };

struct Banner {
  Values values;
  bool symmetric;
};

std::string lower_word(Scanner& text) {
  std::string word{text.word()};
  std::transform(word.begin(), word.end(), word.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return word;
}

Banner read_banner(Scanner& text) {
  if (lower_word(text) != "%%matrixmarket" || lower_word(text) != "matrix")
    text.fail("the first line should be `%%MatrixMarket matrix coordinate ...`");
  if (lower_word(text) != "coordinate") text.fail("only `coordinate` matrices can be graphs");
  const std::string values = lower_word(text);
  const std::string symmetry = lower_word(text);
  if (values != "pattern" && values != "integer" && values != "real")
    text.fail("the entries should be `pattern`, `integer` or `real`");
  if (symmetry != "general" && symmetry != "symmetric")
    text.fail("the matrix should be `general` or `symmetric`");
  text.end_line();
  return {.values = values == "pattern"   ? Values::pattern
                    : values == "integer" ? Values::integer
                                          : Values::real,
          .symmetric = symmetry == "symmetric"};
}

/// Real entries are taken as weights if all of them are whole and not negative. Otherwise they are
/// measurements, and the graph is unweighted.
class RealWeights {
 public:
  void add(double value, std::vector<Weight>& weights) {
    constexpr double most = ~Weight{0};
    if (!whole_) return;
    whole_ = value >= 0 && value <= most && value == std::floor(value);
    if (whole_) {
      weights.push_back(static_cast<Weight>(value));
    } else {
      weights = {};
    }
  }

 private:
  bool whole_ = true;
};

}  // namespace

Csr read_matrix_market(Scanner& text) {
  const Banner banner = read_banner(text);
  if (!text.skip_comments("%")) text.fail("the text ends before the line `ROWS COLUMNS ENTRIES`");
  const std::uint64_t header = text.line();
  EdgeList list;
  list.nodes = text.number("the number of rows", most_nodes);
  if (text.number("the number of columns", most_nodes) != list.nodes)
    text.fail("a graph needs as many rows as columns");
  const std::uint64_t promised = text.number("the number of entries", ~std::uint64_t{0} >> 1U);
  text.end_line();

  RealWeights reals;
  while (text.skip_comments("%")) {
    if (list.edges.size() == promised)
      text.fail("the header promised " + std::to_string(promised) +
                " entries, and here is another");
    const Node row = text.node(1, list.nodes);
    const Node column = text.node(1, list.nodes);
    if (banner.symmetric && column > row)
      text.fail("a symmetric matrix should list only what is on or below its diagonal");
    list.edges.push_back({row, column});
    switch (banner.values) {
      case Values::pattern: break;
      case Values::integer: list.weights.push_back(text.weight()); break;
      case Values::real: reals.add(text.real("an entry"), list.weights); break;
    }
    text.end_line();
  }
  check_count(text, "entries", list.edges.size(), promised);
  check_nodes(text, list.nodes, header);
  return to_csr(list, banner.symmetric ? Edges::undirected : Edges::directed);
}

}  // namespace cohort::detail
