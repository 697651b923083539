// Connected components, the host side: run it, and check what came out.
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "apps/cc/cc.hpp"
#include "apps/graph_memory.hpp"
#include "apps/registry.hpp"
#include "graph/build.hpp"

namespace cohort::apps {

struct CcOptions {
  /// Nodes for each group in a step; 0: all.
  std::uint64_t chunk = even_chunk;
  /// Whether each edge is there in both directions, if known; else it is looked up.
  std::optional<bool> both_ways = {};
};

struct CcResult {
  std::vector<Node> component;  ///< by node: the least node of its component
  Report report;
};

/// The (weakly) connected components. Complete only when the job has finished.
template <class Engine>
[[nodiscard]] CcResult run_cc(Engine& engine, const Csr& graph, const RunOptions& options = {},
                              const CcOptions& how = {}) {
  const auto memory = in_memory(engine, graph, options);
  std::vector<Node> start(graph.num_nodes());
  std::iota(start.begin(), start.end(), Node{0});
  const auto parents = engine.upload(start);
  const auto frequent = engine.template fill<Node>(1, Node{Components::no_node});
  const Components kernel{.graph = memory->view(),
                          .parent = parents.data(),
                          .frequent = frequent.data(),
                          .chunk = how.chunk,
                          .both_ways = how.both_ways ? *how.both_ways : is_symmetric(graph)};
  CcResult result;
  result.report = run(engine, kernel, options);
  if (options.results) result.component = parents.read();
  return result;
}

/// Compares with what a sequential search finds. The first difference in words, or nothing.
[[nodiscard]] std::optional<std::string> check_cc(const Csr& graph,
                                                  const std::vector<Node>& component);

extern template CcResult run_cc(cpu::Engine&, const Csr&, const RunOptions&, const CcOptions&);

}  // namespace cohort::apps
