// Priorities of nodes. They are distinct, and the same on every engine.
#pragma once

#include <cstdint>

#include "graph/csr.hpp"

namespace cohort::apps {

/// Hashed priorities lead to few rounds that are long; ids lead to many that are short. By degree,
/// nodes with more edges rank higher, and equal degrees are ordered by a hash.
enum class Priority : std::uint8_t { hashed, id, degree };

/// Priorities of nodes. They are distinct, because each step of the hashes is invertible.
class Ranking {
 public:
  COHORT_FN constexpr Ranking(Priority priority, const CsrView& graph)
      : offsets_(graph.offsets()), priority_(priority) {}

  [[nodiscard]] COHORT_FN constexpr std::uint64_t of(Node node) const {
    if (priority_ == Priority::degree) {
      const std::uint64_t degree = offsets_[node + 1] - offsets_[node];
      return (degree < most_degree ? degree : most_degree) << 32U | mixed(node);
    }
    return priority_ == Priority::id ? node : splitmix64(node);
  }

 private:
  static constexpr std::uint64_t most_degree = 0xFFFF'FFFFU;

  /// The final mix of MurmurHash3 (Appleby 2011) for 32 bits.
  static COHORT_FN constexpr std::uint32_t mixed(std::uint32_t h) {
    h = (h ^ (h >> 16U)) * 0x85EBCA6BU;
    h = (h ^ (h >> 13U)) * 0xC2B2AE35U;
    return h ^ (h >> 16U);
  }
  /// The output of SplitMix64 (Steele, Lea and Flood 2014) for this state.
  static COHORT_FN constexpr std::uint64_t splitmix64(std::uint64_t state) {
    std::uint64_t z = state + 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  const std::uint64_t* offsets_;
  Priority priority_;
};

}  // namespace cohort::apps
