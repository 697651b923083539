// Decides how many units each job and task gets, by pure functions that all engines use.
// Invariant: the assigned units never exceed the capacity, except for units that cannot be taken
// back (running tasks, static launches, blocked groups, one group of a job that cannot be
// suspended). No unit that a job could use stays idle.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace cohort::scheduler {

/// The request of one job. Claims are in launch order.
struct Claim {
  std::uint32_t max_groups = 1;  ///< the most groups that the job can use
  std::uint32_t weight = 1;      ///< share relative to other jobs
  bool rigid = false;            ///< gets exactly max_groups or nothing
  bool running = false;          ///< has groups already, so keeps at least one
  bool suspendable = false;      ///< the scheduler can take away all of its units
  bool owed = false;             ///< waited while a task was served: starts before the next task
  /// Number of groups whose kernel waits for other jobs: they keep their units.
  std::uint32_t blocked = 0;
};

/// The units of every job and task.
struct Plan {
  std::vector<std::uint32_t> shares;  ///< for each job; 0 postpones or suspends it
  std::vector<bool>
      suspends;  ///< for each job: whether it has to leave, for a task or the capacity
  /// How many waiting tasks, from the front of the queue, start as soon as their units are free.
  std::uint32_t granted = 0;
};

/// The units that tasks use.
struct Busy {
  std::uint32_t tasks = 0;  ///< units used by the engine's tasks
  /// Units on loan to tenants; the engine takes them back when it needs them.
  std::uint32_t guests = 0;
};

/// A waiting task.
struct Waiting {
  std::uint32_t groups = 1;
  bool guest = false;  ///< the task lends a unit to a tenant: no job is suspended for it
};

/// Returns the next waiting task: the engine's tasks first, then units for tenants; within each, by
/// priority, then by age. Empty after the last one.
using NextTask = std::function<std::optional<Waiting>()>;

/// The units for each claim; 0 postpones the job. Running jobs keep one unit each, or all if they
/// are rigid. Next, jobs that have not started get the minimum with which they can start, as long
/// as there is room: first those with `owed`, then in launch order. The rest is shared by weight.
[[nodiscard]] std::vector<std::uint32_t> share_out(std::uint32_t capacity,
                                                   std::span<const Claim> claims);

/// Plans the units of tasks and jobs. Tasks come first, and the rest is shared among the jobs.
///
/// If the tasks and one group of each running job exceed the capacity, suspendable jobs are
/// suspended: the lowest weight first and, among equal weights, the youngest. The same happens for
/// a waiting task that fits the machine, but not together with one group of each job. If that does
/// not help, the task waits, and no other task overtakes it: `next_task` is not called again. A job
/// that was suspended for a task runs again before it can be suspended for another one.
[[nodiscard]] Plan plan(std::uint32_t capacity, std::span<const Claim> jobs, const Busy& busy,
                        const NextTask& next_task);

/// How many units tenants may have together. This is what remains of the capacity after the minimum
/// of each job, running or not, and after the engine's tasks. `waiting_task`: the number of groups
/// of the next waiting task.
[[nodiscard]] std::uint32_t lendable(std::uint32_t capacity, std::span<const Claim> jobs,
                                     std::uint32_t task_units, std::uint32_t waiting_task);

/// The request of one tenant.
struct TenantClaim {
  std::uint32_t demand = 0;
  std::uint32_t weight = 1;
  int priority = 0;
  std::uint32_t held = 0;  ///< number of units that the tenant has now
  /// Unit-seconds that the tenant has received too little.
  double arrears = 0;
};

/// What one tenant gets.
struct Loan {
  std::uint32_t units = 0;
  double due = 0;  ///< its fair share; `units` is this number, rounded up or down
};

/// With arrears of this many unit-seconds, a tenant may take over a unit of another tenant. A unit
/// that two tenants share then changes hands about every 0.2 s.
inline constexpr double patience_of_tenants = 0.1;

/// The units of each tenant. Each tenant gets its demand or, if units are short, the part that its
/// weight entitles it to, as max-min fairness defines it. Fractions of a unit go to the tenants
/// with the highest arrears, then to the highest priorities. So over time no tenant gets less than
/// its due.
[[nodiscard]] std::vector<Loan> lend(std::uint32_t units, std::span<const TenantClaim> tenants);

}  // namespace cohort::scheduler
