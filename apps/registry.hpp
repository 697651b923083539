// The apps by name, for callers that do not know their types. An app is a folder and a line in
// apps.def; its `App` names it, reads its options, loads its input, runs and verifies it.
// Invariant: nothing here includes a kernel. Functions that run one are only declared, and compiled
// once for each app and engine, in sources that CMake generates: see instance.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/run.hpp"
#include "apps/settings.hpp"

#define COHORT_APP(app)         \
  namespace cohort::apps::app { \
  struct App;                   \
  }
#include "apps/apps.def"
#undef COHORT_APP

namespace cohort::apps {

/// Results as named numbers.
using Numbers = std::vector<std::pair<std::string, std::int64_t>>;

/// Numbers of one type, one for each node.
struct NodeValues {
  std::string_view element;  ///< uint32, uint64 or float64
  std::span<const std::byte> bytes;
};

/// One run of an app.
struct AppRun {
  Report report;
  /// The results indexed by node, if the app has such results. Valid as long as this function
  /// object.
  std::function<NodeValues()> values;
  /// Both functions are empty if the job did not finish, or if no results were requested.
  std::function<Numbers()> numbers;
  /// Describes the first difference from a sequential computation.
  std::function<std::optional<std::string>()> difference;
};

/// Runs an app.
template <class App, class Engine>
typename App::Result solve(Engine& engine, const App& app, const RunOptions& options);

/// Runs an app whose type is erased.
template <class App, class Engine>
struct Instance {
  static AppRun run(const void* app, Engine& engine, const RunOptions& options);
};

struct AppInfo;

/// An app with its options and its loaded input.
struct Ready {
  const AppInfo* info;
  std::shared_ptr<const void> app;
  std::string input;             ///< a description, e.g. "1000000 nodes, 3996000 edges"
  std::uint32_t threads_per_sm;  ///< recommended number on a GPU
  std::uint64_t edges;           ///< number of edges; 0 if the input is not a graph
};

/// One app.
struct AppInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view options;    ///< help text of the app's own options
  std::string_view algorithm;  ///< name of our algorithm
  std::string_view paper;      ///< options that select the paper's algorithm; empty: none
  std::span<const std::string_view> examples;  ///< inputs to test it on
  /// Options that the app's dialect kernel accepts; empty if the app has no dialect kernel.
  std::optional<std::string_view> dialect_options;
  /// Throws Error{bad_options} for a spec or an option that the app cannot use.
  Ready (*prepare)(const std::string& input, Settings settings);
};

/// The registry's entry of an app.
template <class App>
struct Registered {
  static const AppInfo info;
};

/// All apps, in the order of apps.def.
[[nodiscard]] std::span<const AppInfo> all();
/// The app with that name. Throws Error{bad_options} if there is none.
[[nodiscard]] const AppInfo& find_app(std::string_view name);
/// Splits a text at spaces, e.g. AppInfo::paper.
[[nodiscard]] std::vector<std::string> words(std::string_view text);

/// The app's index in all(), and in every table generated from apps.def.
[[nodiscard]] std::size_t place_in_list(const AppInfo& app);

/// Runs an app once, on an engine for which the apps are built. Throws Error{bad_options} for
/// options that the app does not support there.
template <class Engine>
AppRun run_app(const Ready& ready, Engine& engine, const RunOptions& options) {
  static constexpr std::array instances{
#define COHORT_APP(app) &Instance<app::App, Engine>::run,
#include "apps/apps.def"
#undef COHORT_APP
  };
  return instances[place_in_list(*ready.info)](ready.app.get(), engine, options);
}

/// Outcome of a run.
struct Outcome {
  Report report;
  Numbers result;                ///< empty if there is no result
  std::optional<bool> verified;  ///< empty if not requested, or if there is no result
  std::string difference;        ///< the first difference, if verification failed
};
[[nodiscard]] Outcome outcome(const AppRun& run, bool verify);

}  // namespace cohort::apps
