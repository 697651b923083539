// Tasks: short work that needs a fixed number of units at once, beside the jobs. The same on every
// engine.
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

/// How to submit a task. Everything has a default.
struct TaskOptions {
  /// Units the task needs, all at once: 1 to the engine's capacity.
  std::uint32_t groups = 1;
  /// Higher is served first.
  int priority = 0;
  /// Threads in a group: 1 to max_local_size. Default: as in LaunchOptions.
  std::optional<std::uint32_t> local_size = {};
  /// Cancels the task when stop is requested.
  std::stop_token stop = {};
  /// Sees every event of the task. Must outlive it.
  Tracer* tracer = nullptr;
};

/// What is known of a task.
struct TaskReport {
  Status status = Status::pending;
  std::chrono::nanoseconds gather{0};    ///< from the demand being published to all units in hand
  std::chrono::nanoseconds run_time{0};  ///< from then until the last group was done
  std::string error;                     ///< why it failed
};

/// A submitted task. A handle: copies mean the same task, dropping the last one does not end it.
/// Thread-safe.
class Task {
 public:
  explicit Task(std::shared_ptr<detail::JobControl> control) noexcept
      : control_(std::move(control)) {}

  /// Waits until the task is finished or cancelled. Throws what the task threw, and
  /// Error{bad_state} in a task or kernel whose unit this task needs to start.
  TaskReport wait() const;
  /// The same for a limited time; nothing if the task is not done then.
  template <class Rep, class Period>
  std::optional<TaskReport> wait_for(std::chrono::duration<Rep, Period> time) const {
    return wait_until(detail::deadline_after(time));
  }
  std::optional<TaskReport> wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Withdraws a task that waits. One that runs ends at its next barrier, or by itself.
  void cancel() const;

  [[nodiscard]] TaskReport report() const;

 private:
  std::shared_ptr<detail::JobControl> control_;
};

namespace detail {

/// A callable as a kernel of a static launch: each group calls it, with itself if it asks for a
/// group.
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
