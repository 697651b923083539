#include "graph/write.hpp"

#include <charconv>
#include <initializer_list>

namespace cohort {
namespace {

/// Text to which numbers are appended.
class Text {
 public:
  Text& operator<<(std::string_view words) {
    text_ += words;
    return *this;
  }
  Text& operator<<(std::uint64_t number) {
    char digits[20];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
    text_.append(digits, end);
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Writes one line per edge: `mark`, both ends counted from `base`, and optionally the weight.
void write_edges(Text& text, const Csr& graph, std::string_view mark, std::uint64_t base,
                 bool weighted) {
  const CsrView view = graph.view();
  for (Node node = 0; node < view.num_nodes(); ++node) {
    for (std::uint64_t edge = view.first_edge(node); edge < view.first_edge(node + 1); ++edge) {
      text << mark << node + base << " " << view.target(edge) + base;
      if (weighted) text << " " << view.weight(edge);
      text << "\n";
    }
  }
}

void write_metis(Text& text, const Csr& graph) {
  const CsrView view = graph.view();
  const bool weighted = !graph.weights.empty();
  text << view.num_nodes() << " " << view.num_edges() / 2 << (weighted ? " 001\n" : "\n");
  for (Node node = 0; node < view.num_nodes(); ++node) {
    std::string_view gap;
    for (std::uint64_t edge = view.first_edge(node); edge < view.first_edge(node + 1); ++edge) {
      text << gap << view.target(edge) + 1ULL;
      if (weighted) text << " " << view.weight(edge);
      gap = " ";
    }
    text << "\n";
  }
}

}  // namespace

std::string to_text(const Csr& graph, Format format) {
  const bool weighted = !graph.weights.empty();
  Text text;
  switch (format) {
    case Format::dimacs:
      text << "p sp " << graph.num_nodes() << " " << graph.num_edges() << "\n";
      write_edges(text, graph, "a ", 1, weighted);
      break;
    case Format::matrix_market:
      text << "%%MatrixMarket matrix coordinate " << (weighted ? "integer" : "pattern")
           << " general\n"
           << graph.num_nodes() << " " << graph.num_nodes() << " " << graph.num_edges() << "\n";
      write_edges(text, graph, "", 1, weighted);
      break;
    case Format::metis: write_metis(text, graph); break;
    case Format::edge_list: write_edges(text, graph, "", 0, false); break;
    case Format::weighted_edge_list: write_edges(text, graph, "", 0, true); break;
  }
  return text.take();
}

}  // namespace cohort
