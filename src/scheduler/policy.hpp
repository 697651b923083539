// Who gets how many units: pure functions, the same for every engine.
// Invariant: what is given out never adds up to more than the capacity, and no unit is left idle
// that a job could use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::scheduler {

/// What one job asks for, in launch order.
struct Claim {
  std::uint32_t max_groups = 1;  ///< the most it can use
  std::uint32_t weight = 1;      ///< its part beside others
  bool rigid = false;            ///< exactly max_groups or nothing
  bool running = false;          ///< has groups already, so it keeps at least one
  bool suspendable = false;      ///< a task may have all of its units
  bool owed = false;             ///< was suspended for a task and has not run since: its turn now
};

/// What one task asks for, in order of submission: that many units at once, or nothing.
struct Demand {
  std::uint32_t groups = 1;
  int priority = 0;      ///< higher first
  bool running = false;  ///< has its units
};

/// What everybody is to have.
struct Plan {
  std::vector<std::uint32_t> shares;  ///< for each job; 0 postpones or suspends it
  std::vector<bool> suspends;         ///< for each job: it has to go for a task
  std::vector<bool> grants;  ///< for each task: it has its units, or will as soon as they are free
};

/// Units for each claim; 0 postpones the job. Running jobs keep one unit each; jobs that have not
/// started follow in launch order while one unit each is left; the rest is shared by weight.
[[nodiscard]] std::vector<std::uint32_t> share_out(std::uint32_t capacity,
                                                   std::span<const Claim> claims);

/// Tasks in the order in which they are served: those that run, then by priority, then by age.
[[nodiscard]] std::vector<std::size_t> serving_order(std::span<const Demand> tasks);

/// Tasks first, by priority and then by age; the rest is shared out among the jobs. A task that
/// fits the machine but not beside one group of each job suspends suspendable jobs, the lowest
/// weight first; if that does not help it waits, and nobody overtakes it. A job that was suspended
/// so runs again before it can be suspended for another task.
[[nodiscard]] Plan plan(std::uint32_t capacity, std::span<const Claim> jobs,
                        std::span<const Demand> tasks);

}  // namespace cohort::scheduler
