// Shared by color and mis. Both decide the nodes of an undirected graph in order of priority.
#pragma once

#include "apps/cuts.hpp"
#include "apps/known_graph.hpp"
#include "apps/priority.hpp"
#include "apps/settings.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

struct RankedOptions {
  enum class Algorithm : std::uint8_t { ours, paper };
  Algorithm algorithm = Algorithm::ours;
  Priority priority = Priority::hashed;
  /// Nodes per group and step; 0: all nodes.
  std::uint64_t chunk = even_chunk;
  CutSizes sizes = {};
};

struct RankedApp : AppOnGraph {
  static constexpr std::string_view paper = "algorithm=paper";
  static constexpr std::string_view dialect_options = "";

  RankedOptions how = {};

  /// `ours` is the name of our algorithm, and `usual` its default priority.
  static RankedApp from(const std::string& input, Settings& settings, std::string_view ours,
                        Priority usual) {
    RankedOptions how;
    how.algorithm =
        static_cast<RankedOptions::Algorithm>(settings.choice("algorithm", {ours, "paper"}));
    const bool by_degree =
        usual == Priority::degree && how.algorithm == RankedOptions::Algorithm::ours;
    how.priority =
        by_degree ? static_cast<Priority>(
                        (settings.choice("priority", {"degree", "hashed", "id"}) + 2) % 3)
                  : static_cast<Priority>(settings.choice("priority", {"hashed", "id", "degree"}));
    how.chunk = settings.number("chunk", even_chunk);
    settings.check_all_used();
    return {{known_graph(input, Edges::undirected)}, how};
  }
};

}  // namespace cohort::apps
