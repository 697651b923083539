// Tasks: short work that needs a fixed number of units at once, alongside the jobs. The same on
// every engine.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "cohort/job.hpp"
#include "cohort/kernel.hpp"

namespace cohort {

/// Options of a task. Every member has a default.
struct TaskOptions {
  /// The number of units that the task needs, all at once: 1 to the engine's capacity. With a
  /// `kind`, the maximum number.
  std::uint32_t groups = 1;
  /// Tasks of higher priority are served first.
  int priority = 0;
  /// Threads per group: 1 to max_local_size. Default: as in LaunchOptions.
  std::optional<std::uint32_t> local_size = {};
  /// Cancels the task when a stop is requested.
  std::stop_token stop = {};
  /// Receives every event of the task. Must outlive the task.
  Tracer* tracer = nullptr;
  /// Kept until the task is destroyed: for example, memory that only the task uses.
  std::shared_ptr<const void> keeps = {};
  /// Names tasks that do the same work, such as the frames of a renderer. The engine measures the
  /// tasks of a kind and chooses the number of units of each: one, a quarter, a half, all but one
  /// for each job, or all, which suspends the jobs. The task has to divide its work by
  /// `group.num_groups()`. If empty, the task gets exactly `groups`.
  std::string kind = {};
  /// With a `kind`: the units are chosen so that the task ends within this time from its submit, if
  /// any choice achieves that. Default: no limit.
  std::optional<std::chrono::nanoseconds> finish_within = {};
  /// After it has waited for this long, the task starts at once on threads of its own, although its
  /// units are still in use. Until then, groups can offer the units. Late groups run at the
  /// operating system's lowest priority until they leave. Only on the CPU engine; the others throw
  /// Error{unsupported}.
  std::optional<std::chrono::nanoseconds> start_within = {};
};

/// Statistics of a task.
struct TaskReport {
  Status status = Status::pending;
  std::uint32_t groups = 0;  ///< number of groups with which the task has run or will run
  /// Time from publishing the demand until the task had all units.
  std::chrono::nanoseconds gather{0};
  std::chrono::nanoseconds run_time{0};  ///< time from then until the last group was done
  std::string error;                     ///< why the task failed; empty if it did not
};

/// A submitted task. A handle: copies refer to the same task, and destroying the last one does not
/// end it. Thread-safe.
class Task {
 public:
  explicit Task(std::shared_ptr<detail::JobControl> control) noexcept
      : control_(std::move(control)) {}

  /// Waits until the task is finished or cancelled. Throws the exception of the task if it threw
  /// one, and Error{bad_state} in a task or kernel whose unit this task needs to start.
  TaskReport wait() const;
  /// wait() with a deadline. Returns nothing if the task is not done then.
  template <class Rep, class Period>
  std::optional<TaskReport> wait_for(std::chrono::duration<Rep, Period> time) const {
    return wait_until(detail::deadline_after(time));
  }
  std::optional<TaskReport> wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Withdraws a waiting task. A running task ends at its next barrier, or by itself.
  void cancel() const;

  [[nodiscard]] TaskReport report() const;

 private:
  std::shared_ptr<detail::JobControl> control_;
};

namespace detail {

/// Makes a callable the kernel of a static launch. Each group calls it, and passes itself if the
/// callable takes an argument.
template <class Function>
struct TaskKernel {
  Function function;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    if constexpr (std::is_invocable_v<const Function&, Group&>) {
      function(group);
    } else {
      static_assert(std::is_invocable_v<const Function&>,
                    "cohort: a task is called as task(group), one call for each of its groups, or "
                    "as task()");
      function();
    }
  }
};

}  // namespace detail

}  // namespace cohort
