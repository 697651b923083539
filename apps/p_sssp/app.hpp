// Shortest paths by pulling as an entry of the registry.
#pragma once

#include "apps/outcome.hpp"
#include "apps/p_sssp/host.hpp"
#include "apps/source.hpp"

namespace cohort::apps {

template <class Engine>
Outcome p_sssp_app(Engine& engine, Request& request) {
  PullSsspOptions how;
  Settings& settings = request.settings;
  how.algorithm =
      static_cast<PullSsspOptions::Algorithm>(settings.choice("algorithm", {"in-place", "paper"}));
  how.chunk = settings.number("chunk", even_chunk);
  const SourceChoice chosen{request};
  settings.check_all_used();
  const auto known = known_graph(request.input, Edges::weighted);
  const Csr& graph = known->csr();
  const Node source = chosen.of(*known);
  how.incoming = &known->get(&transpose);
  tell(*known, how);
  const SsspResult result = run_p_sssp(engine, graph, source, on(*known, request.options), how);
  return outcome(
      in_words(graph), result.report, request, [&] { return paths_in_numbers(result.distances); },
      [&] { return check_paths(graph, source, result.distances); });
}

extern template Outcome p_sssp_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
