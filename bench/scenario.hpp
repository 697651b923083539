// The scenarios of `cohort bench`, by name.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stop_token>
#include <string_view>

namespace cohort::bench {

/// How a scenario is run.
struct ScenarioOptions {
  std::uint32_t repetitions = 9;
  bool quick = false;  ///< less of everything, to see that it works
  std::stop_token stop = {};
};

/// One scenario.
struct Scenario {
  std::string_view name;
  std::string_view summary;
  /// Measures, prints tables to stdout, and returns what goes into the record.
  nlohmann::ordered_json (*run)(const ScenarioOptions& options);
};

/// All scenarios, of the CPU engine.
[[nodiscard]] std::span<const Scenario> scenarios();
/// Those of the CUDA engine; none where this build has none. Some have names of the first.
[[nodiscard]] std::span<const Scenario> cuda_scenarios();

}  // namespace cohort::bench
