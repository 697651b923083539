// Apps on a GPU while others want SMs of them: parts of the scenarios gather and lease.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/scenario.hpp"

namespace cohort::bench {

/// For each app: how long a demand waits, beyond the time to the app's next resizing point.
[[nodiscard]] nlohmann::ordered_json gather_beside_apps(const ScenarioOptions& options);
/// cuBLAS products of a millisecond, a hundred in a second, each under a lease beside an app.
/// Null where there is no cuBLAS.
[[nodiscard]] nlohmann::ordered_json lease_beside_apps(const ScenarioOptions& options);

}  // namespace cohort::bench
