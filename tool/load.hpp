// Tasks that are due again and again while jobs follow one another, as in the paper's section 5.
// Invariant: tasks know nothing of jobs: when one is due has nothing to do with where a job is.
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

/// As the paper measured them (section 5.2).
inline constexpr std::array load_classes{
    LoadClass{"light", std::chrono::milliseconds{70}, std::chrono::milliseconds{3},
              "every 70 ms one that takes 3 ms on all groups"},
    LoadClass{"medium", std::chrono::milliseconds{40}, std::chrono::milliseconds{3},
              "every 40 ms one that takes 3 ms on all groups"},
    LoadClass{"heavy", std::chrono::milliseconds{40}, std::chrono::milliseconds{10},
              "every 40 ms one that takes 10 ms on all groups"},
};

/// The shares of the machine that the paper's tasks ask for, and all of it, which suspends the job.
inline constexpr std::array<std::string_view, 5> share_names{"one", "quarter", "half",
                                                             "all-but-one", "all"};

/// How many of `capacity` groups `share` is: a name, or a number from 1 to `capacity`. Throws
/// Error{bad_options}.
[[nodiscard]] std::uint32_t groups_of(std::string_view share, std::uint32_t capacity);

/// One task as it was served. In nanoseconds.
struct TaskSample {
  std::uint64_t start = 0;   ///< of its execution, on the clock of the load
  std::uint64_t gather = 0;  ///< from the demand to all its groups in hand
  std::uint64_t run = 0;     ///< from then until it was done
  bool beside = true;        ///< a job was there when it was demanded
};

/// A stretch of time, in nanoseconds.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Serves tasks by a thread of its own, from the first job that it drives on, and times the jobs.
/// One task is due every period; one that is late delays the next.
class Load {
 public:
  /// How a task went. In this order, by name: `{.report = run(), .right = look()}`.
  struct Served {
    TaskReport report;
    std::uint64_t ended = cpu::now();
    bool right = false;  ///< what came out
  };

  /// Nothing is served, and jobs are only timed.
  Load() = default;
  /// `serve` runs a task and waits for it.
  Load(std::function<Served()> serve, std::chrono::nanoseconds period);

  /// Sees `job` through: a driver of apps::RunOptions. One that takes longer than `limit` is
  /// cancelled. Throws what went wrong with a task.
  Report drive(const Job& job, std::optional<std::chrono::nanoseconds> limit = {});
  /// Until the next job no task begins, and the clock stands still when the last one has ended.
  void rest();
  /// How many tasks have begun, and how many of them beside a job.
  [[nodiscard]] std::size_t begun() const;
  [[nodiscard]] std::size_t begun_beside() const;
  /// Serves no more; returns when the last task is done. Throws what went wrong with one.
  void end();

  /// From launch to end, suspended times included, on the load's clock.
  [[nodiscard]] const std::vector<Span>& jobs() const { return jobs_; }
  /// After the end only, like wrong().
  [[nodiscard]] const std::vector<TaskSample>& tasks() const { return tasks_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  void serve_all(const std::stop_token& stop);
  void rethrow();
  /// Its clock; it stands while it rests and serves nothing. These three under the mutex.
  [[nodiscard]] std::uint64_t now() const { return stood_from_.value_or(cpu::now()) - stood_; }
  void stand();
  void go_on();

  std::function<Served()> serve_;
  std::uint64_t period_ = 0;
  std::vector<Span> jobs_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  bool resting_ = true;
  bool serving_ = false;
  std::optional<std::uint64_t> stood_from_ = 0;
  std::uint64_t stood_ = 0;  // in all, before that
  bool job_is_there_ = false;
  std::size_t begun_ = 0;
  std::size_t begun_beside_ = 0;
  std::exception_ptr error_;
  std::vector<TaskSample> tasks_;
  std::uint64_t wrong_ = 0;

  std::jthread thread_;  // last: it uses all of the above
};

/// All together.
[[nodiscard]] double length(const std::vector<Span>& spans);
[[nodiscard]] double mean_length(const std::vector<Span>& spans);
/// The times from one task's start to the next; not where the clock stood still while the first ran
/// on, as it does in samples of an earlier version.
[[nodiscard]] std::vector<double> periods(const std::vector<TaskSample>& tasks);
/// Their median; nothing when there are none.
[[nodiscard]] std::optional<double> median_period(const std::vector<TaskSample>& tasks);

}  // namespace cohort::tool
