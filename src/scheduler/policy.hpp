// How many units each job and task gets: pure functions, the same for every engine.
// Invariant: what is given out never adds up to more than the capacity, except for what cannot be
// taken back (running tasks, static launches, one group of a job that cannot be suspended), and no
// unit is left idle that a job could use.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace cohort::scheduler {

/// What one job asks for, in launch order.
struct Claim {
  std::uint32_t max_groups = 1;  ///< the most it can use
  std::uint32_t weight = 1;      ///< its part relative to other jobs
  bool rigid = false;            ///< exactly max_groups or nothing
  bool running = false;          ///< has groups already, so it keeps at least one
  bool suspendable = false;      ///< all of its units can be taken away
  bool owed = false;             ///< waited while a task was served: starts before the next task
};

/// What every job and task is to have.
struct Plan {
  std::vector<std::uint32_t> shares;  ///< for each job; 0 postpones or suspends it
  std::vector<bool> suspends;         ///< for each job: it has to leave, for a task or the capacity
  /// Waiting tasks, from the front of the queue, that start as soon as their units are free.
  std::uint32_t granted = 0;
};

/// The groups of the next waiting task, by priority and then by age; nothing after the last one.
using NextTask = std::function<std::optional<std::uint32_t>()>;

/// Units for each claim; 0 postpones the job. Running jobs keep one unit each, or all if they are
/// rigid. Jobs that have not started follow, first those that are owed, then in launch order, while
/// there is room for the least they start with; the rest is shared by weight.
[[nodiscard]] std::vector<std::uint32_t> share_out(std::uint32_t capacity,
                                                   std::span<const Claim> claims);

/// Tasks first; the rest is shared out among the jobs. `task_units` are in use by running tasks.
///
/// Where these and one group of each running job exceed the capacity, suspendable jobs are
/// suspended, the lowest weight first, the youngest among equals. The same happens for a waiting
/// task that fits the machine, but not next to one group of each job; if that does not help it
/// waits, and no other task overtakes it: `next_task` is not asked any further. A job that was
/// suspended for a task runs again before it can be suspended for another one.
[[nodiscard]] Plan plan(std::uint32_t capacity, std::span<const Claim> jobs,
                        std::uint32_t task_units, const NextTask& next_task);

}  // namespace cohort::scheduler
