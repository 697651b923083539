// Scenario "sizing": the paper's section 5.2. How much of the machine does a frame loop need? Found
// from outside: a synthetic kernel takes all groups for t, again and again, and t grows until
// frames are missed.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json sizing_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
