// What color and mis have in common: they decide the nodes of an undirected graph by priority.
#pragma once

#include "apps/priority.hpp"
#include "apps/settings.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

struct RankedOptions {
  enum class Algorithm : std::uint8_t { eager, paper };
  static constexpr std::string_view in_words = "algorithm=eager|paper priority=hashed|id chunk=N";

  Algorithm algorithm = Algorithm::eager;
  Priority priority = Priority::hashed;
  /// Nodes for each group in a step; 0: all.
  std::uint64_t chunk = even_chunk;
};

/// From an app's own options; there are no others. Throws Error{bad_options}.
[[nodiscard]] inline RankedOptions ranked_options(Settings& settings) {
  using Algorithm = RankedOptions::Algorithm;
  RankedOptions how;
  how.algorithm = static_cast<Algorithm>(settings.choice("algorithm", {"eager", "paper"}));
  how.priority = static_cast<Priority>(settings.choice("priority", {"hashed", "id"}));
  how.chunk = settings.number("chunk", even_chunk);
  settings.check_all_used();
  return how;
}

}  // namespace cohort::apps
