// Shortest paths by pulling, host side.
#pragma once

#include "apps/dialect/host.hpp"
#include "apps/p_sssp/paper.hpp"
#include "apps/paths.hpp"
#include "apps/source.hpp"

namespace cohort::apps {

struct PullSsspOptions {
  enum class Algorithm : std::uint8_t { in_place, paper };

  Algorithm algorithm = Algorithm::in_place;
  /// Nodes per group and step; 0: all.
  std::uint64_t chunk = even_chunk;
  CutSizes sizes = {};
};

namespace p_sssp {

struct App : SsspApp {
  static constexpr std::string_view name = "p-sssp";
  static constexpr std::string_view summary = "shortest paths, pulled over all incoming edges";
  static constexpr std::string_view options = "algorithm=in-place|paper source=NODE|hub chunk=N";
  static constexpr std::string_view algorithm = "in-place";
  PullSsspOptions how = {};

  static App from(const std::string& input, Settings& settings) {
    PullSsspOptions how;
    how.algorithm = static_cast<PullSsspOptions::Algorithm>(
        settings.choice("algorithm", {"in-place", "paper"}));
    how.chunk = settings.number("chunk", even_chunk);
    const SourceChoice chosen{input, settings};
    settings.check_all_used();
    const GraphInput graph = known_graph(input, Edges::weighted);
    return {{{graph}, chosen.of(*graph)}, how};
  }
  /// In this graph, every node with more than two edges is a hub.
  static App tiny() { return {{{tiny_graph()}, 0}, {.sizes = tiny_sizes}}; }

  /// Throws Error{bad_options} if the source is not a node.
  template <class Engine>
  SsspResult run(Engine& engine, const RunOptions& run_options) const {
    check_source(name, graph->csr(), source);
    const CsrView incoming = graph->in_memory(engine, graph->get(&transpose)).view();
    if (how.algorithm == PullSsspOptions::Algorithm::paper) {
      if constexpr (has_paper_variants<Engine>) {
        return run_paper(engine, incoming, run_options);
      } else {
        refuse_paper_variant();
      }
    }
    return are_short(graph->get(&longest_path))
               ? run_in_place<ShortDistance>(engine, incoming, run_options)
               : run_in_place<Distance>(engine, incoming, run_options);
  }

  template <class Engine>
  SsspResult run_dialect(Engine& engine, ProgramKernel kernel,
                         const RunOptions& run_options) const {
    check_source(name, graph->csr(), source);
    const Node nodes = graph->csr().num_nodes();
    const DialectGraph memory{engine, graph->get(&transpose)};
    const auto old = engine.template fill<ShortDistance>(nodes, ~ShortDistance{0});
    const auto found = distances_from<ShortDistance>(engine, nodes, source);
    const auto changed = engine.template fill<std::uint32_t>(1, 0);
    memory.give(kernel, "source");
    memory.give_weights(kernel);
    kernel.set("nodes", nodes).set("x", old.data()).set("y", found.data());
    kernel.set("changed", changed.data());
    const Report report = run_program(engine, kernel, run_options);
    return {read_distances(found), report};
  }

 private:
  template <class Length, class Engine>
  SsspResult run_in_place(Engine& engine, const CsrView& incoming,
                          const RunOptions& run_options) const {
    const auto distances = distances_from<Length>(engine, incoming.num_nodes(), source);
    const auto flags = engine.template fill<std::uint32_t>(TurnFlags::words, 0);
    const CutsMemory cuts{engine,
                          how.sizes == CutSizes{} ? graph->get(&default_incoming_cuts)
                                                  : cut(graph->get(&transpose), how.sizes),
                          incoming.num_nodes(), how.chunk};
    const PullSssp<Length> kernel{.incoming = incoming,
                                  .distance = distances.data(),
                                  .flags = {flags.data()},
                                  .cuts = cuts.view(),
                                  .chunk = how.chunk};
    SsspResult result;
    result.report = apps::run(engine, kernel, run_options);
    if (run_options.results) result.distances = read_distances(distances);
    return result;
  }

  template <class Engine>
  SsspResult run_paper(Engine& engine, const CsrView& incoming,
                       const RunOptions& run_options) const {
    const Node nodes = incoming.num_nodes();
    const auto distances = distances_from<Distance>(engine, nodes, source);
    const auto old = engine.template fill<Distance>(nodes, infinite);
    const auto changed = engine.template fill<std::uint32_t>(1, 0);
    const PaperPullSssp kernel{.incoming = incoming,
                               .x = old.data(),
                               .y = distances.data(),
                               .changed = changed.data(),
                               .chunk = chunk_in_paper(how.chunk)};
    SsspResult result;
    result.report = apps::run(engine, kernel, run_options);
    if (run_options.results) result.distances = read_distances(distances);
    return result;
  }
};

}  // namespace p_sssp

template <class Engine>
[[nodiscard]] SsspResult run_p_sssp(Engine& engine, const Csr& graph, Node source,
                                    const RunOptions& options = {},
                                    const PullSsspOptions& how = {}) {
  return solve(engine, p_sssp::App{{{known_graph(graph)}, source}, how}, options);
}

}  // namespace cohort::apps
