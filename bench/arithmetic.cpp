#include "bench/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cohort/platform/cpu.hpp"

namespace cohort::bench {

std::uint64_t steps_for(std::chrono::nanoseconds time) {
  static const double per_step = [] {
    constexpr std::uint64_t steps = 100'000;
    std::uint64_t fastest = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t begin = cpu::now();
      keep(churn(steps));
      fastest = std::min(fastest, cpu::now() - begin);
    }
    return static_cast<double>(fastest) / static_cast<double>(steps);
  }();
  return static_cast<std::uint64_t>(std::lround(static_cast<double>(time.count()) / per_step));
}

}  // namespace cohort::bench
