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
  [[nodiscard]] std::optional<Weight> weight(double value, EdgeTaker& edges) {
    constexpr double most = ~Weight{0};
    if (!whole_) return std::nullopt;
    whole_ = value >= 0 && value <= most && value == std::floor(value);
    if (whole_) return static_cast<Weight>(value);
    edges.drop_weights();
    return std::nullopt;
  }
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  bool whole_ = true;
};

}  // namespace

Csr read_matrix_market(Scanner& text, Selection& selection) {
  const Banner banner = read_banner(text);
  if (!text.skip_comments("%")) text.fail("the text ends before the line `ROWS COLUMNS ENTRIES`");
  const std::uint64_t header = text.line();
  const std::uint64_t nodes = text.number("the number of rows", most_nodes);
  if (text.number("the number of columns", most_nodes) != nodes)
    text.fail("a graph needs as many rows as columns");
  const std::uint64_t promised = text.number("the number of entries", ~std::uint64_t{0} >> 1U);
  text.end_line();

  const Edges kind = banner.symmetric ? Edges::undirected : Edges::directed;
  EdgeTaker edges{selection, kind};
  RealWeights reals;
  while (text.skip_comments("%")) {
    if (edges.seen() == promised)
      text.fail("the header promised " + std::to_string(promised) +
                " entries, and here is another");
    const Node row = text.node(1, nodes);
    const Node column = text.node(1, nodes);
    if (banner.symmetric && column > row)
      text.fail("a symmetric matrix should list only what is on or below its diagonal");
    std::optional<Weight> weight;
    switch (banner.values) {
      case Values::pattern: break;
      case Values::integer: weight = text.weight(); break;
      case Values::real: weight = reals.weight(text.real("an entry"), edges); break;
    }
    edges.take({row, column}, weight);
    text.end_line();
  }
  check_count(text, "entries", edges.seen(), promised);
  check_nodes(text, nodes, header);
  return edges.rows(nodes, banner.values != Values::pattern && reals.whole());
}

}  // namespace cohort::detail
