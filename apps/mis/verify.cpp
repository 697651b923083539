#include "apps/mis/host.hpp"
#include "apps/order.hpp"

namespace cohort::apps {

std::optional<std::string> check_mis(const Csr& graph, Priority priority,
                                     const std::vector<std::uint32_t>& marks) {
  if (marks.size() != graph.num_nodes()) {
    return std::to_string(marks.size()) + " marks for " + std::to_string(graph.num_nodes()) +
           " nodes";
  }
  constexpr std::uint32_t member = 1;
  constexpr std::uint32_t outside = 2;
  const auto has_member_neighbour = [&](Node node) {
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
      const Node other = graph.targets[edge];
      if (other != node && marks[other] == member) return true;
    }
    return false;
  };
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    if (marks[node] != member && marks[node] != outside)
      return "node " + std::to_string(node) + " is undecided";
    if ((marks[node] == member) == has_member_neighbour(node)) {
      return "node " + std::to_string(node) +
             (marks[node] == member ? " is in the set, and so is a neighbour"
                                    : " is not in the set, and no neighbour is");
    }
  }
  std::vector<bool> covered(graph.num_nodes(), false);
  std::vector<bool> chosen(graph.num_nodes(), false);
  for (const Node node : ascending(graph, priority)) {
    if (covered[node]) continue;
    chosen[node] = true;
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge)
      covered[graph.targets[edge]] = true;
  }
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    if (chosen[node] != (marks[node] == member)) {
      return "node " + std::to_string(node) + " should" + (chosen[node] ? "" : " not") +
             " be in the set";
    }
  }
  return std::nullopt;
}

}  // namespace cohort::apps
