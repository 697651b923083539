// Jobs: what launching a kernel gives back, the same on every engine.
// Invariant: wait() returns once no group is running and none will run without another call by the
// host.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cohort/error.hpp"
#include "cohort/samples.hpp"
#include "cohort/trace.hpp"

namespace cohort {

/// The most groups a job can have, on any engine.
inline constexpr std::uint32_t max_groups_limit = 4096;

/// Where a job is.
enum class Status : std::uint8_t {
  pending,    ///< launched or resumed, waiting for its first unit
  running,    ///< at least one group has been sent in
  finished,   ///< all groups returned from the kernel
  left,       ///< all groups were taken away (Survivors::may_all_leave)
  cancelled,  ///< ended by cancel(), a stop token, or the engine's end
  suspended,  ///< out of the machine, its state kept: resume() continues it
  failed,     ///< the kernel threw or broke a rule: wait() throws
};

/// The status in a word.
[[nodiscard]] const char* to_string(Status status) noexcept;

/// How to launch a kernel. Everything has a default.
struct LaunchOptions {
  /// N, the most groups the job can have: 1 to max_groups_limit. Default: the engine's capacity.
  std::optional<std::uint32_t> max_groups = {};
  /// The most groups to start with; the job grows to its target afterwards. Default: as many as are
  /// free.
  std::optional<std::uint32_t> start_groups = {};
  /// Pins the job's target from the start, as Job::set_target does.
  std::optional<std::uint32_t> target = {};
  /// Threads in a group: 1 to what the kernel allows, see Traits::max_local_size. Default: what the
  /// kernel requires, if it does; else 1, with the CUDA engine the largest block that fits.
  std::optional<std::uint32_t> local_size = {};
  /// This job's part of the machine, beside other jobs'.
  std::uint32_t weight = 1;
  /// False: exactly max_groups groups for the whole run, cooperation compiled out. The baseline for
  /// overhead.
  bool resizable = true;
  /// How long a group that is wanted back, but is not the highest, waits in its offer for its turn.
  /// 0: never.
  std::chrono::nanoseconds offer_wait = std::chrono::microseconds{100};
  /// Cancels the job when stop is requested.
  std::stop_token stop = {};
  /// Sees every event of the job. Must outlive it.
  Tracer* tracer = nullptr;
};

/// What is known of a job's run so far.
struct Report {
  /// M from this moment on.
  struct Size {
    std::uint64_t nanoseconds = 0;  ///< since the launch
    std::uint32_t groups = 0;
  };

  Status status = Status::pending;
  std::chrono::nanoseconds run_time{0};  ///< in the status running; suspended times are not counted
  std::uint32_t start_groups = 0;        ///< groups of the first set
  std::uint64_t joins = 0;               ///< groups that joined later
  std::uint64_t leaves = 0;              ///< groups that were taken away
  std::vector<Size> sizes;               ///< M over time; thinned out evenly when it gets long
  Summary gather;     ///< from a demand being published until the demanded groups were out
  Summary offers;     ///< intervals between a group's offers (resizing barriers count), sampled
  std::string error;  ///< why it failed
};

namespace detail {

/// `time` from now, or the end of time where that would overflow.
template <class Rep, class Period>
std::chrono::steady_clock::time_point deadline_after(std::chrono::duration<Rep, Period> time) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::duration<double> ages{std::chrono::hours{24 * 365 * 100}};
  if (std::chrono::duration<double>{time} >= ages) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
}

/// An engine's side of a Job.
class JobControl {
 public:
  virtual ~JobControl() = default;
  virtual Status wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) = 0;
  virtual void cancel() = 0;
  virtual Status suspend() = 0;
  virtual void resume() = 0;
  virtual void checkpoint(const std::filesystem::path& file) const = 0;
  virtual void set_target(std::optional<std::uint32_t> groups) = 0;
  [[nodiscard]] virtual Report report() const = 0;
  virtual void rethrow() const = 0;

 protected:
  JobControl() = default;
  JobControl(const JobControl&) = default;
  JobControl& operator=(const JobControl&) = default;
};

}  // namespace detail

/// A launched kernel. A handle: copies mean the same job, and dropping the last one does not end
/// it. Thread-safe.
class Job {
 public:
  explicit Job(std::shared_ptr<detail::JobControl> control) noexcept
      : control_(std::move(control)) {}

  /// Waits until the job is finished, left, cancelled or suspended, and its tracer has heard of
  /// everything. Throws the kernel's exception if it threw, Error{broken_contract} if it broke a
  /// rule, and Error{bad_state} where it would never return: in a group or tracer of the same job.
  Report wait() const;
  /// The same for a limited time; nothing if the job still runs then.
  template <class Rep, class Period>
  std::optional<Report> wait_for(std::chrono::duration<Rep, Period> time) const {
    return wait_until(detail::deadline_after(time));
  }
  std::optional<Report> wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Ends the job: each group leaves at its next primitive. Returns at once. Nothing happens to a
  /// job that has ended.
  void cancel() const;
  /// Takes all groups out at their next resizing point and waits until they are. Returns
  /// `suspended`, or how the job ended first. Throws Error{not_suspendable} where the kernel cannot
  /// hand its state over.
  Status suspend() const;
  /// Continues a suspended job, once checkpoints of it are written. Throws Error{bad_state} if it
  /// is not suspended.
  void resume() const;
  /// Writes a suspended job to a file: its State and the buffers its kernel names. The engine's
  /// restore() continues it, in this or another process. The engine goes on meanwhile; after a
  /// cancel(), wait() returns when the file is written. Throws Error{bad_state} if the job is not
  /// suspended or its kernel names no buffers, Error{bad_file} if the file cannot be written.
  void checkpoint(const std::filesystem::path& file) const;

  /// Pins the number of groups the job should have, 1 to max_groups (0 too with may_all_leave), as
  /// far as the machine has room. For tests and experts; the engine decides by itself otherwise.
  void set_target(std::uint32_t groups) const;
  /// Leaves the target to the engine again.
  void reset_target() const;

  [[nodiscard]] Status status() const;
  [[nodiscard]] Report report() const;

 private:
  std::shared_ptr<detail::JobControl> control_;
};

}  // namespace cohort
