// Builds compressed rows from edges in any order, and derived graphs. Invariant: every result is a
// valid Csr, the same on every machine and for any number of threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/csr.hpp"

namespace cohort {

/// A directed edge.
struct Edge {
  Node from;
  Node to;

  friend bool operator==(const Edge&, const Edge&) = default;
};

/// A graph as an unordered list of edges.
struct EdgeList {
  std::uint64_t nodes = 0;
  std::vector<Edge> edges;
  std::vector<Weight> weights;  // parallel to edges; empty if the graph is unweighted
};

/// The meaning of an edge in a list.
enum class Edges {
  directed,    ///< the edge exists only in this direction
  undirected,  ///< the edge exists in both directions; a self loop counts once
};

/// The list as compressed rows. The edges of a node keep their order. Edges must refer to existing
/// nodes, of which there must be fewer than 2^32.
[[nodiscard]] Csr to_csr(const EdgeList& list, Edges edges = Edges::directed);

/// The graph with every edge reversed. The edges of a node are sorted by the nodes at their other
/// end.
[[nodiscard]] Csr transpose(const Csr& graph);

/// The graph with every edge in both directions, without self loops and duplicates (the smallest
/// weight stays). The edges of a node are in ascending order. mis and color need this form.
[[nodiscard]] Csr symmetrise(const Csr& graph);
[[nodiscard]] Csr symmetrise(const EdgeList& list);

/// Whether edges, seen in any order, pair up with opposite ones. Each edge adds a hash of its ends
/// and weight if it goes up, and subtracts it if it goes down. The sum is 0 if the directions pair
/// up. Otherwise it is 0 only with a probability of 2^-64.
class SymmetryCheck {
 public:
  void add(Node from, Node to, Weight weight);
  /// Adds the edges of another check.
  void add(const SymmetryCheck& others);
  /// `weighted`: opposite edges also need the same weight.
  [[nodiscard]] bool symmetric(bool weighted) const { return (weighted ? weighted_ : plain_) == 0; }

 private:
  std::uint64_t plain_ = 0;
  std::uint64_t weighted_ = 0;
};

/// Whether each edge also exists in the opposite direction, equally often and with the same
/// weights.
[[nodiscard]] bool is_symmetric(const Csr& graph);
/// The first edge without an opposite edge, if any.
[[nodiscard]] std::optional<Edge> one_way_edge(const Csr& graph);

/// Gives an unweighted graph weights from 1 to 255, the same in both directions of an edge: 1 +
/// splitmix64(min(u, v) * n + max(u, v)) mod 255. Weighted graphs stay as they are.
[[nodiscard]] Csr with_weights(Csr graph);
/// The weight that with_weights() gives to one edge in a graph of `nodes` nodes.
[[nodiscard]] Weight given_weight(Node from, Node to, Node nodes);

/// The node of highest degree; the first one if there are several. A good start in a graph with
/// hubs. 0 for a graph without nodes.
[[nodiscard]] Node hub(const Csr& graph);

/// A sentence about the first violation of Csr's invariant, if any.
[[nodiscard]] std::optional<std::string> broken(const Csr& graph);

}  // namespace cohort
