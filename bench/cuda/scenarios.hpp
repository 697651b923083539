// The scenarios of `cohort bench` on a GPU.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

/// The paper's tasks and a job under the driver's time slicing, for each class of tasks.
[[nodiscard]] nlohmann::ordered_json cuda_time_slicing(const ScenarioOptions& options);

/// Runs a kernel that hangs, for the fairness scenario, in a process of its own.
void cuda_spin_barrier();

/// Runs a kernel next to another one that holds `sms` SMs, and prints whether barriers with a fixed
/// number of blocks finish. Ends by itself.
void cuda_fixed_barrier(std::uint32_t sms);

/// One process of the sharing scenario: does what the JSON text says, and prints JSON.
void cuda_sharing_part(const std::string& part);

}  // namespace cohort::bench
