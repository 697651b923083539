// Scales the number of repetitions in tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "sanitizers.hpp"

namespace cohort::test {

inline constexpr bool thread_sanitized = COHORT_THREAD_SANITIZER;
inline constexpr bool sanitized = COHORT_ADDRESS_SANITIZER || thread_sanitized;

/// The value of COHORT_TEST_SCALE, or 1 if it is not set.
inline double scale() {
  static const double factor = [] {
    const char* text = std::getenv("COHORT_TEST_SCALE");  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? 1.0 : std::atof(text);       // NOLINT(cert-err34-c)
  }();
  return factor;
}

/// `count` repetitions, scaled, but at least `least`.
inline std::uint32_t scaled(std::uint32_t count, std::uint32_t least = 1) {
  return std::max(least, static_cast<std::uint32_t>(count * scale()));
}

}  // namespace cohort::test
