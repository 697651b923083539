// Graph colouring, the host side: run it, and check what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/color/eager.hpp"
#include "apps/ranked.hpp"
#include "apps/registry.hpp"
#include "apps/sweep_memory.hpp"

namespace cohort::apps {

using ColorOptions = RankedOptions;

struct ColorResult {
  std::vector<std::uint32_t> colours;  ///< by node
  Report report;
};

/// Colours an undirected graph: each edge must be there in both directions. The colours are
/// complete only when the job has finished.
template <class Engine>
[[nodiscard]] ColorResult run_color(Engine& engine, const Csr& graph,
                                    const RunOptions& options = {}, const ColorOptions& how = {}) {
  const Node nodes = graph.num_nodes();
  const auto memory = in_memory(engine, graph, options);
  const auto colours = engine.template fill<std::uint32_t>(nodes, std::uint32_t{uncoloured});
  ColorResult result;
  if (how.algorithm != ColorOptions::Algorithm::paper) {
    const SweepMemory sweep{engine, nodes, how.chunk};
    const EagerColor kernel{.graph = memory->view(),
                            .ranking = Ranking{how.priority},
                            .colour_of = colours.data(),
                            .sweep = sweep.view()};
    result.report = run(engine, kernel, options);
  } else if constexpr (has_paper_variants<Engine>) {
    const auto rivals = engine.template fill<Node>(nodes, 0);
    const auto flags = engine.template fill<std::uint32_t>(32, 0);
    const PaperColor kernel{.graph = memory->view(),
                            .ranking = Ranking{how.priority},
                            .colour_of = colours.data(),
                            .rival = rivals.data(),
                            .flags = flags.data(),
                            .chunk = chunk_in_paper(how.chunk)};
    result.report = run(engine, kernel, options);
  } else {
    refuse_paper_variant();
  }
  if (options.results) result.colours = colours.read();
  return result;
}

/// Whether no edge has the same colour at both ends, and every colour is the least that the
/// neighbours of higher priority allow, computed sequentially. The first difference, or nothing.
[[nodiscard]] std::optional<std::string> check_color(const Csr& graph, Priority priority,
                                                     const std::vector<std::uint32_t>& colours);

extern template ColorResult run_color(cpu::Engine&, const Csr&, const RunOptions&,
                                      const ColorOptions&);

}  // namespace cohort::apps
