// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): random numbers that are the same on every machine,
// as a stream or by index.
#pragma once

#include <cstdint>

#include "cohort/kernel.hpp"

namespace cohort {

/// The output of SplitMix64 for state `x`.
[[nodiscard]] COHORT_FN constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

/// A stream of random numbers. Streams of different seeds and indices are independent.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed, std::uint64_t index = 0)
      : state_(splitmix64(splitmix64(seed) + index)) {}

  constexpr std::uint64_t next() {
    const std::uint64_t result = splitmix64(state_);
    state_ += 0x9E3779B97F4A7C15U;
    return result;
  }
  /// A number from 0 to `bound` - 1. `bound` must be below 2^32.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32U) * bound) >> 32U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace cohort
