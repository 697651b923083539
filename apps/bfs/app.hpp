// Breadth-first search as an entry of the registry.
#pragma once

#include "apps/bfs/host.hpp"
#include "apps/outcome.hpp"
#include "apps/source.hpp"

namespace cohort::apps {

template <class Engine>
Outcome bfs_app(Engine& engine, Request& request) {
  BfsOptions how;
  Settings& settings = request.settings;
  how.algorithm =
      static_cast<BfsOptions::Algorithm>(settings.choice("algorithm", {"one-barrier", "paper"}));
  how.direction =
      static_cast<BfsOptions::Direction>(settings.choice("direction", {"auto", "both", "down"}));
  how.slots = settings.choice("lists", {"slots", "shared"}) == 0;
  how.chunk = settings.number("chunk", even_chunk);
  how.solo = settings.number_if_given("solo");
  const SourceChoice chosen{request};
  settings.check_all_used();
  const auto known = known_graph(request.input);
  const Csr& graph = known->csr();
  const Node source = chosen.of(*known);
  tell(*known, how);
  const BfsResult result = run_bfs(engine, graph, source, on(*known, request.options), how);
  return outcome(
      in_words(graph), result.report, request,
      [&] {
        std::int64_t depth = 0;
        std::int64_t reached = 0;
        for (const std::uint32_t level : result.levels) {
          if (level == Levels::unreached) continue;
          ++reached;
          depth = std::max(depth, std::int64_t{level});
        }
        return std::vector<std::pair<std::string, std::int64_t>>{{"depth", depth},
                                                                 {"reached", reached}};
      },
      [&] { return check_bfs(graph, source, result.levels); });
}

extern template Outcome bfs_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
