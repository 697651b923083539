// Shortest paths with worklists, the host side.
#pragma once

#include "apps/l_sssp/delta.hpp"
#include "apps/l_sssp/l_sssp.hpp"
#include "apps/p_sssp/host.hpp"

namespace cohort::apps {

struct ListSsspOptions {
  enum class Algorithm : std::uint8_t { delta, paper };

  Algorithm algorithm = Algorithm::delta;
  std::uint64_t chunk = 0;  ///< nodes for each group in a step; 0: a whole list
  Distance delta = 0;       ///< of delta-stepping; 0: by weights and degrees
  /// Nodes of its own that a group goes on with in a step. Nothing: 2048 where nodes have few
  /// edges, none where they have many and going on would visit many of them again.
  std::optional<std::uint32_t> budget = {};
};

/// A delta that does well: large where weights are large and nodes have few edges.
[[nodiscard]] Distance fitting_delta(const Csr& graph);

namespace detail {

template <class Engine>
Report run_delta(Engine& engine, const GraphMemory& memory, Distance* distances, Node source,
                 Distance delta, const RunOptions& options, const ListSsspOptions& how) {
  const std::uint32_t budget =
      how.budget.value_or(memory.num_edges() / 8 >= memory.view().num_nodes() ? 0 : 2048);
  const CsrView graph = memory.view();
  const Node nodes = graph.num_nodes();
  const auto list = [&] { return WorklistMemory{engine, nodes, options, true}; };
  const WorklistMemory lists[] = {list(), list(), list(), list(), list(), list()};
  lists[0].put(source, 0);
  const auto least = engine.template fill<Distance>(24, infinite);
  const auto expanded = engine.template fill<Distance>(nodes, infinite);
  const auto near_stamp = engine.template fill<std::uint32_t>(nodes, ~0U);
  const auto far_stamp = engine.template fill<std::uint32_t>(nodes, 0);
  const auto plans =
      engine.template fill<DeltaSssp::Plan>(2, DeltaSssp::Plan{.threshold = delta, .epoch = 0});
  const DeltaSssp kernel{.graph = graph,
                         .near = {lists[0].view(), lists[1].view(), lists[2].view()},
                         .far = {lists[3].view(), lists[4].view(), lists[5].view()},
                         .least = least.data(),
                         .distance = distances,
                         .expanded = expanded.data(),
                         .near_stamp = near_stamp.data(),
                         .far_stamp = far_stamp.data(),
                         .plans = plans.data(),
                         .delta = delta,
                         .chunk = how.chunk,
                         .budget = budget};
  return run(engine, kernel, options);
}

}  // namespace detail

/// Distances from `source`; edges of an unweighted graph are 1 long. Complete only when the job has
/// finished. Throws Error{bad_options} when there is no such node.
template <class Engine>
[[nodiscard]] SsspResult run_l_sssp(Engine& engine, const Csr& graph, Node source,
                                    const RunOptions& options = {},
                                    const ListSsspOptions& how = {}) {
  check_source("l-sssp", graph, source);
  const Node nodes = graph.num_nodes();
  const GraphMemory memory{engine, graph};
  std::vector<Distance> start(nodes, infinite);
  start[source] = 0;
  const auto distances = engine.upload(start);
  SsspResult result;
  if (how.algorithm == ListSsspOptions::Algorithm::paper) {
    const WorklistMemory lists[] = {{engine, nodes, options, false},
                                    {engine, nodes, options, false}};
    lists[0].put(source, 0);
    const auto stamps = engine.template fill<std::uint32_t>(nodes, ~0U);
    const PaperListSssp kernel{.graph = memory.view(),
                               .lists = {lists[0].view(), lists[1].view()},
                               .distance = distances.data(),
                               .stamp = stamps.data(),
                               .chunk = how.chunk};
    result.report = run(engine, kernel, options);
  } else {
    const Distance delta = how.delta == 0 ? fitting_delta(graph) : how.delta;
    result.report =
        detail::run_delta(engine, memory, distances.data(), source, delta, options, how);
  }
  result.distances = distances.read();
  return result;
}

extern template SsspResult run_l_sssp(cpu::Engine&, const Csr&, Node, const RunOptions&,
                                      const ListSsspOptions&);

}  // namespace cohort::apps
