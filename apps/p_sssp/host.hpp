// Shortest paths by pulling, the host side.
#pragma once

#include "apps/graph_memory.hpp"
#include "apps/p_sssp/p_sssp.hpp"
#include "apps/paths.hpp"
#include "graph/build.hpp"

namespace cohort::apps {

struct PullSsspOptions {
  enum class Algorithm : std::uint8_t { in_place, paper };

  Algorithm algorithm = Algorithm::in_place;
  /// Nodes for each group in a step; 0: all.
  std::uint64_t chunk = even_chunk;
  /// The graph with its edges turned round, if it is at hand; else it is made.
  const Csr* incoming = nullptr;
};

struct SsspResult {
  std::vector<Distance> distances;  ///< by node; `infinite` where there is no path
  Report report;
};

namespace detail {

/// Nothing is known yet but where a search starts. The largest `Length` is infinite.
template <class Length, class Engine>
Buffer<Length> distances_from(Engine& engine, Node nodes, Node source) {
  auto distances = engine.template fill<Length>(nodes, static_cast<Length>(infinite));
  distances.write(std::vector{Length{0}}, source);
  return distances;
}

}  // namespace detail

/// Distances from `source`; edges of an unweighted graph are 1 long. Complete only when the job has
/// finished. Throws Error{bad_options} when there is no such node.
template <class Engine>
[[nodiscard]] SsspResult run_p_sssp(Engine& engine, const Csr& graph, Node source,
                                    const RunOptions& options = {},
                                    const PullSsspOptions& how = {}) {
  check_source("p-sssp", graph, source);
  const Node nodes = graph.num_nodes();
  const auto memory = how.incoming == nullptr
                          ? std::make_shared<const GraphMemory>(engine, transpose(graph))
                          : in_memory(engine, *how.incoming, options);
  const auto distances = detail::distances_from<Distance>(engine, nodes, source);
  const auto flags = engine.template fill<std::uint32_t>(32, 0);
  SsspResult result;
  if (how.algorithm != PullSsspOptions::Algorithm::paper) {
    const PullSssp kernel{.incoming = memory->view(),
                          .distance = distances.data(),
                          .flags = flags.data(),
                          .chunk = how.chunk};
    result.report = run(engine, kernel, options);
  } else if constexpr (has_paper_variants<Engine>) {
    const auto old = engine.template fill<Distance>(nodes, infinite);
    const PaperPullSssp kernel{.incoming = memory->view(),
                               .x = old.data(),
                               .y = distances.data(),
                               .changed = flags.data(),
                               .chunk = chunk_in_paper(how.chunk)};
    result.report = run(engine, kernel, options);
  } else {
    refuse_paper_variant();
  }
  if (options.results) result.distances = distances.read();
  return result;
}

extern template SsspResult run_p_sssp(cpu::Engine&, const Csr&, Node, const RunOptions&,
                                      const PullSsspOptions&);

}  // namespace cohort::apps
