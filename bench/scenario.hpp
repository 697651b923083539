// The scenarios of `cohort bench`, by name.
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

/// One scenario.
struct Scenario {
  std::string_view name;
  std::string_view summary;
  /// Measures, prints tables to stdout, and returns what goes into the record.
  nlohmann::ordered_json (*run)(const ScenarioOptions& options);
  bool paper = false;      ///< an experiment on an engine of its own, with a capacity
  bool resumable = false;  ///< on pairs; keeps its samples in ScenarioOptions::folder as they come
  bool on_pairs = false;   ///< on pairs too: ScenarioOptions::only chooses of them
  std::uint32_t quick_repetitions = 3;  ///< unless others are asked for; short runs need many
};

/// All scenarios, of the CPU engine.
[[nodiscard]] std::span<const Scenario> scenarios();
/// Those of the CUDA engine; none where this build has none. Some have names of the first.
[[nodiscard]] std::span<const Scenario> cuda_scenarios();
/// The same of the OpenCL engine.
[[nodiscard]] std::span<const Scenario> opencl_scenarios();

}  // namespace cohort::bench
