#include "bench/arithmetic.hpp"

#include <cmath>

#include "cohort/platform/cpu.hpp"
#include "tool/statistics.hpp"

namespace cohort::bench {

std::uint64_t steps_for(std::chrono::nanoseconds time) {
  static const double per_step = [] {
    constexpr std::uint64_t steps = 100'000;
    const double fastest = tool::fastest_of(50, [] {
      const std::uint64_t begin = cpu::now();
      keep(churn(steps));
      return static_cast<double>(cpu::now() - begin);
    });
    return fastest / static_cast<double>(steps);
  }();
  return static_cast<std::uint64_t>(std::lround(static_cast<double>(time.count()) / per_step));
}

}  // namespace cohort::bench
