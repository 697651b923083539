// Connected components, host side: options, run and verification.
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "apps/cc/kernel.hpp"
#include "apps/known_graph.hpp"
#include "apps/registry.hpp"
#include "graph/build.hpp"

namespace cohort::apps {

struct CcOptions {
  /// Nodes per group and step; 0: all.
  std::uint64_t chunk = even_chunk;
  CutSizes sizes = {};
};

struct CcResult {
  std::vector<Node> component;  ///< indexed by node: the least node of its component
  Report report;
};

/// Compares with the result of a sequential search. Describes the first difference, or returns
/// nothing.
[[nodiscard]] std::optional<std::string> check_cc(const Csr& graph,
                                                  const std::vector<Node>& component);

namespace cc {

/// The (weakly) connected components. Complete only when the job has finished.
struct App : AppOnGraph {
  static constexpr std::string_view name = "cc";
  static constexpr std::string_view summary = "connected components by linking trees";
  static constexpr std::string_view options = "chunk=N";
  static constexpr std::string_view algorithm = "afforest";
  static constexpr std::string_view paper = "";
  using Result = CcResult;

  CcOptions how = {};

  static App from(const std::string& input, Settings& settings) {
    const CcOptions how{.chunk = settings.number("chunk", even_chunk)};
    settings.check_all_used();
    return {{known_graph(input)}, how};
  }
  /// In this graph, every node with more than two edges is a hub.
  static App tiny() { return {{tiny_graph()}, {.sizes = tiny_sizes}}; }

  template <class Engine>
  CcResult run(Engine& engine, const RunOptions& run_options) const {
    std::vector<Node> start(graph->csr().num_nodes());
    std::iota(start.begin(), start.end(), Node{0});
    const auto parents = engine.upload(start);
    const auto frequent = engine.template fill<Node>(1, Node{Components::no_node});
    const CutsMemory cuts{engine, cuts_of(*graph, how.sizes), graph->csr().num_nodes(), how.chunk};
    const Components kernel{.graph = graph->in_memory(engine).view(),
                            .parent = parents.data(),
                            .frequent = frequent.data(),
                            .cuts = cuts.view(),
                            .chunk = how.chunk,
                            .both_ways = graph->get(&is_symmetric)};
    CcResult result;
    result.report = apps::run(engine, kernel, run_options);
    if (run_options.results) result.component = parents.read();
    return result;
  }

  [[nodiscard]] static const auto& by_node(const CcResult& result) { return result.component; }
  [[nodiscard]] Numbers numbers(const CcResult& result) const {
    std::int64_t components = 0;
    for (Node node = 0; node < graph->csr().num_nodes(); ++node)
      components += result.component[node] == node ? 1 : 0;
    return {{"components", components}};
  }
  [[nodiscard]] std::optional<std::string> difference(const CcResult& result) const {
    return check_cc(graph->csr(), result.component);
  }
};

}  // namespace cc

}  // namespace cohort::apps
