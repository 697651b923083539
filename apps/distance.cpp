#include "apps/distance.hpp"

#include <algorithm>
#include <numeric>

namespace cohort::apps {

Distance longest_path(const Csr& graph) {
  if (graph.num_nodes() == 0) return 0;
  const Distance edges = graph.num_nodes();  // upper bound on the edges of a path, plus one
  if (graph.weights.empty()) return edges;
  const Weight heaviest = *std::max_element(graph.weights.begin(), graph.weights.end());
  const Distance bound = edges * heaviest;
  if (bound <= ~Weight{0}) return bound;
  // A tighter bound: a path enters each node at most once, and at worst by its heaviest edge.
  std::vector<Weight> into(graph.num_nodes(), 0);
  for (std::uint64_t edge = 0; edge < graph.num_edges(); ++edge) {
    Weight& most = into[graph.targets[edge]];
    most = std::max(most, graph.weights[edge]);
  }
  return std::accumulate(into.begin(), into.end(), Distance{heaviest});
}

}  // namespace cohort::apps
