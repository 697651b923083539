// Scenario "barrier": the cost of barriers and offers while no task asks for groups, compared with
// other implementations in one run.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

/// A contender's load in one repetition: one batch to warm up, then the measured batches.
struct BarrierLoad {
  std::uint32_t threads = 2;
  bool pinned = false;
  std::uint32_t batches = 20;
  std::uint32_t barriers = 1000;  ///< number of barriers in a batch
};

}  // namespace cohort::bench
