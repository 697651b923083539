// How many edges the nodes of a graph have: searches are compiled for it.
#pragma once

#include <type_traits>

#include "graph/build.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

enum class Degrees : std::uint8_t {
  few,   ///< none has more than most_few_edges; for groups of many threads
  some,  ///< anything in between
  many,  ///< has_many_edges(): a single node may have very many
};

/// As an argument, to choose a kernel by.
template <Degrees degrees>
using Of = std::integral_constant<Degrees, degrees>;

inline constexpr std::uint32_t most_few_edges = 16;

/// Where the edges of a node are, in a list in place of the node: whoever takes it from there need
/// not ask for it, which on a GPU is a round trip. For nodes of few edges, in graphs that fit.
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
  static_assert(most_few_edges < (1U << degree_bits) - 1, "no word is that of `nobody`");
  static_assert(most_in_graph << degree_bits == std::uint64_t{1} << 32U);

  std::uint32_t word_;
};

/// Of a node; 0 where there is none.
[[nodiscard]] inline std::uint64_t most_edges(const Csr& graph) {
  if (graph.num_nodes() == 0) return 0;
  const Node node = hub(graph);
  return graph.offsets[node + 1] - graph.offsets[node];
}

/// Nodes have eight edges or more on average. Then some are likely to have very many, and many
/// edges to lead back to nodes that have been visited.
[[nodiscard]] inline bool has_many_edges(const Csr& graph) {
  return graph.num_edges() / 8 >= graph.num_nodes();
}

/// How many threads suit a search on an SM: more hide more latency and make barriers longer, and
/// with few edges it is mostly barriers.
[[nodiscard]] inline std::uint32_t threads_for_search(const Csr& graph) {
  return has_many_edges(graph) ? 1024 : 256;
}

}  // namespace cohort::apps
