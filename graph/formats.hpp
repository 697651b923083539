// The readers, one per format, and the checks that they share. Each reads the text from its first
// line to its end. Internal to graph/.
#pragma once

#include <optional>

#include "graph/build.hpp"
#include "graph/scanner.hpp"
#include "graph/selection.hpp"

namespace cohort::detail {

inline constexpr std::uint64_t most_nodes = 0xFFFF'FFFF;

[[nodiscard]] Csr read_dimacs(Scanner& text, Selection& selection);
[[nodiscard]] Csr read_matrix_market(Scanner& text, Selection& selection);
[[nodiscard]] Csr read_metis(Scanner& text, Selection& selection);
[[nodiscard]] Csr read_edge_list(Scanner& text, bool weighted, Selection& selection);

/// Collects the selected edges of a text, and counts all of them.
class EdgeTaker {
 public:
  EdgeTaker(Selection& selection, Edges edges) : selection_(selection), edges_(edges) {}

  void take(const Edge& edge, std::optional<Weight> weight) {
    ++seen_;
    if (!selection_.all()) selection_.see(edge, edges_, weight.value_or(0));
    if (!selection_.keeps(edge, edges_)) return;
    list_.edges.push_back(edge);
    if (weight) list_.weights.push_back(*weight);
  }
  /// Number of all edges so far, kept or not.
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  /// Drops all weights so far, because they turned out not to be weights.
  void drop_weights() { list_.weights = {}; }

  /// The rows, once all edges have been received.
  [[nodiscard]] Csr rows(std::uint64_t nodes, bool weighted) {
    list_.nodes = nodes;
    selection_.finish(weighted);
    return to_csr(list_, edges_);
  }

 private:
  Selection& selection_;
  Edges edges_;
  EdgeList list_;
  std::uint64_t seen_ = 0;
};

/// Rejects a text that is far too short for its number of nodes, so that a small file cannot claim
/// much memory. `line` is the line that states the number.
inline void check_nodes(Scanner& text, std::uint64_t nodes, std::uint64_t line) {
  constexpr std::uint64_t always_fine = std::uint64_t{1} << 16U;
  constexpr std::uint64_t nodes_per_byte = 16;
  if (nodes <= always_fine || nodes / nodes_per_byte <= text.bytes()) return;
  text.fail_at(line, "that makes " + std::to_string(nodes) +
                         " nodes, but the whole text has only " + std::to_string(text.bytes()) +
                         " bytes");
}

/// Rejects a text with fewer items than its header promises.
inline void check_count(const Scanner& text, const char* what, std::uint64_t seen,
                        std::uint64_t promised) {
  if (seen == promised) return;
  text.fail("the text ends after " + std::to_string(seen) + " of " + std::to_string(promised) +
            " " + what + ": is it truncated?");
}

}  // namespace cohort::detail
