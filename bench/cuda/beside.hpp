// Apps on a GPU while SMs are requested from them: parts of the scenarios gather and lease.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/scenario.hpp"

namespace cohort::bench {

/// For each app: how long a request for SMs waits after the app's next resizing point.
[[nodiscard]] nlohmann::ordered_json gather_beside_apps(const ScenarioOptions& options);
/// cuBLAS products of a millisecond at 100 Hz, each under a lease while an app runs. Null without
/// cuBLAS.
[[nodiscard]] nlohmann::ordered_json lease_beside_apps(const ScenarioOptions& options);

}  // namespace cohort::bench
