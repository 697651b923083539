// Vector clocks over the threads of a run. Invariant: clock `a` covers event number n of thread b
// exactly if a.at[b] >= n; numbers start at 1.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace cohort::explore {

/// The maximum number of threads of a run, including the host.
inline constexpr std::uint32_t max_actors = 16;

struct Clock {
  std::array<std::uint32_t, max_actors> at{};

  void join(const Clock& other) {
    for (std::uint32_t i = 0; i < max_actors; ++i) at[i] = std::max(at[i], other.at[i]);
  }
  [[nodiscard]] bool covers(std::uint32_t actor, std::uint32_t event) const {
    return at[actor] >= event;
  }
};

}  // namespace cohort::explore
