// The scenarios of `cohort bench` on a GPU.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json cuda_barrier_scenario(const ScenarioOptions& options);
[[nodiscard]] nlohmann::ordered_json cuda_gather_scenario(const ScenarioOptions& options);
[[nodiscard]] nlohmann::ordered_json cuda_lease_scenario(const ScenarioOptions& options);
[[nodiscard]] nlohmann::ordered_json cuda_fairness_scenario(const ScenarioOptions& options);
[[nodiscard]] nlohmann::ordered_json cuda_overhead_scenario(const ScenarioOptions& options);

/// What the fairness scenario runs in a process of its own: hangs.
void cuda_spin_barrier();

}  // namespace cohort::bench
