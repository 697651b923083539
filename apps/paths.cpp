#include "apps/paths.hpp"

#include <algorithm>
#include <queue>

#include "apps/verify.hpp"

namespace cohort::apps {

std::optional<std::string> check_paths(const Csr& graph, Node source,
                                       const std::vector<Distance>& distances) {
  std::vector<Distance> expected(graph.num_nodes(), infinite);
  using Entry = std::pair<std::uint64_t, Node>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const auto reach = [&](Node node, std::uint64_t length) {
    if (length >= expected[node]) return;
    expected[node] = length;
    open.emplace(length, node);
  };
  reach(source, 0);
  while (!open.empty()) {
    const auto [length, node] = open.top();
    open.pop();
    if (length > expected[node]) continue;  // a shorter path was found meanwhile
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge)
      reach(graph.targets[edge], length + (graph.weights.empty() ? 1 : graph.weights[edge]));
  }
  return first_difference("distance", distances, expected, [](Distance length) {
    return length == infinite ? std::string{"none"} : std::to_string(length);
  });
}

Numbers SsspApp::numbers(const SsspResult& result) {
  std::int64_t farthest = 0;
  std::int64_t sum = 0;
  std::int64_t reached = 0;
  for (const Distance each : result.distances) {
    if (each == infinite) continue;
    ++reached;
    sum += static_cast<std::int64_t>(each);
    farthest = std::max(farthest, static_cast<std::int64_t>(each));
  }
  return {{"farthest", farthest}, {"sum", sum}, {"reached", reached}};
}

}  // namespace cohort::apps
