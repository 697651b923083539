#include <algorithm>

#include "apps/color/host.hpp"
#include "apps/order.hpp"

namespace cohort::apps {

std::optional<std::string> check_color(const Csr& graph, const ColorRule& rule,
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
  std::vector<Node> order = ascending(graph, rule.priority);
  std::vector<std::int64_t> expected(graph.num_nodes(), -1);
  std::vector<std::int64_t> around;
  for (std::size_t i = order.size(); i-- > 0;) {
    const Node node = order[i];
    around.clear();  // colours of neighbours of higher priority, which are coloured already
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
      const std::int64_t its = expected[graph.targets[edge]];
      if (its >= 0) around.push_back(its);
    }
    std::sort(around.begin(), around.end());
    std::int64_t colour = 0;
    for (const std::int64_t its : around) {
      if (rule.choice == ColorRule::Choice::highest || its == colour) colour = its + 1;
    }
    expected[node] = colour;
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
