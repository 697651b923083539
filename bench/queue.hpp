// Scenario "queue": what a submit costs behind many waiting tasks, and while a large checkpoint is
// written.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json queue_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
