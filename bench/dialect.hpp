// Scenario "dialect": the apps compiled by cohortc beside the same algorithms written by hand, and
// the time cohortc takes beside Clang's own for the same source.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json dialect_scenario(const ScenarioOptions& options);
/// The apps on a GPU; where the paper's algorithms are built for it, see COHORT_CUDA_PAPER.
[[nodiscard]] nlohmann::ordered_json cuda_dialect_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
