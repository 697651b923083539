#include "bench/scenario.hpp"

#include <array>

namespace cohort::bench {

std::span<const ListedScenario> scenarios() {
  static const std::array all{
#define COHORT_SCENARIO(engine, name) ListedScenario{#engine, name##_scenario},
#include "bench/scenarios.def"
#undef COHORT_SCENARIO
  };
  return all;
}

}  // namespace cohort::bench
