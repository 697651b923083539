// Shortest paths with worklists, host side.
#pragma once

#include <algorithm>
#include <cmath>

#include "apps/dialect/host.hpp"
#include "apps/l_sssp/kernel.hpp"
#include "apps/l_sssp/paper.hpp"
#include "apps/paths.hpp"
#include "apps/source.hpp"

namespace cohort::apps {

struct ListSsspOptions {
  enum class Algorithm : std::uint8_t { delta, paper };

  Algorithm algorithm = Algorithm::delta;
  /// For the paper's algorithm with groups of one thread: gives each group its own part of the
  /// list.
  bool slots = true;
  /// Nodes per group and step; 0: a whole list.
  std::uint64_t chunk = even_chunk;
  /// Width of a bucket in delta-stepping. Default: depends on weights, degrees and threads.
  std::optional<Distance> delta = {};
  /// Number of nodes that a group expands from its own queue in a step. Default: 2048; 0 if nodes
  /// have many edges, since the group would expand many of them again.
  std::optional<std::uint32_t> budget = {};
  std::uint32_t piles = 16;  ///< number of buckets with a pile of their own, 1 to 16
};

/// A good bucket width for groups of one thread: large if weights are large and nodes have few
/// edges.
[[nodiscard]] inline Distance fitting_delta(const Csr& graph) {
  if (graph.num_edges() == 0) return 1;
  double weight = 0;
  for (const Weight each : graph.weights) weight += each;
  const auto edges = static_cast<double>(graph.num_edges());
  const double average = graph.weights.empty() ? 1 : weight / edges;
  const double degree = std::max(1.0, edges / graph.num_nodes());
  // Found by experiment: 2 to 4 is best for R-MAT graphs with weights up to 255, and about 8000 for
  // the roads of New York.
  return static_cast<Distance>(std::max(1.0, 96 * average / std::pow(degree, 2.5)));
}

namespace l_sssp {

struct App : SsspApp {
  static constexpr std::string_view name = "l-sssp";
  static constexpr std::string_view summary = "shortest paths with worklists";
  static constexpr std::string_view options =
      "algorithm=delta|paper source=NODE|hub delta=N piles=N budget=N chunk=N lists=slots|shared";
  static constexpr std::string_view algorithm = "delta";
  ListSsspOptions how = {};

  static App from(const std::string& input, Settings& settings) {
    ListSsspOptions how;
    how.algorithm =
        static_cast<ListSsspOptions::Algorithm>(settings.choice("algorithm", {"delta", "paper"}));
    how.slots = settings.choice("lists", {"slots", "shared"}) == 0;
    how.chunk = settings.number("chunk", even_chunk);
    if (const std::uint64_t delta = settings.number("delta", 0); delta != 0) how.delta = delta;
    how.budget = settings.number_if_given("budget");
    how.piles = static_cast<std::uint32_t>(settings.number("piles", how.piles, 1, 16));
    const SourceChoice chosen{input, settings};
    settings.check_all_used();
    const GraphInput graph = known_graph(input, Edges::weighted);
    return {{{graph}, chosen.of(*graph)}, how};
  }
  /// `piles` is so small that some nodes go to the rest pile.
  static App tiny() { return {{{tiny_graph()}, 0}, {.delta = 1, .piles = 2}}; }

  [[nodiscard]] std::uint32_t threads_per_sm() const { return threads_for_search(graph->csr()); }

  /// Throws Error{bad_options} if the source is not a node, or `piles` is out of range.
  template <class Engine>
  SsspResult run(Engine& engine, const RunOptions& run_options) const {
    check_source(name, graph->csr(), source);
    const CsrView view = graph->in_memory(engine).view();
    if (how.algorithm == ListSsspOptions::Algorithm::paper) {
      if constexpr (has_paper_variants<Engine>) {
        return run_paper(engine, view, run_options);
      } else {
        refuse_paper_variant();
      }
    }
    if (how.piles < 1 || how.piles > DeltaSssp<Distance, Degrees::some>::num_piles)
      throw Error{Errc::bad_options, "l-sssp: piles must be from 1 to 16"};
    const bool many_edges = has_many_edges(graph->csr());
    const bool short_paths = are_short(graph->get(&longest_path));
    using Short = ShortDistance;
    if (many_edges) {
      return short_paths ? run_delta<Short, Degrees::many>(engine, view, run_options)
                         : run_delta<Distance, Degrees::many>(engine, view, run_options);
    }
    if (!short_paths) return run_delta<Distance, Degrees::some>(engine, view, run_options);
    const bool few = !run_options.movable && threads_per_group<Engine>(run_options) > 1 &&
                     graph->get(&max_degree) <= most_few_edges;
    return few ? run_delta<Short, Degrees::few>(engine, view, run_options)
               : run_delta<Short, Degrees::some>(engine, view, run_options);
  }

  template <class Engine>
  SsspResult run_dialect(Engine& engine, ProgramKernel kernel,
                         const RunOptions& run_options) const {
    check_source(name, graph->csr(), source);
    const Node nodes = graph->csr().num_nodes();
    const DialectGraph memory{engine, graph->csr()};
    const DialectLists lists{engine, nodes, source};
    const auto found = distances_from<ShortDistance>(engine, nodes, source);
    const auto stamps = engine.template fill<std::uint32_t>(nodes, 0);
    memory.give(kernel, "target");
    memory.give_weights(kernel);
    lists.give(kernel);
    kernel.set("distance", found.data()).set("stamp", stamps.data());
    const Report report = run_program(engine, kernel, run_options);
    return {read_distances(found), report};
  }

 private:
  template <class Engine>
  SsspResult run_paper(Engine& engine, const CsrView& view, const RunOptions& run_options) const {
    const Node nodes = view.num_nodes();
    const auto distances = distances_from<Distance>(engine, nodes, source);
    const WorklistMemory lists[] = {{engine, nodes, run_options, how.slots},
                                    {engine, nodes, run_options, how.slots}};
    lists[0].put(source, 0);
    const auto stamps = engine.template fill<std::uint32_t>(nodes, ~0U);
    const PaperListSssp kernel{.rounds = {.graph = view,
                                          .lists = {lists[0].view(), lists[1].view()},
                                          .chunk = chunk_in_paper(how.chunk)},
                               .distance = distances.data(),
                               .stamp = stamps.data()};
    SsspResult result;
    result.report = apps::run(engine, kernel, run_options);
    if (run_options.results) result.distances = distances.read();
    return result;
  }

  template <class Engine>
  [[nodiscard]] Distance delta(const RunOptions& run_options) const {
    if (how.delta) return *how.delta;
    // A width that is the same on every engine.
    if (run_options.movable) return graph->get(&fitting_delta);
    // Groups of many threads mostly wait, so fewer turns are worth expanding some nodes again. The
    // value was found by experiment on an H200.
    const Distance wider = threads_per_group<Engine>(run_options) == 1 ? 1
                           : has_many_edges(graph->csr())              ? 3
                                                                       : 8;
    return wider * graph->get(&fitting_delta);
  }

  template <class Length, Degrees degrees, class Engine>
  SsspResult run_delta(Engine& engine, const CsrView& view, const RunOptions& run_options) const {
    using Kernel = DeltaSssp<Length, degrees>;
    const Node nodes = view.num_nodes();
    const auto distances = distances_from<Length>(engine, nodes, source);
    const auto least = engine.template fill<Length>(Kernel::words_of_least, Kernel::unreached);
    const auto expanded =
        engine.template fill<Length>(Kernel::few_edges ? 0 : nodes, Kernel::unreached);
    const auto near_stamp = engine.template fill<std::uint32_t>(nodes, ~0U);
    const auto plans = engine.template fill<typename Kernel::Directive>(2, {.end = how.piles});
    Kernel kernel{.graph = view,
                  .near = {},
                  .piles = {},
                  .rest = {},
                  .least = least.data(),
                  .distance = distances.data(),
                  .expanded = expanded.data(),
                  .near_stamp = near_stamp.data(),
                  .plans = plans.data(),
                  .delta = static_cast<Length>(
                      std::min(delta<Engine>(run_options), Distance{Kernel::unreached})),
                  .chunk = how.chunk,
                  .window = how.piles,
                  .budget = how.budget.value_or(Kernel::many_edges ? 0 : 2048)};
    std::vector<WorklistMemory> lists;
    const auto give = [&](auto& some) {
      for (Worklist& each : some)
        each = lists.emplace_back(engine, nodes, run_options, true).view();
    };
    give(kernel.near);
    give(kernel.piles);
    give(kernel.rest);
    lists[0].put(source, 0);

    SsspResult result;
    result.report = apps::run(engine, kernel, run_options);
    if (run_options.results) result.distances = read_distances(distances);
    return result;
  }
};

}  // namespace l_sssp

template <class Engine>
[[nodiscard]] SsspResult run_l_sssp(Engine& engine, const Csr& graph, Node source,
                                    const RunOptions& options = {},
                                    const ListSsspOptions& how = {}) {
  return solve(engine, l_sssp::App{{{known_graph(graph)}, source}, how}, options);
}

}  // namespace cohort::apps
