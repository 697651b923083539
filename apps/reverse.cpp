#include "apps/reverse.hpp"

#include <algorithm>

namespace cohort::apps {

Csr reversed(const Csr& graph) {
  const Node nodes = graph.num_nodes();
  Csr result;
  result.offsets.assign(std::size_t{nodes} + 1, 0);
  for (const Node target : graph.targets) ++result.offsets[target + 1];
  for (Node node = 0; node < nodes; ++node) result.offsets[node + 1] += result.offsets[node];
  std::vector<std::uint64_t> at{result.offsets.begin(), result.offsets.end() - 1};
  result.targets.resize(graph.targets.size());
  result.weights.resize(graph.weights.size());
  for (Node node = 0; node < nodes; ++node) {
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
      const std::uint64_t to = at[graph.targets[edge]]++;
      result.targets[to] = node;
      if (!graph.weights.empty()) result.weights[to] = graph.weights[edge];
    }
  }
  return result;
}

bool symmetric(const Csr& graph) {
  const Csr turned = reversed(graph);
  if (turned.offsets != graph.offsets) return false;
  std::vector<Node> sorted;
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    const auto first = static_cast<std::ptrdiff_t>(graph.offsets[node]);
    const auto last = static_cast<std::ptrdiff_t>(graph.offsets[node + 1]);
    sorted.assign(graph.targets.begin() + first, graph.targets.begin() + last);
    std::sort(sorted.begin(), sorted.end());
    if (!std::equal(sorted.begin(), sorted.end(), turned.targets.begin() + first)) return false;
  }
  return true;
}

}  // namespace cohort::apps
