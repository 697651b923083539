// Work of a known length: steps of a chaotic map. Each step needs the previous one.
#pragma once

#include <chrono>
#include <cstdint>

namespace cohort::bench {

/// The result of `steps` steps of the logistic map; no compiler can shorten them.
[[nodiscard]] inline double churn(std::uint64_t steps) {
  double x = 0.3;
  for (std::uint64_t i = 0; i < steps; ++i) x = 3.99 * x * (1.0 - x);
  return x;
}

/// Keeps the compiler from discarding the value.
inline void keep(double value) { asm volatile("" : : "x"(value)); }

/// Number of steps that take `time` on an undisturbed CPU, by the fastest of several trials.
[[nodiscard]] std::uint64_t steps_for(std::chrono::nanoseconds time);

}  // namespace cohort::bench
