// The scenarios of `cohort bench`. Each is defined by a source of its own and listed in
// scenarios.def.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace cohort::bench {

/// How a scenario is run.
struct ScenarioOptions {
  std::string engine = "cpu";
  std::uint32_t repetitions = 9;
  bool quick = false;  ///< less of everything, to see that it works
  std::stop_token stop = {};
  /// Where the samples of long scenarios are kept as they come; empty: nowhere.
  std::filesystem::path folder = {};
  /// Groups of the experiments' engine. Default: all; of the CPU engine 8 at least.
  std::optional<std::uint32_t> capacity = {};
  /// Only the pairs whose name contains this.
  std::string only = {};
  /// Tasks of the same duration on every share, instead of the same work.
  bool fixed_duration = false;
};

/// What a scenario asks of ScenarioOptions besides.
struct ScenarioAccepts {
  bool capacity = false;  ///< it makes an engine of its own
  bool only = false;      ///< it measures pairs, or ways to share a GPU
};

/// One scenario. A source that defines one is a scenario; scenarios.def lists them.
struct Scenario {
  std::string_view name;
  std::string_view summary;
  /// Measures, prints tables to stdout, and returns what goes into the record.
  nlohmann::ordered_json (*run)(const ScenarioOptions& options);
  ScenarioAccepts accepts = {};
  /// A record at the end; or samples as they come, in ScenarioOptions::folder. Then it can be
  /// stopped and goes on, and its repetitions are rounds.
  enum class Keeps { record, samples } keeps = Keeps::record;
  std::uint32_t quick_repetitions = 3;  ///< unless others are asked for; short runs need many
};

#define COHORT_SCENARIO(engine, name) extern const Scenario name##_scenario;
#include "bench/scenarios.def"
#undef COHORT_SCENARIO

/// A scenario on one of the engines.
struct ListedScenario {
  std::string_view engine;
  const Scenario& scenario;
};

/// All that this build has, the CPU engine's first. Several engines may have one of a name.
[[nodiscard]] std::span<const ListedScenario> scenarios();

}  // namespace cohort::bench
