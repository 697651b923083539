#include "apps/explored.hpp"

#include <array>
#include <optional>

#include "apps/bfs/host.hpp"
#include "apps/cc/host.hpp"
#include "apps/color/host.hpp"
#include "apps/game/host.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/mis/host.hpp"
#include "apps/octree/host.hpp"
#include "apps/p_sssp/host.hpp"
#include "apps/paths.hpp"
#include "cohort/explore.hpp"

namespace cohort::apps {
namespace {

/// A square with a tail, and a node that cannot be reached. One way round the square is shorter.
const Csr& small_graph() {
  static const Csr graph = [] {
    Csr result;
    result.offsets = {0, 2, 4, 6, 9, 10, 10};
    result.targets = {1, 2, 0, 3, 0, 3, 1, 2, 4, 3};
    result.weights = {5, 1, 5, 1, 1, 2, 1, 2, 1, 1};
    return result;
  }();
  return graph;
}

/// Runs an app's own host side on the explorer: `run(engine, options)` gives its result, and
/// `judge(result)` what is wrong with it. A job that was cancelled has none.
template <class Run, class Judge>
explore::Result explore_app(const explore::Options& options, Run run, Judge judge) {
  RunOptions how;
  how.launch.local_size = options.local_size;
  return explore::check_program(
      [&](explore::Engine& engine) -> std::string {
        const auto result = run(engine, how);
        if (result.report.status != Status::finished) return "";
        return judge(result).value_or("");
      },
      options);
}

explore::Result explore_bfs(const explore::Options& options) {
  return explore_app(
      options,
      [](auto& engine, const RunOptions& how) {
        // Every group takes part, even in levels as small as these.
        return run_bfs(engine, small_graph(), 0, how, {.solo = 0});
      },
      [](const BfsResult& result) { return check_bfs(small_graph(), 0, result.levels); });
}

explore::Result explore_color(const explore::Options& options) {
  return explore_app(
      options,
      [](auto& engine, const RunOptions& how) { return run_color(engine, small_graph(), how); },
      [](const ColorResult& result) {
        return check_color(small_graph(), Priority::hashed, result.colours);
      });
}

explore::Result explore_mis(const explore::Options& options) {
  return explore_app(
      options,
      [](auto& engine, const RunOptions& how) { return run_mis(engine, small_graph(), how); },
      [](const MisResult& result) {
        return check_mis(small_graph(), Priority::hashed, result.marks);
      });
}

explore::Result explore_p_sssp(const explore::Options& options) {
  return explore_app(
      options,
      [](auto& engine, const RunOptions& how) { return run_p_sssp(engine, small_graph(), 0, how); },
      [](const SsspResult& result) { return check_paths(small_graph(), 0, result.distances); });
}

explore::Result explore_l_sssp(const explore::Options& options) {
  return explore_app(
      options,
      [](auto& engine, const RunOptions& how) {
        // So few piles that some nodes go to the rest.
        return run_l_sssp(engine, small_graph(), 0, how, {.delta = 1, .piles = 2});
      },
      [](const SsspResult& result) { return check_paths(small_graph(), 0, result.distances); });
}

explore::Result explore_cc(const explore::Options& options) {
  return explore_app(
      options,
      [](auto& engine, const RunOptions& how) { return run_cc(engine, small_graph(), how); },
      [](const CcResult& result) { return check_cc(small_graph(), result.component); });
}

explore::Result explore_octree(const explore::Options& options) {
  static const std::vector<Particle> particles = make_particles(8);
  static const OctreeOptions shape{.max_leaf = 2};
  return explore_app(
      options,
      [](auto& engine, const RunOptions& how) { return run_octree(engine, particles, how, shape); },
      [](const OctreeResult& result) { return check_octree(particles, result, shape); });
}

explore::Result explore_game(const explore::Options& options) {
  static const GameOptions rules{.depth = 2, .grain = 1};
  return explore_app(
      options,
      [](auto& engine, const RunOptions& how) {
        return run_game(engine, start_board(), how, rules);
      },
      [](const GameResult& result) { return check_game(start_board(), rules.depth, result); });
}

constexpr std::string_view graph_input = "6 nodes, 10 edges";
constexpr std::array all_explored{
    Explored{.name = "bfs", .input = graph_input, .check = &explore_bfs},
    Explored{.name = "color", .input = graph_input, .check = &explore_color},
    Explored{.name = "mis", .input = graph_input, .check = &explore_mis},
    Explored{.name = "p-sssp", .input = graph_input, .check = &explore_p_sssp},
    Explored{.name = "l-sssp", .input = graph_input, .check = &explore_l_sssp},
    Explored{.name = "cc", .input = graph_input, .check = &explore_cc},
    Explored{.name = "octree", .input = "8 particles", .check = &explore_octree},
    Explored{.name = "game", .input = "2 moves ahead", .check = &explore_game},
};

}  // namespace

std::span<const Explored> explored() { return all_explored; }

}  // namespace cohort::apps
