// Measures OpenMP's barrier in this process.
#pragma once

#include <vector>

#include "bench/barrier.hpp"

namespace cohort::bench {

/// Nanoseconds per barrier in each batch. OpenMP's threads stay afterwards and may spin, so call it
/// in a process of its own.
[[nodiscard]] std::vector<double> openmp_barrier(const BarrierLoad& load);

}  // namespace cohort::bench
