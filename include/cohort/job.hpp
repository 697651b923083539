// Jobs: a launch returns a handle, the same on every engine.
// Invariant: when wait() returns, no group is running, and none will run without another call by
// the host.
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

/// The maximum number of groups of a job, on any engine.
inline constexpr std::uint32_t max_groups_limit = 4096;

/// The status of a job.
enum class Status : std::uint8_t {
  pending,    ///< launched or resumed, waiting for its first unit
  running,    ///< at least one group has been sent in
  finished,   ///< all groups returned from the kernel
  left,       ///< all groups have left (Survivors::may_all_leave)
  cancelled,  ///< ended by cancel(), a stop token, or the engine's end
  suspended,  ///< all groups are out and the state is kept: resume() continues it
  failed,     ///< the kernel threw or broke a rule: wait() throws
};

/// The status as a word.
[[nodiscard]] const char* to_string(Status status) noexcept;

/// Options of a launch. Every member has a default.
struct LaunchOptions {
  /// N, the maximum number of groups: 1 to max_groups_limit. Default: the engine's capacity.
  std::optional<std::uint32_t> max_groups = {};
  /// The maximum number of groups at the start; later the job grows to its target. Default: all
  /// free units.
  std::optional<std::uint32_t> start_groups = {};
  /// Pins the job's target from the start, as Job::set_target does.
  std::optional<std::uint32_t> target = {};
  /// Threads per group: 1 to the limit of the kernel, see Traits::max_local_size. Default: the size
  /// that the kernel requires. Otherwise 1, or with the CUDA engine the largest block that fits.
  std::optional<std::uint32_t> local_size = {};
  /// This job's share of the machine, relative to other jobs.
  std::uint32_t weight = 1;
  /// False: exactly max_groups groups for the whole run, with the code for resizing compiled out.
  /// This is the baseline for measuring overhead.
  bool resizable = true;
  /// How long a group that has to leave waits in its offer until the groups with higher ids have
  /// left. 0: not at all.
  std::chrono::nanoseconds offer_wait = std::chrono::microseconds{100};
  /// Cancels the job when a stop is requested.
  std::stop_token stop = {};
  /// Receives every event of the job. Must outlive the job.
  Tracer* tracer = nullptr;
  /// Kept until the job is destroyed: for example, memory that only its kernel uses.
  std::shared_ptr<const void> keeps = {};
  /// Tells the checkpoints of jobs with the same kernel apart: restore() refuses a checkpoint of a
  /// job with another name.
  std::string name = {};
};

/// Statistics of a job's run so far.
struct Report {
  /// A number of active groups, valid from this time on.
  struct Size {
    std::uint64_t nanoseconds = 0;  ///< time since the launch
    std::uint32_t groups = 0;
  };

  Status status = Status::pending;
  std::chrono::nanoseconds run_time{0};  ///< total time in the status running
  std::uint32_t max_groups = 0;          ///< the maximum number of groups
  std::uint32_t start_groups = 0;        ///< groups at the start
  std::uint64_t joins = 0;               ///< groups that joined later
  std::uint64_t leaves = 0;              ///< groups that left before the end
  std::vector<Size> sizes;  ///< active groups over time, thinned out evenly if it grows long
  Summary gather;     ///< gather times, from publishing a demand until the demanded groups were out
  Summary offers;     ///< intervals between a group's offers (resizing barriers count), sampled
  std::string error;  ///< why the job failed; empty if it did not
};

namespace detail {

/// `time` from now, or the end of time if that would overflow.
template <class Rep, class Period>
std::chrono::steady_clock::time_point deadline_after(std::chrono::duration<Rep, Period> time) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::duration<double> ages{std::chrono::hours{24 * 365 * 100}};
  if (std::chrono::duration<double>{time} >= ages) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
}

/// An engine's part of a Job.
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

/// A launched kernel. A handle: copies refer to the same job, and destroying the last one does not
/// end it. Thread-safe.
class Job {
 public:
  explicit Job(std::shared_ptr<detail::JobControl> control) noexcept
      : control_(std::move(control)) {}

  /// Waits until the job is finished, left, cancelled or suspended, and its tracer has received all
  /// events. Throws the kernel's exception if it threw one, and Error{broken_contract} if it broke
  /// a rule. Throws Error{bad_state} in a group or tracer of the same job, where it would never
  /// return.
  Report wait() const;
  /// wait() with a deadline. Returns nothing if the job still runs then.
  template <class Rep, class Period>
  std::optional<Report> wait_for(std::chrono::duration<Rep, Period> time) const {
    return wait_until(detail::deadline_after(time));
  }
  std::optional<Report> wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Ends the job: each group leaves at its next primitive. Returns at once. Does nothing if the
  /// job has ended.
  void cancel() const;
  /// Removes all groups at their next resizing points and waits until they are out. Returns
  /// `suspended`, or the job's final status if it ended first. Throws Error{not_suspendable} if the
  /// kernel cannot hand over its state.
  Status suspend() const;
  /// Continues a suspended job, after any checkpoint of it has been written. Throws
  /// Error{bad_state} if the job is not suspended.
  void resume() const;
  /// Writes a suspended job to a file: its State and the buffers that its kernel names. The
  /// engine's restore() continues it, in this or another process. The engine continues to work
  /// meanwhile. After a cancel(), wait() returns when the file has been written. Throws
  /// Error{bad_state} if the job is not suspended or its kernel names no buffers, Error{bad_file}
  /// if the file cannot be written.
  void checkpoint(const std::filesystem::path& file) const;

  /// Fixes the job's target, the number of groups that it should have if the machine has room: 1 to
  /// max_groups, or 0 with may_all_leave. A pending job starts with at most this many groups, and
  /// with a target of 0 not at all. For tests and experts; otherwise the engine decides.
  void set_target(std::uint32_t groups) const;
  /// Lets the engine decide the target again.
  void reset_target() const;

  [[nodiscard]] Status status() const;
  [[nodiscard]] Report report() const;

 private:
  std::shared_ptr<detail::JobControl> control_;
};

}  // namespace cohort
