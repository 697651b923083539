// How many units each job and task gets: pure functions, the same for every engine.
// Invariant: the assigned units never exceed the capacity, except for those that cannot be taken
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
  std::uint32_t max_groups = 1;  ///< the maximum that it can use
  std::uint32_t weight = 1;      ///< its share relative to other jobs
  bool rigid = false;            ///< exactly max_groups or nothing
  bool running = false;          ///< has groups already, so it keeps at least one
  bool suspendable = false;      ///< all of its units can be taken away
  bool owed = false;             ///< waited while a task was served: starts before the next task
  std::uint32_t blocked = 0;     ///< its groups that wait for other jobs: they keep their units
};

/// The units of every job and task.
struct Plan {
  std::vector<std::uint32_t> shares;  ///< for each job; 0 postpones or suspends it
  std::vector<bool>
      suspends;  ///< for each job: whether it has to leave, for a task or the capacity
  /// How many waiting tasks, from the front of the queue, start as soon as their units are free.
  std::uint32_t granted = 0;
};

/// Units in use by tasks.
struct Busy {
  std::uint32_t tasks = 0;   ///< of the engine
  std::uint32_t guests = 0;  ///< on loan to tenants: the engine takes them back when it needs them
};

/// A waiting task.
struct Waiting {
  std::uint32_t groups = 1;
  bool guest = false;  ///< for a tenant: no job is suspended for it
};

/// Returns the next waiting task: first the engine's, then tenants' units; by priority, then by
/// age. Empty after the last one.
using NextTask = std::function<std::optional<Waiting>()>;

/// The units for each claim; 0 postpones the job. Running jobs keep one unit each, or all if they
/// are rigid. Then come the jobs that have not started, first those that are owed, then in launch
/// order, while there is room for the minimum they start with. The rest is shared by weight.
[[nodiscard]] std::vector<std::uint32_t> share_out(std::uint32_t capacity,
                                                   std::span<const Claim> claims);

/// The units of tasks and jobs: tasks first, and the rest is shared out among the jobs.
///
/// If these and one group of each running job exceed the capacity, suspendable jobs are suspended:
/// the lowest weight first and, among equals, the youngest. The same happens for a waiting task
/// that fits the machine, but not together with one group of each job. If that does not help, the
/// task waits, and no other task overtakes it: `next_task` is not called again. A job that was
/// suspended for a task runs again before it can be suspended for another one.
[[nodiscard]] Plan plan(std::uint32_t capacity, std::span<const Claim> jobs, const Busy& busy,
                        const NextTask& next_task);

/// How many units tenants may have together: what remains of the capacity after the minimum of each
/// job, running or not, and after the engine's tasks. `waiting_task`: the groups of the next one.
[[nodiscard]] std::uint32_t lendable(std::uint32_t capacity, std::span<const Claim> jobs,
                                     std::uint32_t task_units, std::uint32_t waiting_task);

/// The request of one tenant.
struct TenantClaim {
  std::uint32_t demand = 0;
  std::uint32_t weight = 1;
  int priority = 0;
  std::uint32_t held = 0;  ///< units that it was given last
  /// Unit-seconds that it was given less than its due.
  double arrears = 0;
};

/// What one tenant gets.
struct Loan {
  std::uint32_t units = 0;
  double due = 0;  ///< its fair share; `units` is this number, rounded up or down
};

/// Arrears that let a tenant take a unit over from another one, in unit-seconds. So a unit that two
/// tenants share changes hands about every 0.2 s.
inline constexpr double patience_of_tenants = 0.1;

/// The units of each tenant. Each gets its demand or, where units are short, its weight's part of
/// them, as max-min fairness defines it. Parts of a unit go to the tenants with the highest
/// arrears, then to the highest priorities. So over time no tenant gets less than its due.
[[nodiscard]] std::vector<Loan> lend(std::uint32_t units, std::span<const TenantClaim> tenants);

}  // namespace cohort::scheduler
