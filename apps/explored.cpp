#include "apps/explored.hpp"

#include <array>

#include "apps/bfs/bfs.hpp"
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

explore::Result check_bfs_kernel(const explore::Options& options) {
  static const Csr graph = small_graph();
  const std::size_t nodes = graph.num_nodes();
  return explore::check_program(
      [nodes](explore::Engine& engine) {
        const auto levels = engine.fill<std::uint32_t>(nodes, Bfs::unreached);
        const auto frontiers = engine.fill<Node>(3 * nodes, 0);
        const auto counts = engine.fill<std::uint32_t>(3, 0);
        const auto frontier = [&](std::size_t i) {
          return Frontier{frontiers.data() + i * nodes, counts.data() + i};
        };
        const Node source = 0;
        levels.data()[source] = 0;
        frontier(0).push(&source, 1);
        const Job job = engine.launch(Bfs{.graph = graph.view(),
                                          .frontier = {frontier(0), frontier(1), frontier(2)},
                                          .level_of = levels.data()});
        if (job.wait().status != Status::finished) return std::string{};
        return check_bfs(graph, source, levels.read()).value_or(std::string{});
      },
      options);
}

constexpr std::array all_explored{
    Explored{.name = "bfs", .input = "6 nodes, 10 edges", .check = &check_bfs_kernel},
};

}  // namespace

std::span<const Explored> explored() { return all_explored; }

}  // namespace cohort::apps
