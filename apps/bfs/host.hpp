// Breadth-first search, the host side: run it, and check what came out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/bfs/one_barrier.hpp"
#include "apps/known_graph.hpp"
#include "apps/registry.hpp"

namespace cohort::apps {

struct BfsOptions {
  enum class Algorithm : std::uint8_t { one_barrier, paper };
  enum class Direction : std::uint8_t { automatic, both, down };

  Algorithm algorithm = Algorithm::one_barrier;
  /// Of the one-barrier algorithm. Automatic: both for graphs of eight edges a node or more.
  Direction direction = Direction::automatic;
  /// Of the paper's algorithm, for groups of one thread: a part of the list for each.
  bool slots = true;
  /// Nodes for each group in a step; 0: a whole level.
  std::uint64_t chunk = even_chunk;
  /// Levels up to this size are group 0's alone (one-barrier, one direction). Nothing: by local
  /// size.
  std::optional<std::uint32_t> solo = {};
  /// The graph with its edges turned round, if it is at hand; else it is made where it is needed.
  const Csr* incoming = nullptr;
  /// most_edges(), if known; else it is looked up.
  std::optional<std::uint64_t> most_edges = {};
};

/// Whether levels are searched from their own nodes and from those that are not reached yet.
[[nodiscard]] inline bool both_directions(const Csr& graph, const BfsOptions& how) {
  using Direction = BfsOptions::Direction;
  return how.algorithm == BfsOptions::Algorithm::one_barrier &&
         (how.direction == Direction::both ||
          (how.direction == Direction::automatic && has_many_edges(graph)));
}

/// For what degrees the one-barrier search of `graph` is compiled.
template <class Engine>
[[nodiscard]] Degrees degrees_for(const Csr& graph, const RunOptions& options,
                                  const BfsOptions& how) {
  if (both_directions(graph, how)) return Degrees::many;
  // Groups of one thread fetch ahead what they need. They go on with a movable job's lists, though.
  const bool fits = threads_per_group<Engine>(options) > 1 || options.movable;
  const bool few = (how.most_edges ? *how.most_edges : most_edges(graph)) <= most_few_edges &&
                   graph.num_edges() <= FewEdges::most_in_graph;
  return fits && few ? Degrees::few : Degrees::some;
}

/// What the search has to know of its graph.
inline void tell(const KnownGraph& graph, BfsOptions& how) {
  if (both_directions(graph.csr(), how)) {
    how.incoming = graph.get(&is_symmetric) ? &graph.csr() : &graph.get(&transpose);
  } else if (how.algorithm == BfsOptions::Algorithm::one_barrier) {
    how.most_edges = graph.get(&most_edges);
  }
}

struct BfsResult {
  std::vector<std::uint32_t> levels;  ///< by node; Levels::unreached where there is no path
  Report report;
};

namespace detail {

template <class Engine>
Report run_paper_bfs(Engine& engine, const GraphMemory& graph, std::uint32_t* levels, Node source,
                     const RunOptions& options, const BfsOptions& how) {
  const CsrView view = graph.view();
  const WorklistMemory lists[] = {{engine, view.num_nodes(), options, how.slots},
                                  {engine, view.num_nodes(), options, how.slots}};
  lists[0].put(source, 0);
  const PaperBfs kernel{.rounds = {.graph = view,
                                   .lists = {lists[0].view(), lists[1].view()},
                                   .chunk = chunk_in_paper(how.chunk)},
                        .levels = {levels}};
  return run(engine, kernel, options);
}

template <Degrees degrees, class Engine>
Report run_one_barrier_bfs(Engine& engine, const Csr& graph, const GraphMemory& memory,
                           std::uint32_t* levels, Node source, const RunOptions& options,
                           const BfsOptions& how) {
  using Kernel = Bfs<degrees>;
  constexpr bool both = Kernel::both_directions;
  const Node nodes = graph.num_nodes();
  std::shared_ptr<const GraphMemory> incoming;
  if (both && how.incoming == nullptr) {
    incoming = std::make_shared<const GraphMemory>(engine, transpose(graph));
  } else if (both && how.incoming != &graph) {
    incoming = in_memory(engine, *how.incoming, options);
  }

  const auto list = [&] { return WorklistMemory{engine, nodes, options, true}; };
  const WorklistMemory lists[] = {list(), list(), list()};
  const CsrView here = graph.view();
  lists[0].put(Kernel::entry(here, source), here.degree(source));
  const std::size_t words = both ? nodes / 64 + 1 : 0;
  const auto bits = engine.template fill<std::uint64_t>(3 * words, 0);
  const auto plans = engine.template fill<typename Kernel::Plan>(2, {});
  const auto outlooks =
      engine.template fill<typename Kernel::Outlook>(2, {.edges_left = graph.num_edges()});
  const std::uint32_t threads = threads_per_group<Engine>(options);
  const std::uint32_t solo = threads == 1 ? 128 : Kernel::few_edges ? (threads + 1) / 2 : threads;
  const Kernel kernel{
      .graph = memory.view(),
      .incoming = incoming ? incoming->view() : memory.view(),
      .lists = {lists[0].view(), lists[1].view(), lists[2].view()},
      .bits = {bits.data(), bits.data() + words, bits.data() + 2 * words},
      .plans = plans.data(),
      .outlooks = outlooks.data(),
      .levels = {levels},
      .chunk = how.chunk,
      .solo = how.solo.value_or(solo),
  };
  return run(engine, kernel, options);
}

}  // namespace detail

/// Distances from `source`. The levels are complete only when the job has finished. Throws
/// Error{bad_options} when there is no such node.
template <class Engine>
[[nodiscard]] BfsResult run_bfs(Engine& engine, const Csr& graph, Node source,
                                const RunOptions& options = {}, const BfsOptions& how = {}) {
  check_source("bfs", graph, source);
  const auto memory = in_memory(engine, graph, options);
  const auto levels =
      engine.template fill<std::uint32_t>(graph.num_nodes(), std::uint32_t{Levels::unreached});
  levels.write(std::vector{0U}, source);
  BfsResult result;
  if (how.algorithm != BfsOptions::Algorithm::paper) {
    const auto run = [&](auto degrees) {
      return detail::run_one_barrier_bfs<decltype(degrees)::value>(
          engine, graph, *memory, levels.data(), source, options, how);
    };
    switch (degrees_for<Engine>(graph, options, how)) {
      case Degrees::few: result.report = run(Of<Degrees::few>{}); break;
      case Degrees::some: result.report = run(Of<Degrees::some>{}); break;
      case Degrees::many: result.report = run(Of<Degrees::many>{}); break;
    }
  } else if constexpr (has_paper_variants<Engine>) {
    result.report = detail::run_paper_bfs(engine, *memory, levels.data(), source, options, how);
  } else {
    refuse_paper_variant();
  }
  if (options.results) result.levels = levels.read();
  return result;
}

/// Compares with a sequential search that shares no code with the kernels. The first difference in
/// words, or nothing.
[[nodiscard]] std::optional<std::string> check_bfs(const Csr& graph, Node source,
                                                   const std::vector<std::uint32_t>& levels);

extern template BfsResult run_bfs(cpu::Engine&, const Csr&, Node, const RunOptions&,
                                  const BfsOptions&);

}  // namespace cohort::apps
