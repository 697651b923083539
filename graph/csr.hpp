// Graphs as compressed sparse rows: Csr owns the arrays on the host; CsrView is a view that kernels
// hold by value.
// Invariant: `offsets` has one entry more than there are nodes, starts at 0 and never decreases.
// Its last entry is the number of edges, and every target is a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cohort/kernel.hpp"

namespace cohort {

/// A node's id: 0 to num_nodes - 1.
using Node = std::uint32_t;

/// The length of an edge. Unweighted graphs store none.
using Weight = std::uint32_t;

/// The targets of one node's edges, as a range.
class Neighbours {
 public:
  COHORT_FN constexpr Neighbours(const Node* first, const Node* last)
      : first_(first), last_(last) {}
  [[nodiscard]] COHORT_FN constexpr const Node* begin() const { return first_; }
  [[nodiscard]] COHORT_FN constexpr const Node* end() const { return last_; }
  [[nodiscard]] COHORT_FN constexpr std::size_t size() const {
    return static_cast<std::size_t>(last_ - first_);
  }

 private:
  const Node* first_;
  const Node* last_;
};

/// A graph as kernels see it. Does not own its arrays.
class CsrView {
 public:
  COHORT_FN constexpr CsrView(const std::uint64_t* offsets, const Node* targets,
                              const Weight* weights, Node num_nodes)
      : offsets_(offsets), targets_(targets), weights_(weights), num_nodes_(num_nodes) {}

  [[nodiscard]] COHORT_FN constexpr Node num_nodes() const { return num_nodes_; }
  [[nodiscard]] COHORT_FN constexpr std::uint64_t num_edges() const { return offsets_[num_nodes_]; }
  [[nodiscard]] COHORT_FN constexpr Neighbours neighbours(Node node) const {
    return {targets_ + offsets_[node], targets_ + offsets_[node + 1]};
  }

  /// The edges of `node` have the indices `first_edge(node)` to `first_edge(node + 1) - 1`.
  [[nodiscard]] COHORT_FN constexpr std::uint64_t first_edge(Node node) const {
    return offsets_[node];
  }
  [[nodiscard]] COHORT_FN constexpr std::uint64_t degree(Node node) const {
    return offsets_[node + 1] - offsets_[node];
  }
  /// The arrays, for prefetching; the weights are null if there are none.
  [[nodiscard]] COHORT_FN constexpr const std::uint64_t* offsets() const { return offsets_; }
  [[nodiscard]] COHORT_FN constexpr const Node* targets() const { return targets_; }
  [[nodiscard]] COHORT_FN constexpr const Weight* weights() const { return weights_; }
  [[nodiscard]] COHORT_FN constexpr Node target(std::uint64_t edge) const { return targets_[edge]; }
  /// 1 for every edge of an unweighted graph.
  [[nodiscard]] COHORT_FN constexpr Weight weight(std::uint64_t edge) const {
    return weights_ == nullptr ? 1 : weights_[edge];
  }

 private:
  const std::uint64_t* offsets_;
  const Node* targets_;
  const Weight* weights_;  // null if the graph is unweighted
  Node num_nodes_;
};

/// A graph in host memory.
struct Csr {
  std::vector<std::uint64_t> offsets{0};
  std::vector<Node> targets;
  std::vector<Weight> weights;  // parallel to targets; empty if the graph is unweighted

  [[nodiscard]] Node num_nodes() const { return static_cast<Node>(offsets.size() - 1); }
  [[nodiscard]] std::uint64_t num_edges() const { return targets.size(); }
  [[nodiscard]] CsrView view() const {
    return {offsets.data(), targets.data(), weights.empty() ? nullptr : weights.data(),
            num_nodes()};
  }
};

}  // namespace cohort
