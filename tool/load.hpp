// Periodic tasks next to a sequence of jobs, as in the paper's section 5. Invariant: the times at
// which tasks are due do not depend on the jobs.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "cohort/cpu.hpp"

namespace cohort::tool {

/// A class of rendering: a task is due every `period` (P) and takes `work` (E) on all groups.
struct LoadClass {
  std::string_view name;
  std::chrono::milliseconds period;
  std::chrono::milliseconds work;
  std::string_view summary;
};

/// The values that the paper measured (section 5.2).
inline constexpr std::array load_classes{
    LoadClass{"light", std::chrono::milliseconds{70}, std::chrono::milliseconds{3},
              "every 70 ms one that takes 3 ms on all groups"},
    LoadClass{"medium", std::chrono::milliseconds{40}, std::chrono::milliseconds{3},
              "every 40 ms one that takes 3 ms on all groups"},
    LoadClass{"heavy", std::chrono::milliseconds{40}, std::chrono::milliseconds{10},
              "every 40 ms one that takes 10 ms on all groups"},
};

/// Shares of the machine: the paper's four, and the whole machine, which suspends the job.
inline constexpr std::array<std::string_view, 5> share_names{"one", "quarter", "half",
                                                             "all-but-one", "all"};
/// The share with which the engine chooses the number of groups of each task, see
/// TaskOptions::kind.
inline constexpr std::string_view hybrid_share = "hybrid";

/// The number of groups for `share`: one of the names above, or a number from 1 to `capacity`.
/// Throws Error{bad_options}.
[[nodiscard]] std::uint32_t groups_of(std::string_view share, std::uint32_t capacity);

/// Times of one task, in nanoseconds.
struct TaskSample {
  std::uint64_t start = 0;   ///< start of its execution, on the clock of the load
  std::uint64_t gather = 0;  ///< time from the request until all its groups were available
  std::uint64_t run = 0;     ///< time from then until it was done
  bool beside = true;        ///< whether a job was running at the request
  std::uint32_t groups = 0;
};

/// An interval, in nanoseconds.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Runs tasks from its own thread, starting with the first job that it drives, and times the jobs.
/// A task is due every period; a late task delays the next one.
class Load {
 public:
  /// Outcome of a task. Write the fields in this order, `{.report = run(), .right = verify()}`:
  /// `ended` is taken between the two.
  struct Served {
    TaskReport report;
    std::uint64_t ended = cpu::now();
    bool right = false;  ///< whether the result was correct
  };

  /// Without tasks: jobs are only timed.
  Load() = default;
  /// `serve` runs a task and waits for it.
  Load(std::function<Served()> serve, std::chrono::nanoseconds period);

  /// Waits for `job`, as a driver of apps::RunOptions; cancels it after `limit`. Rethrows a task's
  /// exception.
  Report drive(const Job& job, std::optional<std::chrono::nanoseconds> limit = {});
  /// Pauses until the next job: no task starts, and the clock stops when the last one has ended.
  void rest();
  /// Number of tasks begun, and of tasks begun while a job ran.
  [[nodiscard]] std::size_t begun() const;
  [[nodiscard]] std::size_t begun_beside() const;
  /// Stops serving; returns when the last task is done. Rethrows a task's exception.
  void end();

  /// Each job from launch to end, suspended time included, on the load's clock.
  [[nodiscard]] const std::vector<Span>& jobs() const { return jobs_; }
  /// The samples of all tasks. Call it after end(), like wrong().
  [[nodiscard]] const std::vector<TaskSample>& tasks() const { return tasks_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  void serve_all(const std::stop_token& stop);
  void rethrow();
  /// The load's clock. It stops while the load rests and runs no task. Call these three functions
  /// under the mutex.
  [[nodiscard]] std::uint64_t now() const { return stood_from_.value_or(cpu::now()) - stood_; }
  void stand();
  void go_on();

  std::function<Served()> serve_;
  std::uint64_t period_ = 0;
  std::vector<Span> jobs_;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  bool resting_ = true;
  bool serving_ = false;
  std::optional<std::uint64_t> stood_from_ = 0;
  std::uint64_t stood_ = 0;  // total time stopped before stood_from_
  bool job_is_there_ = false;
  std::size_t begun_ = 0;
  std::size_t begun_beside_ = 0;
  std::exception_ptr error_;
  std::vector<TaskSample> tasks_;
  std::uint64_t wrong_ = 0;

  std::jthread thread_;  // last member: the thread uses all of the above
};

/// Total length of the spans.
[[nodiscard]] double length(const std::vector<Span>& spans);
[[nodiscard]] double mean_length(const std::vector<Span>& spans);
/// Intervals between the starts of successive tasks. Skips overlapping tasks, which samples of an
/// earlier version contain.
[[nodiscard]] std::vector<double> periods(const std::vector<TaskSample>& tasks);
/// The median of periods(); nothing if there are none.
[[nodiscard]] std::optional<double> median_period(const std::vector<TaskSample>& tasks);

}  // namespace cohort::tool
