// The apps by name, for whoever runs them without knowing them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apps/run.hpp"

namespace cohort::apps {

/// How a run went.
struct Outcome {
  std::string input;  ///< in words, e.g. "1000000 nodes, 3996000 edges"
  Report report;
  std::optional<bool> verified;  ///< nothing when it was not asked for, or there is no result
  std::string difference;        ///< why it is not verified
};

/// One app.
struct App {
  std::string_view name;
  std::string_view summary;
  /// Runs it on the input that `spec` names. Throws Error{bad_options} for a spec it cannot use.
  Outcome (*run)(cpu::Engine& engine, const std::string& spec, const RunOptions& options,
                 bool verify);
};

/// All apps.
[[nodiscard]] std::span<const App> all();

}  // namespace cohort::apps
