// Periodic: a task that is submitted at fixed intervals, such as a frame, a control step, or a
// batch of requests. Invariant: at most one such task is in flight. A late task delays the next
// one; none is skipped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "cohort/samples.hpp"
#include "cohort/task.hpp"

namespace cohort {

/// Statistics of a periodic task so far.
struct PeriodicReport {
  std::uint64_t count = 0;  ///< number of tasks done
  std::uint64_t late = 0;   ///< number of tasks that were not done when the next one was due
  Summary gather;           ///< time from the demand until the task had all its groups
  Summary run_time;         ///< time from then until the task was done
  Summary period;           ///< time from one start to the next
};

/// Submits `function` to an engine every `period`, from a thread of its own, until it is stopped or
/// destroyed.
class Periodic {
 public:
  template <class Engine, class Function>
  Periodic(Engine& engine, std::chrono::nanoseconds period, Function function,
           const TaskOptions& options = {})
      : thread_([this, &engine, period, function = std::move(function),
                 options](const std::stop_token& stop) {
          keep_going(stop, period, [&] {
            const Task task = engine.submit(function, options);
            const std::stop_callback withdraw{stop, [&task] { task.cancel(); }};
            return task.wait();
          });
        }) {}

  /// Stops submitting, cancels the task in flight and waits for it. A cancelled task is not
  /// counted. Rethrows an exception of a task.
  PeriodicReport stop();
  [[nodiscard]] PeriodicReport report() const;

 private:
  template <class Serve>
  void keep_going(const std::stop_token& stop, std::chrono::nanoseconds period, Serve serve) {
    auto due = std::chrono::steady_clock::now();
    try {
      while (!stop.stop_requested()) {
        const auto started = std::chrono::steady_clock::now();
        const TaskReport served = serve();
        if (served.status != Status::finished) return;
        due += period;
        const bool late = std::chrono::steady_clock::now() > due;
        note(served, started, late);
        if (late) due = std::chrono::steady_clock::now();
        std::unique_lock lock{mutex_};
        changed_.wait_until(lock, stop, due, [] { return false; });
      }
    } catch (...) {
      const std::lock_guard lock{mutex_};
      thrown_ = std::current_exception();
    }
  }
  void note(const TaskReport& served, std::chrono::steady_clock::time_point started, bool late);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t late_ = 0;
  Samples gather_;
  Samples run_time_;
  Samples period_;
  std::uint64_t count_ = 0;
  std::chrono::steady_clock::time_point last_start_{};
  std::exception_ptr thrown_;
  std::jthread thread_;  // last member: the thread uses all of the above
};

}  // namespace cohort
