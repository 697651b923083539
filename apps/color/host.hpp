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

/// How the colours of a node's neighbours determine its own.
struct ColorRule {
  enum class Choice : std::uint8_t {
    least,    ///< the least colour that no neighbour of higher priority has
    highest,  ///< the paper's: 1 + the highest colour of a neighbour of higher priority, or 0
  };
  Choice choice = Choice::least;
  Priority priority = Priority::degree;
};

struct ColorResult {
  std::vector<std::uint32_t> colours;  ///< indexed by node
  Report report;
  ColorRule rule;
};

/// Checks that the ends of every edge differ in colour, and that every colour follows the rule.
/// Describes the first difference, or returns nothing.
[[nodiscard]] std::optional<std::string> check_color(const Csr& graph, const ColorRule& rule,
                                                     const std::vector<std::uint32_t>& colours);

namespace color {

/// Colours an undirected graph, in which each edge must exist in both directions. The colours are
/// complete only when the job has finished.
struct App : RankedApp {
  static constexpr std::string_view name = "color";
  static constexpr std::string_view summary = "graph colouring by priorities";
  static constexpr std::string_view options =
      "algorithm=largest-first|paper priority=degree|hashed|id chunk=N";
  static constexpr std::string_view algorithm = "largest-first";
  static constexpr std::string_view dialect_options = "";
  using Result = ColorResult;

  static App from(const std::string& input, Settings& settings) {
    return {RankedApp::from(input, settings, algorithm, Priority::degree)};
  }
  /// In this graph, every node with more than two edges is a hub.
  static App tiny() {
    return {{{tiny_graph()}, {.priority = Priority::degree, .sizes = tiny_sizes}}};
  }

  template <class Engine>
  ColorResult run(Engine& engine, const RunOptions& run_options) const {
    if (how.algorithm != ColorOptions::Algorithm::paper)
      return run_largest_first(engine, run_options);
    if constexpr (has_paper_variants<Engine>) return run_paper(engine, run_options);
    refuse_paper_variant();
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
    return {colours.read(), report, {ColorRule::Choice::highest, Priority::hashed}};
  }

  [[nodiscard]] static const auto& by_node(const ColorResult& result) { return result.colours; }
  [[nodiscard]] static Numbers numbers(const ColorResult& result) {
    std::int64_t colours = 0;
    for (const std::uint32_t each : result.colours)
      colours = std::max(colours, std::int64_t{each} + 1);
    return {{"colours", colours}};
  }
  [[nodiscard]] std::optional<std::string> difference(const ColorResult& result) const {
    return check_color(graph->csr(), result.rule, result.colours);
  }

 private:
  template <class Engine>
  ColorResult run_largest_first(Engine& engine, const RunOptions& run_options) const {
    const CsrView view = graph->in_memory(engine).view();
    const Node nodes = view.num_nodes();
    const auto words = engine.template fill<std::uint64_t>(nodes, ColourWord{}.bits);
    const auto open = engine.template fill<OpenNode>(nodes, OpenNode{});
    const auto lists = memory_for<Node>(engine, graph->csr().num_edges(), run_options);
    const SweepMemory sweep{engine, cuts_of(*graph, how.sizes), nodes, how.chunk};
    const LargestFirst kernel{.graph = view,
                              .ranking = {how.priority, view},
                              .words = words.data(),
                              .open = open.data(),
                              .lists = lists.data(),
                              .sweep = sweep.view(),
                              .num_edges = graph->csr().num_edges(),
                              .longest_list = how.sizes.list};
    ColorResult result{
        .colours = {}, .report = {}, .rule = {ColorRule::Choice::least, how.priority}};
    result.report = apps::run(engine, kernel, run_options);
    if (run_options.results) {
      for (const std::uint64_t bits : words.read()) {
        const ColourWord word{bits};
        result.colours.push_back(word.is_open() ? uncoloured : word.least());
      }
    }
    return result;
  }

  template <class Engine>
  ColorResult run_paper(Engine& engine, const RunOptions& run_options) const {
    const CsrView view = graph->in_memory(engine).view();
    const Node nodes = view.num_nodes();
    const auto colours = engine.template fill<std::uint32_t>(nodes, std::uint32_t{uncoloured});
    const auto rivals = engine.template fill<Node>(nodes, 0);
    const auto flags = engine.template fill<std::uint32_t>(TurnFlags::words, 0);
    const PaperColor kernel{.graph = view,
                            .ranking = {how.priority, view},
                            .colour_of = colours.data(),
                            .rival = rivals.data(),
                            .flags = {flags.data()},
                            .chunk = chunk_in_paper(how.chunk)};
    ColorResult result{
        .colours = {}, .report = {}, .rule = {ColorRule::Choice::highest, how.priority}};
    result.report = apps::run(engine, kernel, run_options);
    if (run_options.results) result.colours = colours.read();
    return result;
  }
};

}  // namespace color

}  // namespace cohort::apps
