// Shortest paths with worklists, the host side.
#pragma once

#include "apps/known_graph.hpp"
#include "apps/l_sssp/delta.hpp"
#include "apps/l_sssp/l_sssp.hpp"
#include "apps/p_sssp/host.hpp"

namespace cohort::apps {

struct ListSsspOptions {
  enum class Algorithm : std::uint8_t { delta, paper };

  Algorithm algorithm = Algorithm::delta;
  /// Of the paper's algorithm, for groups of one thread: a part of the list for each.
  bool slots = true;
  /// Nodes for each group in a step; 0: a whole list.
  std::uint64_t chunk = even_chunk;
  Distance delta = 0;  ///< of delta-stepping; 0: by weights, degrees and threads
  /// Nodes of its own that a group goes on with in a step. Nothing: 2048 where nodes have few
  /// edges, none where they have many and going on would visit many of them again.
  std::optional<std::uint32_t> budget = {};
  std::uint32_t piles = 16;  ///< buckets that have one, from 1 to 16
  /// fitting_delta(), longest_path() and most_edges(), if known; else they are looked up.
  std::optional<Distance> fitting = {};
  std::optional<Distance> longest = {};
  std::optional<std::uint64_t> most_edges = {};
};

/// A delta that does well for groups of one thread: large where weights are large and nodes have
/// few edges.
[[nodiscard]] Distance fitting_delta(const Csr& graph);

/// What the search has to know of its graph.
inline void tell(const KnownGraph& graph, ListSsspOptions& how) {
  if (how.algorithm == ListSsspOptions::Algorithm::paper) return;
  if (how.delta == 0) how.fitting = graph.get(&fitting_delta);
  how.longest = graph.get(&longest_path);
  if (!has_many_edges(graph.csr())) how.most_edges = graph.get(&most_edges);
}

namespace detail {

template <class Engine>
SsspResult run_paper_l_sssp(Engine& engine, const GraphMemory& memory, Node source,
                            const RunOptions& options, const ListSsspOptions& how) {
  const Node nodes = memory.view().num_nodes();
  const auto distances = distances_from<Distance>(engine, nodes, source);
  const WorklistMemory lists[] = {{engine, nodes, options, how.slots},
                                  {engine, nodes, options, how.slots}};
  lists[0].put(source, 0);
  const auto stamps = engine.template fill<std::uint32_t>(nodes, ~0U);
  const PaperListSssp kernel{.rounds = {.graph = memory.view(),
                                        .lists = {lists[0].view(), lists[1].view()},
                                        .chunk = chunk_in_paper(how.chunk)},
                             .distance = distances.data(),
                             .stamp = stamps.data()};
  SsspResult result;
  result.report = run(engine, kernel, options);
  if (options.results) result.distances = distances.read();
  return result;
}

template <class Length, Degrees degrees, class Engine>
SsspResult run_delta(Engine& engine, const GraphMemory& memory, Node source, Distance delta,
                     const RunOptions& options, const ListSsspOptions& how) {
  using Kernel = DeltaSssp<Length, degrees>;
  const CsrView graph = memory.view();
  const Node nodes = graph.num_nodes();
  const auto distances = distances_from<Length>(engine, nodes, source);
  const auto least = engine.template fill<Length>(48, Kernel::unreached);
  const auto expanded =
      engine.template fill<Length>(Kernel::few_edges ? 0 : nodes, Kernel::unreached);
  const auto near_stamp = engine.template fill<std::uint32_t>(nodes, ~0U);
  const auto plans = engine.template fill<typename Kernel::Plan>(2, {.end = how.piles});
  Kernel kernel{.graph = graph,
                .near = {},
                .piles = {},
                .rest = {},
                .least = least.data(),
                .distance = distances.data(),
                .expanded = expanded.data(),
                .near_stamp = near_stamp.data(),
                .plans = plans.data(),
                .delta = static_cast<Length>(std::min(delta, Distance{Kernel::unreached})),
                .chunk = how.chunk,
                .window = how.piles,
                .budget = how.budget.value_or(Kernel::many_edges ? 0 : 2048)};
  std::vector<WorklistMemory> lists;
  const auto give = [&](auto& some) {
    for (Worklist& each : some) each = lists.emplace_back(engine, nodes, options, true).view();
  };
  give(kernel.near);
  give(kernel.piles);
  give(kernel.rest);
  lists[0].put(source, 0);

  SsspResult result;
  result.report = run(engine, kernel, options);
  if (options.results) result.distances = read_distances(distances);
  return result;
}

}  // namespace detail

/// Distances from `source`; edges of an unweighted graph are 1 long. Complete only when the job has
/// finished. Throws Error{bad_options} when there is no such node, or for a number of piles that
/// cannot be.
template <class Engine>
[[nodiscard]] SsspResult run_l_sssp(Engine& engine, const Csr& graph, Node source,
                                    const RunOptions& options = {},
                                    const ListSsspOptions& how = {}) {
  check_source("l-sssp", graph, source);
  const auto memory = in_memory(engine, graph, options);
  if (how.algorithm == ListSsspOptions::Algorithm::paper) {
    if constexpr (has_paper_variants<Engine>) {
      return detail::run_paper_l_sssp(engine, *memory, source, options, how);
    } else {
      refuse_paper_variant();
    }
  }
  if (how.piles < 1 || how.piles > DeltaSssp<Distance, Degrees::some>::num_piles)
    throw Error{Errc::bad_options, "l-sssp: piles must be from 1 to 16"};
  const bool many_edges = has_many_edges(graph);
  Distance delta = how.delta;
  if (delta == 0) {
    // Groups of many threads wait more than they work: fewer turns are worth visiting some nodes
    // more often. Found by trying, on an H200.
    const Distance wider = threads_per_group<Engine>(options) == 1 ? 1 : many_edges ? 3 : 8;
    delta = wider * (how.fitting ? *how.fitting : fitting_delta(graph));
  }
  const bool short_paths = are_short(how.longest ? *how.longest : longest_path(graph));
  const auto run = [&](auto length, auto degrees) {
    return detail::run_delta<decltype(length), decltype(degrees)::value>(engine, *memory, source,
                                                                         delta, options, how);
  };
  using Short = ShortDistance;
  if (many_edges) {
    return short_paths ? run(Short{}, Of<Degrees::many>{}) : run(Distance{}, Of<Degrees::many>{});
  }
  if (!short_paths) return run(Distance{}, Of<Degrees::some>{});
  const bool few = threads_per_group<Engine>(options) > 1 &&
                   (how.most_edges ? *how.most_edges : most_edges(graph)) <= most_few_edges;
  return few ? run(Short{}, Of<Degrees::few>{}) : run(Short{}, Of<Degrees::some>{});
}

extern template SsspResult run_l_sssp(cpu::Engine&, const Csr&, Node, const RunOptions&,
                                      const ListSsspOptions&);

}  // namespace cohort::apps
