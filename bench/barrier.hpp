// Scenario "barrier": what our barriers and offers cost when nothing is wanted, beside what others
// offer, in one run.
#pragma once

#include <vector>

#include "bench/scenario.hpp"

namespace cohort::bench {

/// What a contender does in one repetition: a batch to warm up, then those that count.
struct BarrierLoad {
  std::uint32_t threads = 2;
  bool pinned = false;
  std::uint32_t batches = 20;
  std::uint32_t barriers = 1000;  ///< in a batch
};

/// From the times at the ends of the warm-up and of each batch to nanoseconds per barrier.
[[nodiscard]] std::vector<double> per_barrier(const BarrierLoad& load,
                                              const std::vector<std::uint64_t>& marks);

}  // namespace cohort::bench
