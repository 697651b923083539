// Scenario "gather": how long a demand for workers waits, by kill order, and what yield semantics
// would do instead (appendix B of the paper, "killing order"), in one run.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <vector>

#include "bench/scenario.hpp"
#include "cohort/kernel.hpp"

namespace cohort::bench {

/// Demands on a kernel that steals work.
struct GatherLoad {
  std::uint32_t capacity;
  std::uint32_t wanted;
  std::chrono::nanoseconds task;
  bool long_on_top;  ///< whenever groups are wanted the highest id has just begun a long task
  std::uint32_t trials;

  static constexpr std::uint32_t long_factor = 20;  ///< the long task of appendix B, in T
};

/// What is seen besides the gather times; what an engine does not see is empty.
struct Aside {
  std::uint64_t tasks = 0;
  std::uint64_t time = 0;  ///< of all tasks, by the clock on the wall
  /// Until all groups of the task were running on their units, by kill order.
  std::map<KillOrder, std::vector<double>> begun = {};

  /// How long a task takes while all groups run.
  [[nodiscard]] double task_time() const {
    return static_cast<double>(time) / static_cast<double>(std::max<std::uint64_t>(tasks, 1));
  }
};

/// The experiment on one engine: asks for groups again and again, each time when all are there and
/// at a random moment. Nanoseconds from each demand until it was met.
struct Gatherer {
  std::function<std::vector<double>(const GatherLoad& load, KillOrder order,
                                    std::chrono::nanoseconds offer_wait, Aside& aside)>
      kill;
  /// The same with yield semantics; empty: not on this engine.
  std::function<std::vector<double>(const GatherLoad& load, Aside& aside)> yield = {};
};

}  // namespace cohort::bench
