// Selects the rows of a graph that a reader keeps.
// Invariant: a reader checks the whole text, and refuses the same texts for every selection.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "graph/build.hpp"

namespace cohort {

/// Which rows to keep, and facts about the whole graph.
class Selection {
 public:
  Selection() = default;
  /// Selects the rows of the nodes that `keeps` accepts. `reversed`: also keeps the edges that lead
  /// to these nodes, in the rows of other nodes.
  explicit Selection(std::function<bool(Node)> keeps, bool reversed = false)
      : keeps_(std::move(keeps)), reversed_(reversed) {}

  [[nodiscard]] bool all() const { return !keeps_; }
  [[nodiscard]] bool keeps(Node node) const { return all() || keeps_(node); }
  [[nodiscard]] bool keeps(const Edge& edge, Edges edges) const {
    return keeps(edge.from) || ((reversed_ || edges == Edges::undirected) && keeps(edge.to));
  }

  /// Readers call this for each edge of the text, unless all() rows are kept.
  void see(const Edge& edge, Edges edges, Weight weight) {
    ++edges_;
    count(edge.from);
    if (edges == Edges::directed) {
      check_.add(edge.from, edge.to, weight);
    } else if (edge.from != edge.to) {
      count(edge.to);
    }
  }
  /// Readers call this after the last edge, when they have checked that no node is too large.
  /// `weighted`: whether the edges of the text had weights.
  void finish(bool weighted) {
    weighted_ = weighted;
    for (const Node node : std::exchange(far_, {})) count_in_table(node);
  }
  /// For use after reading: whether each edge has an opposite one, with the same weight if there
  /// are weights.
  [[nodiscard]] bool symmetric() const { return check_.symmetric(weighted_); }
  /// The number of edges of each node, kept or not, up to the last node with edges.
  [[nodiscard]] const std::vector<std::uint32_t>& degrees() const { return degrees_; }

 private:
  /// Keeps nodes apart that are far above the number of edges so far, so that a short text with a
  /// large node takes little memory.
  void count(Node node) {
    if (node < degrees_.size() || node < 16 * edges_ + (1U << 16U)) {
      count_in_table(node);
    } else {
      far_.push_back(node);
    }
  }
  void count_in_table(Node node) {
    if (node >= degrees_.size()) degrees_.resize(std::size_t{node} + 1);
    ++degrees_[node];
  }

  std::function<bool(Node)> keeps_;
  bool reversed_ = false;
  bool weighted_ = false;
  SymmetryCheck check_;
  std::vector<std::uint32_t> degrees_;
  std::vector<Node> far_;    // ends of edges, not yet counted in `degrees_`
  std::uint64_t edges_ = 0;  // number of edges seen
};

}  // namespace cohort
