// The degrees of a graph's nodes. Searches are compiled for three classes of degrees.
#pragma once

#include "graph/build.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

enum class Degrees : std::uint8_t {
  few,   ///< at most most_few_edges per node; only for groups of many threads
  some,  ///< anything in between
  many,  ///< has_many_edges(): a single node may have very many
};

inline constexpr std::uint32_t most_few_edges = 16;

/// A list entry that holds where a node's edges are, instead of the node. This saves the reader a
/// load, which on a GPU is a round trip. Used if nodes have few edges and the graph is small
/// enough.
class FewEdges {
 public:
  static constexpr std::uint64_t most_in_graph = std::uint64_t{1} << 27U;

  COHORT_FN constexpr explicit FewEdges(std::uint32_t word) : word_(word) {}
  COHORT_FN constexpr FewEdges(const CsrView& graph, Node node)
      : word_(static_cast<std::uint32_t>(graph.first_edge(node) << degree_bits |
                                         graph.degree(node))) {}

  [[nodiscard]] COHORT_FN constexpr std::uint32_t word() const { return word_; }
  [[nodiscard]] COHORT_FN constexpr std::uint32_t begin() const { return word_ >> degree_bits; }
  [[nodiscard]] COHORT_FN constexpr std::uint32_t end() const {
    return begin() + (word_ & ((1U << degree_bits) - 1));
  }

 private:
  static constexpr unsigned degree_bits = 5;
  static_assert(most_few_edges < (1U << degree_bits) - 1, "no word is that of `empty_place`");
  static_assert(most_in_graph << degree_bits == std::uint64_t{1} << 32U);

  std::uint32_t word_;
};

/// Maximum degree; 0 for an empty graph.
[[nodiscard]] inline std::uint64_t max_degree(const Csr& graph) {
  if (graph.num_nodes() == 0) return 0;
  const Node node = hub(graph);
  return graph.offsets[node + 1] - graph.offsets[node];
}

/// Whether nodes have at least eight edges on average. Then some are likely to have very many, and
/// many edges lead back to visited nodes.
[[nodiscard]] inline bool has_many_edges(const Csr& graph) {
  return graph.num_edges() / 8 >= graph.num_nodes();
}

/// Threads per SM for a search. More threads hide more latency but make barriers longer, and with
/// few edges a search is mostly barriers.
[[nodiscard]] inline std::uint32_t threads_for_search(const Csr& graph) {
  return has_many_edges(graph) ? 1024 : 256;
}

}  // namespace cohort::apps
