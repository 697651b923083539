// PageRank, host side: run and verification.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "apps/known_graph.hpp"
#include "apps/pagerank/kernel.hpp"
#include "apps/registry.hpp"
#include "graph/build.hpp"

namespace cohort::apps::pagerank {

/// Compares with a power iteration that pushes ranks along the edges and uses the same stopping
/// rule. Describes the first difference, or returns nothing.
[[nodiscard]] std::optional<std::string> check_ranks(const Csr& graph, double tolerance,
                                                     const std::vector<double>& ranks);

/// PageRank of a graph. The ranks are complete only when the job has finished.
struct App : AppOnGraph {
  static constexpr std::string_view name = "pagerank";
  static constexpr std::string_view summary = "PageRank, pulled over incoming edges";
  static constexpr std::string_view options = "digits=N chunk=N";
  static constexpr std::string_view algorithm = "pull";
  static constexpr std::string_view paper = "";
  struct Result {
    std::vector<double> ranks;  ///< indexed by node; 1 on average
    Report report;
  };

  double tolerance;  ///< the run ends when no rank changes by more than this
  std::uint64_t chunk = even_chunk;

  static App from(const std::string& input, Settings& settings) {
    const auto digits = static_cast<double>(settings.number("digits", 6, 0, 9));
    const std::uint64_t chunk = settings.number("chunk", even_chunk);
    settings.check_all_used();
    return {{known_graph(input)}, std::pow(10, -digits), chunk};
  }
  /// The tolerance is so large that the run has few iterations and can be explored.
  static App tiny() { return {{tiny_graph()}, 0.25}; }

  template <class Engine>
  Result run(Engine& engine, const RunOptions& run_options) const {
    const Csr& csr = graph->csr();
    const CsrView view = graph->in_memory(engine).view();
    std::vector<double> first(csr.num_nodes(), 0);
    for (Node node = 0; node < csr.num_nodes(); ++node) {
      if (const std::uint64_t degree = csr.offsets[node + 1] - csr.offsets[node]; degree > 0)
        first[node] = 1 / static_cast<double>(degree);
    }
    const auto ranks = engine.template fill<double>(csr.num_nodes(), 1);
    const Buffer<double> shares[2] = {engine.upload(first),
                                      engine.template fill<double>(csr.num_nodes(), 0)};
    const auto flags = engine.template fill<std::uint32_t>(TurnFlags::words, 0);
    const PageRank kernel{.graph = view,
                          .incoming = graph->get(&is_symmetric)
                                          ? view
                                          : graph->in_memory(engine, graph->get(&transpose)).view(),
                          .rank = ranks.data(),
                          .shares = {shares[0].data(), shares[1].data()},
                          .flags = {flags.data()},
                          .chunk = chunk,
                          .tolerance = tolerance};
    Result result;
    result.report = apps::run(engine, kernel, run_options);
    if (run_options.results) result.ranks = ranks.read();
    return result;
  }

  [[nodiscard]] static const auto& by_node(const Result& result) { return result.ranks; }
  /// The node of the highest rank, and that rank in thousandths of the average.
  [[nodiscard]] static Numbers numbers(const Result& result) {
    const auto top = std::ranges::max_element(result.ranks);
    if (top == result.ranks.end()) return {};
    return {{"top", top - result.ranks.begin()}, {"rank_1000", std::llround(*top * 1000)}};
  }
  [[nodiscard]] std::optional<std::string> difference(const Result& result) const {
    return check_ranks(graph->csr(), tolerance, result.ranks);
  }
};

}  // namespace cohort::apps::pagerank
