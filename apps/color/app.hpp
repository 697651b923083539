// Graph colouring as an entry of the registry.
#pragma once

#include <algorithm>

#include "apps/color/host.hpp"
#include "apps/outcome.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {

template <class Engine>
Outcome color_app(Engine& engine, Request& request) {
  ColorOptions how;
  Settings& settings = request.settings;
  how.algorithm =
      static_cast<ColorOptions::Algorithm>(settings.choice("algorithm", {"eager", "paper"}));
  how.priority = static_cast<Priority>(settings.choice("priority", {"hashed", "id"}));
  how.chunk = settings.number("chunk", 0);
  settings.check_all_used();
  Csr graph = load_graph(request.input);
  if (!is_symmetric(graph)) graph = symmetrise(graph);
  const ColorResult result = run_color(engine, graph, request.options, how);
  return outcome(
      in_words(graph), result.report, request.verify,
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
