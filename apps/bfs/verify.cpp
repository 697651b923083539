#include "apps/verify.hpp"

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
  return first_difference("level", levels, expected, [](std::uint32_t level) {
    return level == unseen ? std::string{"none"} : std::to_string(level);
  });
}

}  // namespace cohort::apps
