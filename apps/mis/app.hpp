// Maximal independent set as an entry of the registry.
#pragma once

#include <algorithm>

#include "apps/mis/host.hpp"
#include "apps/outcome.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {

template <class Engine>
Outcome mis_app(Engine& engine, Request& request) {
  MisOptions how;
  Settings& settings = request.settings;
  how.algorithm =
      static_cast<MisOptions::Algorithm>(settings.choice("algorithm", {"eager", "paper"}));
  how.priority = static_cast<Priority>(settings.choice("priority", {"hashed", "id"}));
  how.chunk = settings.number("chunk", 0);
  settings.check_all_used();
  Csr graph = load_graph(request.input);
  if (!is_symmetric(graph)) graph = symmetrise(graph);
  const MisResult result = run_mis(engine, graph, request.options, how);
  return outcome(
      in_words(graph), result.report, request.verify,
      [&] {
        const auto size = std::count(result.marks.begin(), result.marks.end(), Mark::in);
        return std::vector<std::pair<std::string, std::int64_t>>{{"size", size}};
      },
      [&] { return check_mis(graph, how.priority, result.marks); });
}

extern template Outcome mis_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
