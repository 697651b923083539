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

/// Options of a scenario's run.
struct ScenarioOptions {
  std::string engine = "cpu";
  std::uint32_t repetitions = 9;
  bool quick = false;  ///< smaller inputs and shorter runs, for a first look
  std::stop_token stop = {};
  /// Folder for the samples of long scenarios; if empty, samples are not stored.
  std::filesystem::path folder = {};
  /// Groups of the engine (default: all; at least 8 on the CPU engine).
  std::optional<std::uint32_t> capacity = {};
  /// Only the pairs whose names contain this text.
  std::string only = {};
  /// Whether tasks have the same duration on every share, instead of the same work.
  bool fixed_duration = false;
  /// EngineSpec::scheduler, for the OpenCL engine.
  std::string scheduler = "host";
  /// Folder for pictures; if empty, none are written.
  std::filesystem::path frames = {};
};

/// The engine's name in names of result files, with its scheduler unless that is the host.
[[nodiscard]] std::string engine_in_files(std::string_view engine, std::string_view scheduler);

/// Which further ScenarioOptions a scenario uses.
struct ScenarioAccepts {
  bool capacity = false;  ///< because it makes an engine of its own
  bool only = false;      ///< because it measures pairs, or ways to share a GPU
  bool frames = false;    ///< because it draws pictures
};

/// One scenario. Defined in a source of its own and listed in scenarios.def.
struct Scenario {
  std::string_view name;
  std::string_view summary;
  /// Measures, prints tables to stdout, and returns the contents of the record.
  nlohmann::ordered_json (*run)(const ScenarioOptions& options);
  ScenarioAccepts accepts = {};
  /// Writes a record at the end, or appends samples to ScenarioOptions::folder. With samples it can
  /// be interrupted and resumed, and its repetitions are rounds.
  enum class Keeps { record, samples } keeps = Keeps::record;
  /// Default with --quick, which needs more repetitions, because its runs are short.
  std::uint32_t quick_repetitions = 3;
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
