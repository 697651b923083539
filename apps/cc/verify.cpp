#include "apps/verify.hpp"

#include "apps/cc/host.hpp"

namespace cohort::apps {

std::optional<std::string> check_cc(const Csr& graph, const std::vector<Node>& component) {
  const Node nodes = graph.num_nodes();
  std::vector<std::vector<Node>> neighbours(nodes);  // with both directions of every edge
  for (Node node = 0; node < nodes; ++node) {
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
      neighbours[node].push_back(graph.targets[edge]);
      neighbours[graph.targets[edge]].push_back(node);
    }
  }
  constexpr Node unseen = ~Node{0};
  std::vector<Node> expected(nodes, unseen);
  std::vector<Node> stack;
  for (Node first = 0; first < nodes; ++first) {  // ascending: the first one seen is the least
    if (expected[first] != unseen) continue;
    expected[first] = first;
    stack.push_back(first);
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      for (const Node other : neighbours[node]) {
        if (expected[other] != unseen) continue;
        expected[other] = first;
        stack.push_back(other);
      }
    }
  }
  return first_difference("component", component, expected,
                          [](Node label) { return std::to_string(label); });
}

}  // namespace cohort::apps
