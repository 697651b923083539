// Scenario "barrier": what barriers and offers cost while no task asks for groups, compared with
// other implementations in one run.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

/// A contender's load in one repetition: a batch to warm up, then the measured ones.
struct BarrierLoad {
  std::uint32_t threads = 2;
  bool pinned = false;
  std::uint32_t batches = 20;
  std::uint32_t barriers = 1000;  ///< in a batch
};

}  // namespace cohort::bench
