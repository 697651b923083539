// Maximal independent set, the host side: run it, and check what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/mis/eager.hpp"
#include "apps/ranked.hpp"
#include "apps/registry.hpp"
#include "apps/sweep_memory.hpp"

namespace cohort::apps {

using MisOptions = RankedOptions;

struct MisResult {
  std::vector<std::uint32_t> marks;  ///< by node: Mark::in or Mark::out
  Report report;
};

/// A maximal independent set of an undirected graph: each edge must be there in both directions.
/// The marks are complete only when the job has finished.
template <class Engine>
[[nodiscard]] MisResult run_mis(Engine& engine, const Csr& graph, const RunOptions& options = {},
                                const MisOptions& how = {}) {
  const Node nodes = graph.num_nodes();
  const auto memory = in_memory(engine, graph, options);
  const auto marks = engine.template fill<std::uint32_t>(nodes, std::uint32_t{undecided});
  MisResult result;
  if (how.algorithm != MisOptions::Algorithm::paper) {
    const SweepMemory sweep{engine, nodes, how.chunk};
    const EagerMis kernel{.graph = memory->view(),
                          .ranking = Ranking{how.priority},
                          .mark = marks.data(),
                          .sweep = sweep.view()};
    result.report = run(engine, kernel, options);
  } else if constexpr (has_paper_variants<Engine>) {
    const auto rivals = engine.template fill<Node>(nodes, 0);
    const auto stopped = engine.template fill<std::uint32_t>(nodes, 0);
    const auto left = engine.template fill<std::uint32_t>(1, 0);
    const PaperMis kernel{.graph = memory->view(),
                          .ranking = Ranking{how.priority},
                          .mark = marks.data(),
                          .rival = rivals.data(),
                          .stopped = stopped.data(),
                          .undecided_left = left.data(),
                          .chunk = chunk_in_paper(how.chunk)};
    result.report = run(engine, kernel, options);
  } else {
    refuse_paper_variant();
  }
  if (options.results) result.marks = marks.read();
  return result;
}

/// Whether the set is independent, maximal, and that of the sequential greedy algorithm. The first
/// difference in words, or nothing.
[[nodiscard]] std::optional<std::string> check_mis(const Csr& graph, Priority priority,
                                                   const std::vector<std::uint32_t>& marks);

extern template MisResult run_mis(cpu::Engine&, const Csr&, const RunOptions&, const MisOptions&);

}  // namespace cohort::apps
