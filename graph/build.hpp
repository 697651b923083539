// Builds compressed rows from edges in any order, and graphs from graphs. Invariant: every result
// is a valid Csr, the same on every machine and for any number of threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/csr.hpp"

namespace cohort {

/// From one node to another.
struct Edge {
  Node from;
  Node to;

  friend bool operator==(const Edge&, const Edge&) = default;
};

/// A graph before it is sorted by node.
struct EdgeList {
  std::uint64_t nodes = 0;
  std::vector<Edge> edges;
  std::vector<Weight> weights;  // parallel to edges; empty: unweighted
};

/// What an edge of a list stands for.
enum class Edges {
  directed,    ///< itself
  undirected,  ///< both directions; a self loop once
};

/// The rows of the list; the edges of a node keep their order. The list's nodes must exist and be
/// fewer than 2^32.
[[nodiscard]] Csr to_csr(const EdgeList& list, Edges edges = Edges::directed);

/// Every edge reversed: the in-edges, as a graph. The edges of a node are in the order of the nodes
/// they come from.
[[nodiscard]] Csr transpose(const Csr& graph);

/// Both directions of every edge, no self loops, no duplicates (the least weight stays), the edges
/// of a node in ascending order: what mis and color need.
[[nodiscard]] Csr symmetrise(const Csr& graph);
[[nodiscard]] Csr symmetrise(const EdgeList& list);

/// Whether every edge has one in the other direction, as often and with the same weights.
[[nodiscard]] bool is_symmetric(const Csr& graph);
/// The first edge that has none, if any.
[[nodiscard]] std::optional<Edge> one_way_edge(const Csr& graph);

/// Gives an unweighted graph weights from 1 to 255, the same in both directions of an edge: 1 +
/// splitmix64(min(u, v) * n + max(u, v)) mod 255. Weighted graphs stay as they are.
[[nodiscard]] Csr with_weights(Csr graph);
/// The weight of one such edge in a graph of `nodes` nodes.
[[nodiscard]] Weight given_weight(Node from, Node to, Node nodes);

/// The node of highest degree, the first of several: where to start in a graph with hubs. 0 in a
/// graph without nodes.
[[nodiscard]] Node hub(const Csr& graph);

/// What breaks the invariant of a Csr, if anything.
[[nodiscard]] std::optional<std::string> broken(const Csr& graph);

}  // namespace cohort
