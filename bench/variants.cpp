#include "bench/variants.hpp"

#include <future>
#include <map>

#include "apps/bfs/host.hpp"
#include "apps/cc/host.hpp"
#include "apps/color/host.hpp"
#include "apps/game/host.hpp"
#include "apps/inputs.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/mis/host.hpp"
#include "apps/octree/host.hpp"
#include "apps/p_sssp/host.hpp"
#include "apps/paths.hpp"
#ifdef COHORT_WITH_CUDA_APPS
#include "apps/cuda/runs.hpp"
#endif
#include "cohort/cpu.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::bench {
namespace {

using Graph = std::shared_ptr<const apps::KnownGraph>;
using Run = std::function<Report(AnyEngine, const apps::RunOptions&, Checks*)>;

/// An algorithm of an app; `run` for an input that has been loaded.
struct Algorithm {
  const char* name;
  Run run;
};

/// `call(engine, options)` is a run on whichever engine; `check(result)` tells what is wrong.
template <class Call, class Check>
Run on_any_engine(Call call, Check check) {
  return [=](AnyEngine engine, const apps::RunOptions& options, Checks* checks) {
    return std::visit(
        [&](auto its) -> Report {
          auto result = call(its.get(), options);
          Report report = result.report;
          if (checks != nullptr && report.status == Status::finished)
            checks->add([check, result = std::move(result)] { return check(result); });
          return report;
        },
        engine);
  };
}

/// The paper's algorithm of a graph app, and ours.
std::vector<Algorithm> graph_algorithms(const std::string& app, const Graph& graph, Node source,
                                        std::uint64_t chunk) {
  if (app == "color") {
    const auto with = [=](apps::ColorOptions::Algorithm chosen) {
      const apps::ColorOptions how{.algorithm = chosen, .chunk = chunk};
      return on_any_engine(
          [=](auto& engine, auto& options) {
            return apps::run_color(engine, graph->csr(), options, how);
          },
          [=](auto& result) {
            return apps::check_color(graph->csr(), how.priority, result.colours);
          });
    };
    return {{"paper", with(apps::ColorOptions::Algorithm::paper)},
            {"eager", with(apps::ColorOptions::Algorithm::eager)}};
  }
  if (app == "mis") {
    const auto with = [=](apps::MisOptions::Algorithm chosen) {
      const apps::MisOptions how{.algorithm = chosen, .chunk = chunk};
      return on_any_engine(
          [=](auto& engine, auto& options) {
            return apps::run_mis(engine, graph->csr(), options, how);
          },
          [=](auto& result) { return apps::check_mis(graph->csr(), how.priority, result.marks); });
    };
    return {{"paper", with(apps::MisOptions::Algorithm::paper)},
            {"eager", with(apps::MisOptions::Algorithm::eager)}};
  }
  const auto check_paths = [=](auto& result) {
    return apps::check_paths(graph->csr(), source, result.distances);
  };
  if (app == "p-sssp") {
    const auto with = [=](apps::PullSsspOptions::Algorithm chosen) {
      apps::PullSsspOptions how{.algorithm = chosen, .chunk = chunk, .incoming = &graph->csr()};
      apps::tell(*graph, how);
      return on_any_engine(
          [=](auto& engine, auto& options) {
            return apps::run_p_sssp(engine, graph->csr(), source, options, how);
          },
          check_paths);
    };
    return {{"paper", with(apps::PullSsspOptions::Algorithm::paper)},
            {"in-place", with(apps::PullSsspOptions::Algorithm::in_place)}};
  }
  if (app == "bfs") {
    const auto with = [=](apps::BfsOptions::Algorithm chosen) {
      apps::BfsOptions how{.algorithm = chosen};
      how.chunk = chunk;
      apps::tell(*graph, how);
      return on_any_engine(
          [=](auto& engine, auto& options) {
            return apps::run_bfs(engine, graph->csr(), source, options, how);
          },
          [=](auto& result) { return apps::check_bfs(graph->csr(), source, result.levels); });
    };
    return {{"paper", with(apps::BfsOptions::Algorithm::paper)},
            {"one-barrier", with(apps::BfsOptions::Algorithm::one_barrier)}};
  }
  if (app == "cc") {
    return {{"afforest",
             on_any_engine(
                 [=](auto& engine, auto& options) {
                   const apps::CcOptions how{.chunk = chunk, .both_ways = true};
                   return apps::run_cc(engine, graph->csr(), options, how);
                 },
                 [=](auto& result) { return apps::check_cc(graph->csr(), result.component); })}};
  }
  const auto with = [=](apps::ListSsspOptions::Algorithm chosen) {
    apps::ListSsspOptions how{.algorithm = chosen};
    how.chunk = chunk;
    apps::tell(*graph, how);
    return on_any_engine(
        [=](auto& engine, auto& options) {
          return apps::run_l_sssp(engine, graph->csr(), source, options, how);
        },
        check_paths);
  };
  return {{"paper", with(apps::ListSsspOptions::Algorithm::paper)},
          {"delta", with(apps::ListSsspOptions::Algorithm::delta)}};
}

/// The paper's pools and ours, for the apps that steal work.
/// `chunk`: particles of a task; nothing: as the algorithm has it.
std::vector<Algorithm> stealing_algorithms(const std::string& app, const std::string& input,
                                           std::optional<std::uint32_t> chunk) {
  using Kind = apps::PoolOptions::Kind;
  if (app == "octree") {
    const auto count = apps::number_in(input, apps::particles_spec, "the number", 1, 1U << 30U);
    const auto particles = std::make_shared<const std::vector<apps::Particle>>(
        apps::make_particles(static_cast<std::uint32_t>(count)));
    const auto with = [particles, chunk](Kind kind) {
      const apps::OctreeOptions how{.pools = {.kind = kind}, .chunk = chunk};
      return on_any_engine(
          [=](auto& engine, auto& options) {
            return apps::run_octree(engine, *particles, options, how);
          },
          [=](auto& result) { return apps::check_octree(*particles, result, how); });
    };
    return {{"paper", with(Kind::mutex)}, {"deque", with(Kind::deque)}};
  }
  const auto depth = apps::number_in(input, apps::connect4_spec, "the depth", 1, 42);
  // Found when it is first asked for, and once.
  const auto right =
      std::async(std::launch::deferred, [depth] {
        return apps::plain_game(apps::start_board(), static_cast<std::uint32_t>(depth));
      }).share();
  const auto with = [depth, right](Kind kind, std::optional<std::uint32_t> grain) {
    const apps::GameOptions how{
        .pools = {.kind = kind}, .depth = static_cast<std::uint32_t>(depth), .grain = grain};
    return on_any_engine(
        [=](auto& engine, auto& options) {
          return apps::run_game(engine, apps::start_board(), options, how);
        },
        [=](auto& result) { return apps::check_game(right.get(), result); });
  };
  return {{"paper", with(Kind::mutex, 0)}, {"deque", with(Kind::deque, std::nullopt)}};
}

}  // namespace

std::size_t Checks::run() {
  std::vector<std::future<std::optional<std::string>>> differences;
  for (Check& each : all_)
    differences.push_back(std::async(std::launch::async, std::move(each.difference)));
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (const auto difference = differences[i].get())
      throw std::runtime_error{all_[i].whose + ": " + *difference};
  }
  all_.clear();
  return differences.size();
}

std::vector<Variant> variants_of(const std::vector<Pair>& pairs, bool chunked) {
  std::map<std::string, Graph> graphs;  // by spec
  std::vector<Variant> result;
  for (const Pair& pair : pairs) {
    if (pair.chunked && !chunked) continue;
    Graph graph;
    Node source = 0;
    std::vector<Algorithm> algorithms;
    if (pair.style == Style::barriers) {
      graph = graphs[pair.input];
      if (!graph) {
        graph = apps::known_graph(pair.input, apps::Edges::weighted);
        graphs[pair.input] = graph;
      }
      source = kind_of(pair.input) == "rmat" ? graph->get(&hub) : 0;
      algorithms =
          graph_algorithms(pair.app, graph, source, pair.chunked ? 1024 : apps::even_chunk);
    } else {
      algorithms = stealing_algorithms(pair.app, pair.input,
                                       pair.chunked ? std::optional{1U << 14U} : std::nullopt);
    }
    for (Algorithm& each : algorithms) {
      result.push_back({.pair = pair,
                        .algorithm = each.name,
                        .start =
                            [run = std::move(each.run), name = pair.name(), graph](
                                AnyEngine engine, apps::RunOptions options, Checks* checks) {
                              if (graph) options = apps::on(*graph, std::move(options));
                              options.results = checks != nullptr;
                              Report report = run(engine, options, checks);
                              if (report.status != Status::finished)
                                throw std::runtime_error{name + " is " + to_string(report.status)};
                              return report;
                            },
                        .graph = {graph, graph ? &graph->csr() : nullptr},
                        .source = source});
    }
  }
  return result;
}

}  // namespace cohort::bench
