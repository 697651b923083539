// Shortest paths by pulling, the host side.
#pragma once

#include <algorithm>
#include <optional>

#include "apps/graph_memory.hpp"
#include "apps/known_graph.hpp"
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
  /// longest_path(), if known; else it is looked up.
  std::optional<Distance> longest = {};
};

struct SsspResult {
  std::vector<Distance> distances;  ///< by node; `infinite` where there is no path
  Report report;
};

/// What the search has to know of its graph.
inline void tell(const KnownGraph& graph, PullSsspOptions& how) {
  if (how.algorithm != PullSsspOptions::Algorithm::paper) how.longest = graph.get(&longest_path);
}

namespace detail {

/// Nothing is known yet but where a search starts. The largest `Length` is infinite.
template <class Length, class Engine>
Buffer<Length> distances_from(Engine& engine, Node nodes, Node source) {
  auto distances = engine.template fill<Length>(nodes, static_cast<Length>(infinite));
  distances.write(std::vector{Length{0}}, source);
  return distances;
}

template <class Length>
std::vector<Distance> read_distances(const Buffer<Length>& distances) {
  const std::vector<Length> found = distances.read();
  std::vector<Distance> result(found.begin(), found.end());
  std::ranges::replace(result, Distance{static_cast<Length>(infinite)}, infinite);
  return result;
}

template <class Length, class Engine>
SsspResult run_pull(Engine& engine, const GraphMemory& incoming, Node source,
                    const RunOptions& options, const PullSsspOptions& how) {
  const auto distances = distances_from<Length>(engine, incoming.view().num_nodes(), source);
  const auto flags = engine.template fill<std::uint32_t>(32, 0);
  const PullSssp<Length> kernel{.incoming = incoming.view(),
                                .distance = distances.data(),
                                .flags = flags.data(),
                                .chunk = how.chunk};
  SsspResult result;
  result.report = run(engine, kernel, options);
  if (options.results) result.distances = read_distances(distances);
  return result;
}

template <class Engine>
SsspResult run_paper_pull(Engine& engine, const GraphMemory& incoming, Node source,
                          const RunOptions& options, const PullSsspOptions& how) {
  const Node nodes = incoming.view().num_nodes();
  const auto distances = distances_from<Distance>(engine, nodes, source);
  const auto old = engine.template fill<Distance>(nodes, infinite);
  const auto changed = engine.template fill<std::uint32_t>(1, 0);
  const PaperPullSssp kernel{.incoming = incoming.view(),
                             .x = old.data(),
                             .y = distances.data(),
                             .changed = changed.data(),
                             .chunk = chunk_in_paper(how.chunk)};
  SsspResult result;
  result.report = run(engine, kernel, options);
  if (options.results) result.distances = read_distances(distances);
  return result;
}

}  // namespace detail

/// Distances from `source`; edges of an unweighted graph are 1 long. Complete only when the job has
/// finished. Throws Error{bad_options} when there is no such node.
template <class Engine>
[[nodiscard]] SsspResult run_p_sssp(Engine& engine, const Csr& graph, Node source,
                                    const RunOptions& options = {},
                                    const PullSsspOptions& how = {}) {
  check_source("p-sssp", graph, source);
  const auto incoming = how.incoming == nullptr
                            ? std::make_shared<const GraphMemory>(engine, transpose(graph))
                            : in_memory(engine, *how.incoming, options);
  if (how.algorithm == PullSsspOptions::Algorithm::paper) {
    if constexpr (has_paper_variants<Engine>) {
      return detail::run_paper_pull(engine, *incoming, source, options, how);
    } else {
      refuse_paper_variant();
    }
  }
  return are_short(how.longest ? *how.longest : longest_path(graph))
             ? detail::run_pull<ShortDistance>(engine, *incoming, source, options, how)
             : detail::run_pull<Distance>(engine, *incoming, source, options, how);
}

extern template SsspResult run_p_sssp(cpu::Engine&, const Csr&, Node, const RunOptions&,
                                      const PullSsspOptions&);

}  // namespace cohort::apps
