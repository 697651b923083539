// Maximal independent set, host side: run and verification.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "apps/dialect/host.hpp"
#include "apps/mis/kernel.hpp"
#include "apps/ranked.hpp"
#include "apps/registry.hpp"
#include "apps/sweep_memory.hpp"

namespace cohort::apps {

using MisOptions = RankedOptions;

struct MisResult {
  std::vector<std::uint32_t> marks;  ///< indexed by node: Mark::in or Mark::out
  Report report;
};

/// Checks that the set is independent and maximal, and equals the result of the sequential greedy
/// algorithm. Describes the first difference, or returns nothing.
[[nodiscard]] std::optional<std::string> check_mis(const Csr& graph, Priority priority,
                                                   const std::vector<std::uint32_t>& marks);

namespace mis {

/// A maximal independent set of an undirected graph, in which each edge must exist in both
/// directions. The marks are complete only when the job has finished.
struct App : RankedApp {
  static constexpr std::string_view name = "mis";
  static constexpr std::string_view summary = "maximal independent set by priorities";
  static constexpr std::string_view options =
      "algorithm=eager|paper priority=hashed|id|degree chunk=N";
  static constexpr std::string_view algorithm = "eager";
  static constexpr std::string_view dialect_options = "";
  using Result = MisResult;

  static App from(const std::string& input, Settings& settings) {
    return {RankedApp::from(input, settings, algorithm, Priority::hashed)};
  }
  /// In this graph, every node with more than two edges is a hub.
  static App tiny() { return {{{tiny_graph()}, {.sizes = tiny_sizes}}}; }

  template <class Engine>
  MisResult run(Engine& engine, const RunOptions& run_options) const {
    const CsrView view = graph->in_memory(engine).view();
    const Node nodes = view.num_nodes();
    const auto marks = engine.template fill<std::uint32_t>(nodes, std::uint32_t{undecided});
    MisResult result;
    if (how.algorithm != MisOptions::Algorithm::paper) {
      const HostCuts cuts = cuts_of(*graph, how.sizes);
      const SweepMemory sweep{engine, cuts, nodes, how.chunk};
      const auto settled = engine.template fill<std::uint32_t>(cuts.pieces.size(), 0);
      const auto pending = engine.upload(pieces_of_hubs(cuts));
      const EagerMis kernel{.graph = view,
                            .ranking = {how.priority, view},
                            .mark = marks.data(),
                            .settled = settled.data(),
                            .pending = pending.data(),
                            .num_hubs = static_cast<std::uint32_t>(pending.size()),
                            .sweep = sweep.view()};
      result.report = apps::run(engine, kernel, run_options);
    } else if constexpr (has_paper_variants<Engine>) {
      const auto rivals = engine.template fill<Node>(nodes, 0);
      const auto stopped = engine.template fill<std::uint32_t>(nodes, 0);
      const auto left = engine.template fill<std::uint32_t>(1, 0);
      const PaperMis kernel{.graph = view,
                            .ranking = {how.priority, view},
                            .mark = marks.data(),
                            .rival = rivals.data(),
                            .stopped = stopped.data(),
                            .undecided_left = left.data(),
                            .chunk = chunk_in_paper(how.chunk)};
      result.report = apps::run(engine, kernel, run_options);
    } else {
      refuse_paper_variant();
    }
    if (run_options.results) result.marks = marks.read();
    return result;
  }

  template <class Engine>
  MisResult run_dialect(Engine& engine, ProgramKernel kernel, const RunOptions& run_options) const {
    const Node nodes = graph->csr().num_nodes();
    const DialectGraph memory{engine, graph->csr()};
    const auto marks = engine.template fill<std::uint32_t>(nodes, std::uint32_t{undecided});
    const auto lowest = engine.template fill<Node>(nodes, 0);
    const auto drop = engine.template fill<std::uint32_t>(nodes, 0);
    const auto left = engine.template fill<std::uint32_t>(1, 0);
    memory.give(kernel, "target");
    kernel.set("nodes", nodes).set("mark", marks.data()).set("lowest", lowest.data());
    kernel.set("drop", drop.data()).set("undecided_left", left.data());
    const Report report = run_program(engine, kernel, run_options);
    return {marks.read(), report};
  }

  [[nodiscard]] static const auto& by_node(const MisResult& result) { return result.marks; }
  [[nodiscard]] static Numbers numbers(const MisResult& result) {
    return {{"size", std::count(result.marks.begin(), result.marks.end(), Mark::in)}};
  }
  [[nodiscard]] std::optional<std::string> difference(const MisResult& result) const {
    return check_mis(graph->csr(), how.priority, result.marks);
  }
};

}  // namespace mis

}  // namespace cohort::apps
