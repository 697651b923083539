#include "apps/bfs/bfs.hpp"

#include <queue>

#include "apps/bfs/host.hpp"

namespace cohort::apps {

BfsResult run_bfs(cpu::Engine& engine, const Csr& graph, Node source, const RunOptions& options) {
  const std::size_t nodes = graph.num_nodes();
  if (source >= nodes) {
    throw Error{Errc::bad_options, "bfs: no node " + std::to_string(source) + "; the graph has " +
                                       std::to_string(nodes)};
  }
  struct alignas(64) Count {  // a line each: one is read while another is written
    std::uint32_t nodes = 0;
  } counts[3];
  std::vector<Node> frontiers(3 * nodes);
  const auto frontier = [&](std::size_t i) {
    return Frontier{frontiers.data() + i * nodes, &counts[i].nodes};
  };

  BfsResult result;
  result.levels.assign(nodes, Bfs::unreached);
  result.levels[source] = 0;
  frontier(0).push(&source, 1);
  const Bfs kernel{.graph = graph.view(),
                   .frontier = {frontier(0), frontier(1), frontier(2)},
                   .level_of = result.levels.data()};
  result.report = run(engine, kernel, options);
  return result;
}

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
