// Scenario "dialect": a kernel compiled by cohortc beside the same algorithm written by hand, and
// the time cohortc takes beside Clang's own for the same source.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json dialect_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
