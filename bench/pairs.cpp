#include "bench/pairs.hpp"

#include "apps/bfs/host.hpp"
#include "apps/color/host.hpp"
#include "apps/game/host.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/mis/host.hpp"
#include "apps/octree/host.hpp"
#include "apps/p_sssp/host.hpp"
#include "cohort/cpu.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::bench {
namespace {

struct Input {
  std::string name;
  std::shared_ptr<const Csr> graph;
  Node source = 0;
};

/// The graph of that spec, with weights; `otherwise` where there is no such file.
Input load(std::string spec, const std::string& otherwise) {
  if (spec.find(':') == std::string::npos && !find_input(spec)) spec = otherwise;
  auto graph = std::make_shared<const Csr>(with_weights(load_graph(spec)));
  const Node source = spec.starts_with("rmat") ? hub(*graph) : 0;
  return {std::move(spec), std::move(graph), source};
}

class List {
 public:
  void color(const Input& input) {
    using Options = apps::ColorOptions;
    const auto with = [&](const char* algorithm, Options::Algorithm chosen) {
      add("color", algorithm, input, [graph = input.graph, chosen](auto& engine, auto& options) {
        return apps::run_color(engine, *graph, options, {.algorithm = chosen}).report;
      });
    };
    with("paper", Options::Algorithm::paper);
    with("eager", Options::Algorithm::eager);
  }
  void mis(const Input& input) {
    using Options = apps::MisOptions;
    const auto with = [&](const char* algorithm, Options::Algorithm chosen) {
      add("mis", algorithm, input, [graph = input.graph, chosen](auto& engine, auto& options) {
        return apps::run_mis(engine, *graph, options, {.algorithm = chosen}).report;
      });
    };
    with("paper", Options::Algorithm::paper);
    with("eager", Options::Algorithm::eager);
  }
  void p_sssp(const Input& input) {
    using Options = apps::PullSsspOptions;
    const auto with = [&](const char* algorithm, Options::Algorithm chosen) {
      add("p-sssp", algorithm, input, [input, chosen](auto& engine, auto& options) {
        const Options how{.algorithm = chosen, .chunk = 0, .incoming = input.graph.get()};
        return apps::run_p_sssp(engine, *input.graph, input.source, options, how).report;
      });
    };
    with("paper", Options::Algorithm::paper);
    with("in-place", Options::Algorithm::in_place);
  }
  void bfs(const Input& input) {
    using Options = apps::BfsOptions;
    const auto with = [&](const char* algorithm, Options::Algorithm chosen) {
      add("bfs", algorithm, input, [input, chosen](auto& engine, auto& options) {
        Options how{.algorithm = chosen};
        how.incoming = input.graph.get();
        return apps::run_bfs(engine, *input.graph, input.source, options, how).report;
      });
    };
    with("paper", Options::Algorithm::paper);
    with("one-barrier", Options::Algorithm::one_barrier);
  }
  void l_sssp(const Input& input) {
    using Options = apps::ListSsspOptions;
    const auto with = [&](const char* algorithm, Options::Algorithm chosen) {
      add("l-sssp", algorithm, input, [input, chosen](auto& engine, auto& options) {
        const Options how{.algorithm = chosen};
        return apps::run_l_sssp(engine, *input.graph, input.source, options, how).report;
      });
    };
    with("paper", Options::Algorithm::paper);
    with("delta", Options::Algorithm::delta);
  }
  void octree(std::uint32_t count) {
    const auto particles =
        std::make_shared<const std::vector<apps::Particle>>(apps::make_particles(count));
    for (const auto& [algorithm, kind] : pools) {
      add(
          "octree", algorithm, {"particles:" + std::to_string(count), {}},
          [particles, kind = kind](auto& engine, auto& options) {
            return apps::run_octree(engine, *particles, options, {.pools = {.kind = kind}}).report;
          },
          Style::stealing);
    }
  }
  void game(std::uint32_t depth) {
    for (const auto& [algorithm, kind] : pools) {
      const std::uint32_t grain = kind == apps::PoolOptions::Kind::mutex ? 0 : 2;
      add(
          "game", algorithm, {"connect4:" + std::to_string(depth), {}},
          [depth, grain, kind = kind](auto& engine, auto& options) {
            return apps::run_game(engine, apps::start_board(), options,
                                  {.pools = {.kind = kind}, .depth = depth, .grain = grain})
                .report;
          },
          Style::stealing);
    }
  }

  std::vector<Pair> all;

 private:
  static constexpr std::pair<const char*, apps::PoolOptions::Kind> pools[] = {
      {"paper", apps::PoolOptions::Kind::mutex}, {"deque", apps::PoolOptions::Kind::deque}};

  template <class Run>
  void add(const char* app, const char* algorithm, const Input& input, Run run,
           Style style = Style::barriers) {
    all.push_back(
        {.app = app,
         .algorithm = algorithm,
         .input = input.name,
         .style = style,
         .run =
             [run, name = std::string{app}](cpu::Engine& engine, const apps::RunOptions& options) {
               Report report = run(engine, options);
               if (report.status != Status::finished)
                 throw std::runtime_error{name + " is " + to_string(report.status)};
               return report;
             },
         .graph = input.graph,
         .source = input.source});
  }
};

}  // namespace

std::vector<Pair> paper_pairs(bool small) {
  List list;
  const Input ecology = load(small ? "grid:250x250" : "grid:1000x1000", "");
  const Input circuit =
      small ? load("grid:300x200", "") : load("G3_circuit.graph", "grid:1259x1259");
  const Input north_west =
      small ? load("road:30000", "") : load("road-NW.topology.gr", "road:1207945");
  const Input new_york = small ? load("road:20000", "") : load("USA-road-d.NY.gr", "road:264346");
  list.color(ecology);
  list.color(circuit);
  list.mis(ecology);
  list.mis(circuit);
  list.p_sssp(small ? load("road:3000", "") : north_west);
  list.bfs(load(small ? "rmat:14" : "rmat:22", ""));
  list.bfs(north_west);
  list.l_sssp(load(small ? "rmat:13" : "rmat:20", ""));
  list.l_sssp(new_york);
  list.octree(small ? 100'000 : 3'000'000);
  list.game(small ? 5 : 6);
  return list.all;
}

}  // namespace cohort::bench
