// Scenario "cpu": each graph app beside a plain OpenMP version of the same algorithm, two threads.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json cpu_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
