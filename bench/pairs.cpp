#include "bench/pairs.hpp"

#include <algorithm>
#include <array>

#include "apps/registry.hpp"
#include "cohort/error.hpp"
#include "graph/spec.hpp"

namespace cohort::bench {
namespace {

struct Row {
  std::string_view app;
  std::string_view title;     // the input's name in the paper
  std::string_view input;     // our input; a file name is looked up in $COHORT_DATA
  std::string_view fallback;  // the input if there is no such file
  std::string_view quick;
  std::string_view note;  // how `input` differs from the paper's input
  std::string_view settings;
  Style style = Style::barriers;
  bool chunked = false;
  std::string_view on_cpus = "";
};

// clang-format off
constexpr std::array rows{
    Row{"color", "ecology1", "grid:1000x1000", "", "grid:200x200",
        "a five-point grid of the same size", "algorithm=paper"},
    Row{"color", "G3_circuit", "G3_circuit.graph", "grid:1259x1259", "geometric:20000", "", "algorithm=paper"},
    Row{"mis", "ecology1", "grid:1000x1000", "", "grid:200x200",
        "a five-point grid of the same size", "algorithm=paper"},
    Row{"mis", "G3_circuit", "G3_circuit.graph", "grid:1259x1259", "geometric:20000", "", "algorithm=paper"},
    Row{"p-sssp", "USA-road NW", "road-NW.topology.gr", "road:1200000", "road:2000",
        "with made-up weights", "algorithm=paper", Style::barriers, false, "road:60000"},
    Row{"bfs", "rmat", "rmat:22", "", "rmat:17", "seed and degree are not the paper's",
        "algorithm=paper source=hub", Style::barriers, false, "rmat:20"},
    Row{"bfs", "USA-road W", "road-NW.topology.gr", "road:1200000", "road:60000",
        "USA-road NW instead", "algorithm=paper"},
    Row{"l-sssp", "rmat", "rmat:20", "", "rmat:13", "seed and degree are not the paper's",
        "algorithm=paper source=hub", Style::barriers, false, "rmat:18"},
    Row{"l-sssp", "USA-road NY", "USA-road-d.NY.gr", "road:264000", "road:10000", "", "algorithm=paper"},
    Row{"octree", "particles", "particles:3000000", "", "particles:300000", "", "", Style::stealing},
    Row{"game", "connect four", "connect4:6", "", "connect4:6", "", "", Style::stealing},
    Row{"bfs", "rmat", "rmat:22", "", "rmat:15", "steps of at most 4096 nodes a group",
        "algorithm=paper source=hub chunk=4096", Style::barriers, true, "rmat:20"},
};
// clang-format on

bool is_file(std::string_view input) { return input.find(':') == std::string_view::npos; }

}  // namespace

Pairs paper_pairs(bool quick, std::string_view only) {
  Pairs result;
  for (const Row& row : rows) {
    Pair pair{.app = std::string{row.app},
              .input = std::string{quick ? row.quick : row.input},
              .title = std::string{row.title},
              .settings = apps::words(row.settings),
              .style = row.style,
              .note = std::string{row.note},
              .chunked = row.chunked,
              .on_cpus = std::string{quick ? "" : row.on_cpus}};
    if (pair.name().find(only) == std::string::npos) continue;
    if (quick) pair.note = "a small stand-in";
    if (std::ranges::none_of(apps::all(), [&](const auto& app) { return app.name == row.app; })) {
      result.missing.push_back(pair.name() + ": this build has no app '" + pair.app + "'");
      continue;
    }
    if (is_file(pair.input) && !find_input(pair.input)) {
      result.missing.push_back(pair.name() + ": no " + pair.input + " in $COHORT_DATA; " +
                               std::string{row.fallback} + " runs in its place");
      pair.note = "generated: " + pair.input + " was not there";
      pair.input = row.fallback;
    }
    result.runnable.push_back(std::move(pair));
  }
  if (result.runnable.empty()) no_such_pair(only);
  return result;
}

Pairs pairs_on(const AnyEngine& engine, bool quick, std::string_view only) {
  Pairs pairs = paper_pairs(quick, only);
  std::vector<Pair> all = std::move(pairs.runnable);
  pairs.runnable.clear();
  for (Pair& each : all) {
    if (engine.on_cpus() && !each.on_cpus.empty()) {
      each.input = each.on_cpus;
      each.note = "made up, and smaller than the paper's, on which a run takes long on CPUs";
    }
    if (auto own = adapted(std::move(each), engine.kind()))
      pairs.runnable.push_back(*std::move(own));
  }
  return pairs;
}

std::optional<Pair> adapted(Pair pair, const EngineKind& kind) {
  if (kind.name == "cpu") return pair;
  // These apps have only one algorithm: ours on a GPU, the paper's in the dialect.
  std::erase(pair.settings, "algorithm=paper");
  if (kind.name == "opencl" && pair.chunked) return {};
  if (kind.name == "cuda" && pair.name() == "bfs rmat") pair.settings.emplace_back("chunk=0");
  return pair;
}

void no_such_pair(std::string_view only) {
  throw Error{Errc::bad_options,
              "--only '" + std::string{only} + "': no such pair; try bfs, color or octree"};
}

}  // namespace cohort::bench
