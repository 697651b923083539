// Shared by color and mis. Both decide the nodes of an undirected graph in order of priority.
#pragma once

#include "apps/known_graph.hpp"
#include "apps/priority.hpp"
#include "apps/settings.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

struct RankedOptions {
  enum class Algorithm : std::uint8_t { eager, paper };
  Algorithm algorithm = Algorithm::eager;
  Priority priority = Priority::hashed;
  /// Nodes per group and step; 0: all nodes.
  std::uint64_t chunk = even_chunk;
};

struct RankedApp : AppOnGraph {
  static constexpr std::string_view options = "algorithm=eager|paper priority=hashed|id chunk=N";
  static constexpr std::string_view algorithm = "eager";
  static constexpr std::string_view paper = "algorithm=paper";
  static constexpr std::string_view dialect_options = "";

  RankedOptions how = {};

  static RankedApp from(const std::string& input, Settings& settings) {
    RankedOptions how;
    how.algorithm =
        static_cast<RankedOptions::Algorithm>(settings.choice("algorithm", {"eager", "paper"}));
    how.priority = static_cast<Priority>(settings.choice("priority", {"hashed", "id"}));
    how.chunk = settings.number("chunk", even_chunk);
    settings.check_all_used();
    return {{known_graph(input, Edges::undirected)}, how};
  }
};

}  // namespace cohort::apps
