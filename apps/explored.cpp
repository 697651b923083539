#include "apps/explored.hpp"

#include <array>
#include <optional>

#include "apps/bfs/host.hpp"
#include "cohort/explore.hpp"

namespace cohort::apps {
namespace {

/// A square with a tail, and a node that cannot be reached.
Csr small_graph() {
  Csr graph;
  graph.offsets = {0, 2, 4, 6, 9, 10, 10};
  graph.targets = {1, 2, 0, 3, 0, 3, 1, 2, 4, 3};
  return graph;
}

/// Runs an app's own host side on the explorer: `run(engine, options)` gives its report and what is
/// wrong with its result.
template <class Run>
explore::Result explore_app(const explore::Options& options, Run run) {
  RunOptions how;
  how.launch.local_size = options.local_size;
  return explore::check_program(
      [&](explore::Engine& engine) -> std::string { return run(engine, how).value_or(""); },
      options);
}

explore::Result check_bfs_app(const explore::Options& options) {
  static const Csr graph = small_graph();
  return explore_app(options, [](explore::Engine& engine, const RunOptions& how) {
    // Every group takes part, even in levels as small as these.
    const BfsResult result = run_bfs(engine, graph, 0, how, {.solo = 0});
    return result.report.status == Status::finished ? check_bfs(graph, 0, result.levels)
                                                    : std::optional<std::string>{};
  });
}

constexpr std::array all_explored{
    Explored{.name = "bfs", .input = "6 nodes, 10 edges", .check = &check_bfs_app},
};

}  // namespace

std::span<const Explored> explored() { return all_explored; }

}  // namespace cohort::apps
