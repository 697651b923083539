#include "apps/cc/host.hpp"

namespace cohort::apps {

std::optional<std::string> check_cc(const Csr& graph, const std::vector<Node>& component) {
  const Node nodes = graph.num_nodes();
  if (component.size() != nodes) {
    return std::to_string(component.size()) + " labels for " + std::to_string(nodes) + " nodes";
  }
  std::vector<std::vector<Node>> beside(nodes);  // both ways
  for (Node node = 0; node < nodes; ++node) {
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
      beside[node].push_back(graph.targets[edge]);
      beside[graph.targets[edge]].push_back(node);
    }
  }
  std::vector<bool> seen(nodes, false);
  std::vector<Node> stack;
  for (Node first = 0; first < nodes; ++first) {  // ascending: the first one seen is the least
    if (seen[first]) continue;
    seen[first] = true;
    stack.push_back(first);
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      if (component[node] != first) {
        return "node " + std::to_string(node) + " is in component " +
               std::to_string(component[node]) + " instead of " + std::to_string(first);
      }
      for (const Node other : beside[node]) {
        if (seen[other]) continue;
        seen[other] = true;
        stack.push_back(other);
      }
    }
  }
  return std::nullopt;
}

}  // namespace cohort::apps
