#include <algorithm>
#include <queue>

#include "apps/bfs/host.hpp"

namespace cohort::apps {

std::optional<std::string> check_bfs(const Csr& graph, Node source,
                                     const std::vector<std::uint32_t>& levels) {
  constexpr std::uint32_t unseen = ~0U;
  std::vector<std::uint32_t> expected(graph.num_nodes(), unseen);
  std::queue<Node> open;
  expected[source] = 0;
  open.push(source);
  while (!open.empty()) {
    const Node node = open.front();
    open.pop();
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
      const Node next = graph.targets[edge];
      if (expected[next] != unseen) continue;
      expected[next] = expected[node] + 1;
      open.push(next);
    }
  }
  const auto name = [](std::uint32_t level) {
    return level == unseen ? std::string{"none"} : std::to_string(level);
  };
  if (levels.size() != expected.size()) {
    return std::to_string(levels.size()) + " levels for " + std::to_string(expected.size()) +
           " nodes";
  }
  for (std::size_t node = 0; node < expected.size(); ++node) {
    if (levels[node] != expected[node]) {
      return "node " + std::to_string(node) + " has level " + name(levels[node]) + " instead of " +
             name(expected[node]);
    }
  }
  return std::nullopt;
}

}  // namespace cohort::apps
