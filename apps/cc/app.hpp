// Connected components as an entry of the registry.
#pragma once

#include "apps/cc/host.hpp"
#include "apps/known_graph.hpp"
#include "apps/outcome.hpp"

namespace cohort::apps {

template <class Engine>
Outcome cc_app(Engine& engine, Request& request) {
  CcOptions how;
  how.chunk = request.settings.number("chunk", even_chunk);
  request.settings.check_all_used();
  const auto known = known_graph(request.input);
  const Csr& graph = known->csr();
  how.both_ways = known->get(&is_symmetric);
  const CcResult result = run_cc(engine, graph, on(*known, request.options), how);
  return outcome(
      in_words(graph), result.report, request,
      [&] {
        std::int64_t components = 0;
        for (Node node = 0; node < graph.num_nodes(); ++node)
          components += result.component[node] == node ? 1 : 0;
        return std::vector<std::pair<std::string, std::int64_t>>{{"components", components}};
      },
      [&] { return check_cc(graph, result.component); });
}

extern template Outcome cc_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
