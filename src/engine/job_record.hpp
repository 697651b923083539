// A job or task as the engine knows it, and the calls of its handles.
// Invariant: the dispatcher's mutex guards it, except for members guarded by `moves` and members
// that never change.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "cohort/engine.hpp"
#include "cohort/platform/cpu.hpp"
#include "engine/size_history.hpp"
#include "engine/task_queue.hpp"

namespace cohort::engine {

class Dispatcher;

/// Whether no group is running and none will without a call by the host.
[[nodiscard]] inline bool at_rest(Status status) {
  return status != Status::pending && status != Status::running;
}
/// Whether the job is at rest for good.
[[nodiscard]] inline bool ended(Status status) {
  return at_rest(status) && status != Status::suspended;
}

using cpu::now;

class JobRecord final : public cohort::detail::JobControl,
                        public std::enable_shared_from_this<JobRecord> {
 public:
  JobRecord(std::shared_ptr<Dispatcher> its_dispatcher,
            std::unique_ptr<cohort::detail::JobBody> its_body, LaunchOptions with,
            std::optional<int> its_priority)
      : dispatcher(std::move(its_dispatcher)),
        body(std::move(its_body)),
        options(std::move(with)),
        priority(its_priority),
        target(options.target) {}

  Status wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) override;
  void cancel() override;
  Status suspend() override;
  void resume() override;
  void checkpoint(const std::filesystem::path& file) const override;
  void set_target(std::optional<std::uint32_t> groups) override;
  [[nodiscard]] Report report() const override;
  void rethrow() const override;

  /// Counts a group that has come in or left. Called by any thread, without the mutex.
  void moved(bool in, bool joined);
  /// Sets the number of groups in the kernel to `groups`; `joined` of them are new and came after
  /// the start.
  void count(std::uint32_t groups, std::uint32_t joined);

  /// The number of groups that fit on this number of units.
  [[nodiscard]] std::uint32_t groups_on(std::uint32_t its_units) const;
  [[nodiscard]] std::uint32_t units_for(std::uint32_t groups) const {
    return (groups + body->groups_per_unit - 1) / body->groups_per_unit;
  }
  /// Groups that are in the kernel or on their way there.
  [[nodiscard]] std::uint32_t not_out() const { return inside - telling; }
  [[nodiscard]] bool resizable() const { return options.resizable; }
  /// Whether wait() may return: the job is at rest and, unless it is only suspended, no checkpoint
  /// of it is being written.
  [[nodiscard]] bool waited_for() const {
    return at_rest(status) && !(ended(status) && saving > 0);
  }

  const std::shared_ptr<Dispatcher> dispatcher;
  const std::unique_ptr<cohort::detail::JobBody> body;
  const LaunchOptions options;
  const std::optional<int> priority;    // set for a task, empty for a job
  std::optional<std::uint32_t> target;  // set by Job::set_target, otherwise empty
  Ticket ticket;                        // place in the queue of tasks; only for a task
  std::uint64_t number = 0;             // place in the order of launches; only for a job
  std::string kind;                     // kind of a task; empty if its number of units is fixed
  std::optional<std::uint64_t> due;     // time at which a task must start even if no unit is free
  bool metered = false;                 // the meter counts this task
  bool overdue = false;                 // the time `due` has come

  Status status = Status::pending;
  // Status when the job was last at rest, if it has continued since.
  Status last_rest = Status::pending;
  std::uint64_t rests = 0;
  bool kept = false;  // the next run continues from the kept State
  bool held = false;  // suspended by the host instead of by the scheduler: stays so until resumed
  bool owed = false;  // a task was served while this job waited, so this job is next
  bool suspending = false;  // the groups have been told to suspend
  bool cancelled = false;   // the groups have been told that the job is cancelled
  bool concluding = false;  // its groups are out, and a thread is reading its run without the mutex
  bool has_units = false;   // every first group has its unit
  std::uint32_t units = 0;  // number of units, as last published
  std::uint32_t share = 0;  // groups that fit on these units
  std::uint32_t inside = 0;  // groups that hold units; counted by the backend
  // Of these, groups that are out but whose last events their tracer does not have yet.
  std::uint32_t telling = 0;
  // Number of checkpoints being written; the job must not run meanwhile.
  mutable std::uint32_t saving = 0;
  mutable std::condition_variable changed;
  protocol::FaultRecord fault;
  // A failure of the engine; for a kernel's exception, see why_failed().
  std::optional<Error> error;

  const std::uint64_t launched_at = now();
  std::uint64_t started_at = 0;
  std::uint64_t ran_before = 0;  // run time of earlier runs, in nanoseconds
  std::uint64_t demand_at = 0;   // when the current demand was published; 0 if it has been met
  std::uint32_t start_groups = 0;
  std::uint64_t leaves = 0;
  Samples gather;
  Samples offers;

  mutable std::mutex moves;  // guards the members that groups may change as they come and leave
  SizeHistory sizes;
  std::uint32_t in_kernel = 0;
  std::uint64_t joins = 0;

  std::optional<std::stop_callback<std::function<void()>>> stop_callback;

 private:
  void refuse_suspend() const;
  [[nodiscard]] std::string why_failed() const;
};

}  // namespace cohort::engine
