// Priorities of nodes. They are distinct, and the same on every engine.
#pragma once

#include <cstdint>

#include "graph/csr.hpp"

namespace cohort::apps {

/// Hashed priorities give few long rounds; ids give many short ones.
enum class Priority : std::uint8_t { hashed, id };

/// Priorities of nodes. All are distinct: each step of the hash can be undone.
class Ranking {
 public:
  COHORT_FN constexpr explicit Ranking(Priority priority) : priority_(priority) {}

  [[nodiscard]] COHORT_FN constexpr std::uint64_t of(Node node) const {
    return priority_ == Priority::id ? node : splitmix64(node);
  }
  [[nodiscard]] COHORT_FN constexpr bool less(Node a, Node b) const { return of(a) < of(b); }

 private:
  /// The output of SplitMix64 (Steele, Lea and Flood 2014) for this state.
  static COHORT_FN constexpr std::uint64_t splitmix64(std::uint64_t state) {
    std::uint64_t z = state + 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  Priority priority_;
};

}  // namespace cohort::apps
