// Shortest paths with worklists as an entry of the registry.
#pragma once

#include "apps/l_sssp/host.hpp"
#include "apps/outcome.hpp"
#include "apps/source.hpp"

namespace cohort::apps {

template <class Engine>
Outcome l_sssp_app(Engine& engine, Request& request) {
  ListSsspOptions how;
  Settings& settings = request.settings;
  how.algorithm =
      static_cast<ListSsspOptions::Algorithm>(settings.choice("algorithm", {"delta", "paper"}));
  how.slots = settings.choice("lists", {"slots", "shared"}) == 0;
  how.chunk = settings.number("chunk", even_chunk);
  how.delta = settings.number("delta", 0);
  how.budget = settings.number_if_given("budget");
  how.piles = static_cast<std::uint32_t>(settings.number("piles", how.piles, 1, 16));
  const SourceChoice chosen{request};
  settings.check_all_used();
  const auto known = known_graph(request.input, Edges::weighted);
  const Csr& graph = known->csr();
  const Node source = chosen.of(*known);
  tell(*known, how);
  const SsspResult result = run_l_sssp(engine, graph, source, on(*known, request.options), how);
  return outcome(
      in_words(graph), result.report, request, [&] { return paths_in_numbers(result.distances); },
      [&] { return check_paths(graph, source, result.distances); });
}

extern template Outcome l_sssp_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
