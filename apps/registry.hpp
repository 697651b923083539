// The apps by name, for whoever runs them without knowing them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/run.hpp"
#include "apps/settings.hpp"

namespace cohort::cpu {
class Engine;
}

namespace cohort::apps {

/// What to run an app on, and how.
struct Request {
  std::string input;  ///< a spec
  Settings settings;
  RunOptions options;
  bool verify = false;  ///< the results, if they are wanted
};

/// How a run went.
struct Outcome {
  std::string input;  ///< in words, e.g. "1000000 nodes, 3996000 edges"
  Report report;
  /// What came out, in numbers by name; empty when the job was not finished or nobody wants it.
  std::vector<std::pair<std::string, std::int64_t>> result;
  std::optional<bool> verified;  ///< nothing when it was not asked for, or there is no result
  std::string difference;        ///< why it is not verified
};

/// One app.
struct App {
  std::string_view name;
  std::string_view summary;
  std::string_view options;  ///< of its own, in words
  /// Throws Error{bad_options} for a spec or an option it cannot use.
  Outcome (*run)(cpu::Engine& engine, Request& request);
};

/// All apps.
[[nodiscard]] std::span<const App> all();

}  // namespace cohort::apps
