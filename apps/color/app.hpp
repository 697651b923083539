// Graph colouring as an entry of the registry.
#pragma once

#include <algorithm>

#include "apps/color/host.hpp"
#include "apps/known_graph.hpp"
#include "apps/outcome.hpp"

namespace cohort::apps {

template <class Engine>
Outcome color_app(Engine& engine, Request& request) {
  const ColorOptions how = ranked_options(request.settings);
  const auto known = known_graph(request.input, Edges::undirected);
  const Csr& graph = known->csr();
  const ColorResult result = run_color(engine, graph, on(*known, request.options), how);
  return outcome(
      in_words(graph), result.report, request,
      [&] {
        std::int64_t colours = 0;
        for (const std::uint32_t each : result.colours)
          colours = std::max(colours, std::int64_t{each} + 1);
        return std::vector<std::pair<std::string, std::int64_t>>{{"colours", colours}};
      },
      [&] { return check_color(graph, how.priority, result.colours); });
}

extern template Outcome color_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
