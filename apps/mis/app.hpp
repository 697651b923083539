// Maximal independent set as an entry of the registry.
#pragma once

#include <algorithm>

#include "apps/known_graph.hpp"
#include "apps/mis/host.hpp"
#include "apps/outcome.hpp"

namespace cohort::apps {

template <class Engine>
Outcome mis_app(Engine& engine, Request& request) {
  const MisOptions how = ranked_options(request.settings);
  const auto known = known_graph(request.input, Edges::undirected);
  const Csr& graph = known->csr();
  const MisResult result = run_mis(engine, graph, on(*known, request.options), how);
  return outcome(
      in_words(graph), result.report, request,
      [&] {
        const auto size = std::count(result.marks.begin(), result.marks.end(), Mark::in);
        return std::vector<std::pair<std::string, std::int64_t>>{{"size", size}};
      },
      [&] { return check_mis(graph, how.priority, result.marks); });
}

extern template Outcome mis_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
