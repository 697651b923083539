// Graph colouring, host side: run and verification.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "apps/color/kernel.hpp"
#include "apps/dialect/host.hpp"
#include "apps/ranked.hpp"
#include "apps/registry.hpp"
#include "apps/sweep_memory.hpp"

namespace cohort::apps {

using ColorOptions = RankedOptions;

struct ColorResult {
  std::vector<std::uint32_t> colours;  ///< by node
  Report report;
};

/// Checks that no edge has the same colour at both ends, and that every colour is the least that
/// the neighbours of higher priority allow. Returns the first difference, or nothing.
[[nodiscard]] std::optional<std::string> check_color(const Csr& graph, Priority priority,
                                                     const std::vector<std::uint32_t>& colours);

namespace color {

/// Colours an undirected graph: each edge must be there in both directions. The colours are
/// complete only when the job has finished.
struct App : RankedApp {
  static constexpr std::string_view name = "color";
  static constexpr std::string_view summary = "graph colouring by priorities";
  using Result = ColorResult;

  static App from(const std::string& input, Settings& settings) {
    return {RankedApp::from(input, settings)};
  }
  static App tiny() { return {{{tiny_graph()}}}; }

  template <class Engine>
  ColorResult run(Engine& engine, const RunOptions& run_options) const {
    const CsrView view = graph->in_memory(engine).view();
    const Node nodes = view.num_nodes();
    const auto colours = engine.template fill<std::uint32_t>(nodes, std::uint32_t{uncoloured});
    ColorResult result;
    if (how.algorithm != ColorOptions::Algorithm::paper) {
      const SweepMemory sweep{engine, nodes, how.chunk};
      const EagerColor kernel{.graph = view,
                              .ranking = Ranking{how.priority},
                              .colour_of = colours.data(),
                              .sweep = sweep.view()};
      result.report = apps::run(engine, kernel, run_options);
    } else if constexpr (has_paper_variants<Engine>) {
      const auto rivals = engine.template fill<Node>(nodes, 0);
      const auto flags = engine.template fill<std::uint32_t>(TurnFlags::words, 0);
      const PaperColor kernel{.graph = view,
                              .ranking = Ranking{how.priority},
                              .colour_of = colours.data(),
                              .rival = rivals.data(),
                              .flags = {flags.data()},
                              .chunk = chunk_in_paper(how.chunk)};
      result.report = apps::run(engine, kernel, run_options);
    } else {
      refuse_paper_variant();
    }
    if (run_options.results) result.colours = colours.read();
    return result;
  }

  template <class Engine>
  ColorResult run_dialect(Engine& engine, ProgramKernel kernel,
                          const RunOptions& run_options) const {
    const Node nodes = graph->csr().num_nodes();
    const DialectGraph memory{engine, graph->csr()};
    const auto colours = engine.template fill<std::uint32_t>(nodes, std::uint32_t{uncoloured});
    const auto highest = engine.template fill<Node>(nodes, 0);
    const auto more = engine.template fill<std::uint32_t>(2, 0);
    memory.give(kernel, "target");
    kernel.set("nodes", nodes).set("colour", colours.data());
    kernel.set("highest", highest.data()).set("more", more.data());
    const Report report = run_program(engine, kernel, run_options);
    return {colours.read(), report};
  }

  [[nodiscard]] static const auto& by_node(const ColorResult& result) { return result.colours; }
  [[nodiscard]] static Numbers numbers(const ColorResult& result) {
    std::int64_t colours = 0;
    for (const std::uint32_t each : result.colours)
      colours = std::max(colours, std::int64_t{each} + 1);
    return {{"colours", colours}};
  }
  [[nodiscard]] std::optional<std::string> difference(const ColorResult& result) const {
    return check_color(graph->csr(), how.priority, result.colours);
  }
};

}  // namespace color

}  // namespace cohort::apps
