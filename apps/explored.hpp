// The apps under the explorer, each on its tiny() input.
#pragma once

#include <string>
#include <vector>

#include "apps/registry.hpp"
#include "cohort/explore/options.hpp"

namespace cohort::apps {

/// One app under the explorer.
struct Explored {
  std::string_view name;
  std::string input;  ///< in words
  explore::Result (*check)(const explore::Options& options);
};

/// All of them.
[[nodiscard]] std::vector<Explored> explored();

/// One of them. See Instance.
template <class App>
struct Explorable {
  static Explored entry();
};

}  // namespace cohort::apps
