#include "bench/variants.hpp"

#include <map>

#include "apps/bfs/host.hpp"
#include "apps/color/host.hpp"
#include "apps/game/host.hpp"
#include "apps/inputs.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/mis/host.hpp"
#include "apps/octree/host.hpp"
#include "apps/p_sssp/host.hpp"
#include "cohort/cpu.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::bench {
namespace {

using Graph = std::shared_ptr<const Csr>;
using Run = std::function<Report(cpu::Engine&, const apps::RunOptions&)>;

/// An algorithm of an app; `run` for an input that has been loaded.
struct Algorithm {
  const char* name;
  Run run;
};

/// The paper's algorithm of a graph app, and ours.
std::vector<Algorithm> graph_algorithms(const std::string& app, const Graph& graph, Node source) {
  if (app == "color") {
    const auto with = [graph](apps::ColorOptions::Algorithm chosen) -> Run {
      return [=](auto& engine, auto& options) {
        return apps::run_color(engine, *graph, options, {.algorithm = chosen}).report;
      };
    };
    return {{"paper", with(apps::ColorOptions::Algorithm::paper)},
            {"eager", with(apps::ColorOptions::Algorithm::eager)}};
  }
  if (app == "mis") {
    const auto with = [graph](apps::MisOptions::Algorithm chosen) -> Run {
      return [=](auto& engine, auto& options) {
        return apps::run_mis(engine, *graph, options, {.algorithm = chosen}).report;
      };
    };
    return {{"paper", with(apps::MisOptions::Algorithm::paper)},
            {"eager", with(apps::MisOptions::Algorithm::eager)}};
  }
  if (app == "p-sssp") {
    const auto with = [=](apps::PullSsspOptions::Algorithm chosen) -> Run {
      return [=](auto& engine, auto& options) {
        const apps::PullSsspOptions how{.algorithm = chosen, .chunk = 0, .incoming = graph.get()};
        return apps::run_p_sssp(engine, *graph, source, options, how).report;
      };
    };
    return {{"paper", with(apps::PullSsspOptions::Algorithm::paper)},
            {"in-place", with(apps::PullSsspOptions::Algorithm::in_place)}};
  }
  if (app == "bfs") {
    const auto with = [=](apps::BfsOptions::Algorithm chosen) -> Run {
      return [=](auto& engine, auto& options) {
        apps::BfsOptions how{.algorithm = chosen};
        how.incoming = graph.get();
        return apps::run_bfs(engine, *graph, source, options, how).report;
      };
    };
    return {{"paper", with(apps::BfsOptions::Algorithm::paper)},
            {"one-barrier", with(apps::BfsOptions::Algorithm::one_barrier)}};
  }
  const auto with = [=](apps::ListSsspOptions::Algorithm chosen) -> Run {
    return [=](auto& engine, auto& options) {
      return apps::run_l_sssp(engine, *graph, source, options, {.algorithm = chosen}).report;
    };
  };
  return {{"paper", with(apps::ListSsspOptions::Algorithm::paper)},
          {"delta", with(apps::ListSsspOptions::Algorithm::delta)}};
}

/// The paper's pools and ours, for the apps that steal work.
std::vector<Algorithm> stealing_algorithms(const std::string& app, const std::string& input) {
  using Kind = apps::PoolOptions::Kind;
  if (app == "octree") {
    const auto count = apps::number_in(input, apps::particles_spec, "the number", 1, 1U << 30U);
    const auto particles = std::make_shared<const std::vector<apps::Particle>>(
        apps::make_particles(static_cast<std::uint32_t>(count)));
    const auto with = [particles](Kind kind) -> Run {
      return [=](auto& engine, auto& options) {
        return apps::run_octree(engine, *particles, options, {.pools = {.kind = kind}}).report;
      };
    };
    return {{"paper", with(Kind::mutex)}, {"deque", with(Kind::deque)}};
  }
  const auto depth = apps::number_in(input, apps::connect4_spec, "the depth", 1, 42);
  const auto with = [depth](Kind kind, std::uint32_t grain) -> Run {
    const apps::GameOptions how{
        .pools = {.kind = kind}, .depth = static_cast<std::uint32_t>(depth), .grain = grain};
    return [=](auto& engine, auto& options) {
      return apps::run_game(engine, apps::start_board(), options, how).report;
    };
  };
  return {{"paper", with(Kind::mutex, 0)}, {"deque", with(Kind::deque, 2)}};
}

}  // namespace

std::vector<Variant> variants_of(const std::vector<Pair>& pairs) {
  std::map<std::string, Graph> graphs;  // by spec
  std::vector<Variant> result;
  for (const Pair& pair : pairs) {
    if (pair.chunked) continue;
    Graph graph;
    Node source = 0;
    std::vector<Algorithm> algorithms;
    if (pair.style == Style::barriers) {
      graph = graphs[pair.input];
      if (!graph) {
        graph = std::make_shared<const Csr>(with_weights(load_graph(pair.input)));
        graphs[pair.input] = graph;
      }
      source = kind_of(pair.input) == "rmat" ? hub(*graph) : 0;
      algorithms = graph_algorithms(pair.app, graph, source);
    } else {
      algorithms = stealing_algorithms(pair.app, pair.input);
    }
    for (Algorithm& each : algorithms) {
      result.push_back(
          {.pair = pair,
           .algorithm = each.name,
           .run =
               [run = std::move(each.run), name = pair.name()](auto& engine, auto& options) {
                 Report report = run(engine, options);
                 if (report.status != Status::finished)
                   throw std::runtime_error{name + " is " + to_string(report.status)};
                 return report;
               },
           .graph = graph,
           .source = source});
    }
  }
  return result;
}

}  // namespace cohort::bench
