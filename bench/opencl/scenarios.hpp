// The scenarios of `cohort bench` on an OpenCL device: the paper's tables 2 and 3, with the apps of
// the dialect.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

[[nodiscard]] nlohmann::ordered_json opencl_overhead_scenario(const ScenarioOptions& options);
[[nodiscard]] nlohmann::ordered_json opencl_multitask_scenario(const ScenarioOptions& options);

}  // namespace cohort::bench
