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
  bool quick = false;  ///< smaller and shorter, for a first look
  std::stop_token stop = {};
  /// Folder for the samples of long scenarios; empty: none.
  std::filesystem::path folder = {};
  /// Groups of the engine (default: all; at least 8 on the CPU engine).
  std::optional<std::uint32_t> capacity = {};
  /// Only the pairs whose name contains this.
  std::string only = {};
  /// Whether tasks have the same duration on every share, instead of the same work.
  bool fixed_duration = false;
};

/// Further ScenarioOptions that a scenario uses.
struct ScenarioAccepts {
  bool capacity = false;  ///< it makes an engine of its own
  bool only = false;      ///< it measures pairs, or ways to share a GPU
};

/// One scenario. Defined in a source of its own and listed in scenarios.def.
struct Scenario {
  std::string_view name;
  std::string_view summary;
  /// Measures, prints tables to stdout, and returns what goes into the record.
  nlohmann::ordered_json (*run)(const ScenarioOptions& options);
  ScenarioAccepts accepts = {};
  /// Writes a record at the end, or appends samples to ScenarioOptions::folder. With samples it can
  /// be interrupted and resumed, and its repetitions are rounds.
  enum class Keeps { record, samples } keeps = Keeps::record;
  std::uint32_t quick_repetitions = 3;  ///< default with --quick; short runs need many
};

#define COHORT_SCENARIO(engine, name) extern const Scenario name##_scenario;
#include "bench/scenarios.def"
#undef COHORT_SCENARIO

/// A scenario on one of the engines.
struct ListedScenario {
  std::string_view engine;
  const Scenario& scenario;
};

/// All scenarios of this build, starting with the CPU engine's. Scenarios of different engines may
/// have the same name.
[[nodiscard]] std::span<const ListedScenario> scenarios();

}  // namespace cohort::bench
