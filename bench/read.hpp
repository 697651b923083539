// Scenario "read": how fast graph files are read, beside what cannot be avoided: decompressing
// them, and looking at each byte once.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json read_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
