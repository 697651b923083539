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
  std::string input;  ///< a description of the input
  explore::Result (*check)(const explore::Options& options);
};

/// All apps that can be explored.
[[nodiscard]] std::vector<Explored> explored();

/// The entry of one app. See Instance.
template <class App>
struct Explorable {
  static Explored entry();
};

}  // namespace cohort::apps
