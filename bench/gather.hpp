// Scenario "gather": how long a request for workers waits, by kill order, and with yield semantics
// instead (appendix B of the paper, "killing order"). One run measures all of them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "bench/scenario.hpp"
#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "tool/progress.hpp"

namespace cohort::bench {

inline double in_ns(std::chrono::nanoseconds time) { return static_cast<double>(time.count()); }

/// Waits for done() in short sleeps. The job must not end meanwhile.
template <class Done>
void wait_until(const Job& job, const std::stop_token& stop, Done done) {
  while (!done()) {
    if (stop.stop_requested()) throw tool::Stopped{};
    if (job.wait_for(std::chrono::microseconds{50}))
      throw std::runtime_error{"the kernel ended before the measurement"};
  }
}

/// Requests to a kernel that steals work.
struct GatherLoad {
  std::uint32_t capacity;
  std::uint32_t wanted;
  std::chrono::nanoseconds task;
  bool long_on_top;  ///< whether the highest group has just begun a long task at each request
  std::uint32_t trials;

  /// Length of the long task of appendix B, in tasks.
  static constexpr std::uint32_t long_factor = 20;
};

/// Additional measurements; empty if the engine does not make them.
struct Aside {
  std::uint64_t tasks = 0;
  std::uint64_t time = 0;  ///< wall-clock time of all tasks
  /// Times until all groups of the task were running on their units, by kill order.
  std::map<KillOrder, std::vector<double>> begun = {};

  /// How long a task takes while all groups run.
  [[nodiscard]] double task_time() const {
    return static_cast<double>(time) / static_cast<double>(std::max<std::uint64_t>(tasks, 1));
  }
};

/// The experiment on one engine. Requests groups repeatedly, each time at a random moment after all
/// groups have returned. Returns the nanoseconds from each request until it was met.
struct Gatherer {
  std::function<std::vector<double>(const GatherLoad& load, KillOrder order,
                                    std::chrono::nanoseconds offer_wait, Aside& aside)>
      kill;
  /// The same with yield semantics. Empty if the engine does not support them.
  std::function<std::vector<double>(const GatherLoad& load, Aside& aside)> yield = {};
};

}  // namespace cohort::bench
