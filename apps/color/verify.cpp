#include "apps/color/host.hpp"
#include "apps/order.hpp"

namespace cohort::apps {

std::optional<std::string> check_color(const Csr& graph, Priority priority,
                                       const std::vector<std::uint32_t>& colours) {
  if (colours.size() != graph.num_nodes()) {
    return std::to_string(colours.size()) + " colours for " + std::to_string(graph.num_nodes()) +
           " nodes";
  }
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
      const Node other = graph.targets[edge];
      if (other != node && colours[other] == colours[node]) {
        return "nodes " + std::to_string(node) + " and " + std::to_string(other) +
               " are neighbours and have the same colour";
      }
    }
  }
  std::vector<Node> order = ascending(graph.num_nodes(), priority == Priority::hashed);
  std::vector<std::int64_t> expected(graph.num_nodes(), -1);
  for (std::size_t i = order.size(); i-- > 0;) {
    const Node node = order[i];
    std::int64_t highest = -1;  // neighbours of higher priority are coloured already
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge)
      highest = std::max(highest, expected[graph.targets[edge]]);
    expected[node] = highest + 1;
  }
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    if (expected[node] != std::int64_t{colours[node]}) {
      return "node " + std::to_string(node) + " has colour " + std::to_string(colours[node]) +
             " instead of " + std::to_string(expected[node]);
    }
  }
  return std::nullopt;
}

}  // namespace cohort::apps
