// Scenario "overhead": what the ability to be resized costs apps that nobody resizes (table 2 of
// the paper): the same kernel with as many groups, launched resizable and with cooperation compiled
// out.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json overhead_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
