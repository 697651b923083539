// Scenario "barrier": cost of barriers and offers with no request pending, next to other
// implementations, in one run.
#pragma once

#include <vector>

#include "bench/scenario.hpp"

namespace cohort::bench {

/// A contender's load in one repetition: a batch to warm up, then the measured ones.
struct BarrierLoad {
  std::uint32_t threads = 2;
  bool pinned = false;
  std::uint32_t batches = 20;
  std::uint32_t barriers = 1000;  ///< in a batch
};

/// Nanoseconds per barrier, from the times at the end of the warm-up and of each batch.
[[nodiscard]] std::vector<double> per_barrier(const BarrierLoad& load,
                                              const std::vector<std::uint64_t>& marks);

}  // namespace cohort::bench
