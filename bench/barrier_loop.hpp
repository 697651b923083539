// The kernel that measures barriers, on every engine. It is not in barrier.hpp, because nvcc would
// then have to read that header's JSON library.
#pragma once

#include <cstdint>
#include <vector>

#include "cohort/kernel.hpp"

namespace cohort::bench {

/// All groups meet in barriers; the first thread reads the clock after each batch.
template <bool resizing, class Clock>
struct BarrierLoop {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};

  std::uint32_t barriers;
  std::uint32_t batches;
  std::uint64_t* marks;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    for (std::uint32_t batch = 0; batch <= batches; ++batch) {
      for (std::uint32_t i = 0; i < barriers; ++i) {
        if constexpr (resizing) {
          if (group.resizing_global_barrier(state)) return;
        } else {
          group.global_barrier();
        }
      }
      if (group.global_id() == 0) marks[batch] = Clock::now();
    }
  }
};

/// Nanoseconds per barrier, from the times at the end of the warm-up and of each batch.
[[nodiscard]] inline std::vector<double> per_barrier(std::uint32_t barriers,
                                                     const std::vector<std::uint64_t>& marks) {
  std::vector<double> result;
  for (std::size_t i = 1; i < marks.size(); ++i)
    result.push_back(static_cast<double>(marks[i] - marks[i - 1]) / barriers);
  return result;
}

}  // namespace cohort::bench
