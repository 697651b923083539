// The apps on inputs that are small enough to be explored.
#pragma once

#include <span>
#include <string_view>

#include "cohort/explore/options.hpp"

namespace cohort::apps {

/// One app under the explorer.
struct Explored {
  std::string_view name;
  std::string_view input;  ///< in words
  explore::Result (*check)(const explore::Options& options);
};

/// All that can be explored.
[[nodiscard]] std::span<const Explored> explored();

}  // namespace cohort::apps
