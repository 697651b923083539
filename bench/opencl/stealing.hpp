// The gather experiment on an OpenCL device: compiler/apps/stealing.cl, with tasks of a known
// length.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/gather.hpp"

namespace cohort::bench {

struct OpenClStealing {
  explicit OpenClStealing(const ScenarioOptions& options);

  nlohmann::ordered_json device;
  std::uint32_t capacity = 0;
  Gatherer gatherer;
};

}  // namespace cohort::bench
