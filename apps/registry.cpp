#include "apps/registry.hpp"

#include <array>

#include "apps/bfs/host.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {
namespace {

std::string in_words(const Csr& graph) {
  return std::to_string(graph.num_nodes()) + " nodes, " + std::to_string(graph.num_edges()) +
         " edges";
}

Outcome bfs(cpu::Engine& engine, const std::string& spec, const RunOptions& options, bool verify) {
  const Csr graph = load_graph(spec);
  const Node source = 0;
  const BfsResult result = run_bfs(engine, graph, source, options);
  Outcome outcome{
      .input = in_words(graph), .report = result.report, .verified = {}, .difference = {}};
  if (verify && result.report.status == Status::finished) {
    const auto difference = check_bfs(graph, source, result.levels);
    outcome.verified = !difference;
    outcome.difference = difference.value_or("");
  }
  return outcome;
}

constexpr std::array apps{
    App{.name = "bfs",
        .summary = "breadth-first search from node 0, one resizing barrier a level",
        .run = &bfs},
};

}  // namespace

std::span<const App> all() { return apps; }

}  // namespace cohort::apps
