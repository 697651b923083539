// Scenario "gather": how long a demand for workers waits, by kill order, and what yield semantics
// would do instead (appendix B of the paper, "killing order"), in one run.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json gather_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
