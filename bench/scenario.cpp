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

std::string engine_in_files(std::string_view engine, std::string_view scheduler) {
  std::string result{engine};
  if (scheduler != "host") result.append(1, '-').append(scheduler);
  return result;
}

}  // namespace cohort::bench
