// The interface that each engine implements: how groups start, are counted, receive orders, and
// end.
// Invariant: functions marked `held` are called with the dispatcher's mutex; they are bounded and
// run no user code. The others are called without it and may block.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "cohort/job.hpp"
#include "cohort/protocol/shared.hpp"

namespace cohort::engine {

class JobRecord;

/// The state of a running job's groups.
struct Census {
  bool has_units = true;  ///< every first group has its unit
  bool open = true;       ///< groups may still join
  bool over = false;      ///< no group is inside or can enter
};

/// How a run has ended. `suspended`: the State is kept, so the job can continue.
struct Ending {
  Status status = Status::finished;
  protocol::FaultRecord fault = {};
};

/// The same as Backend::ending(), computed from the words that the groups share.
[[nodiscard]] inline Ending ending_of(protocol::Roster roster, protocol::FaultRecord fault,
                                      bool kept) {
  using protocol::Fault;
  if (roster.faulted())
    return {fault.fault() == Fault::cancelled ? Status::cancelled : Status::failed, fault};
  if (roster.finished()) return {Status::finished};
  if (kept) return {Status::suspended};
  if (roster.active() == 0 && !roster.gathering()) return {Status::left};
  return {Status::failed, protocol::FaultRecord{Fault::lost_group}};
}

class Backend {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Called before a launch and a resume: does slow preparations, or refuses the job with an Error.
  virtual void admit(JobRecord& /*job*/) {}
  /// Held, right after admit(). Returns false if admit() has to be called again.
  [[nodiscard]] virtual bool accept(JobRecord& /*job*/) { return true; }
  /// Held: sets the engine's number of units. Throws an Error if that is impossible.
  virtual void resize(std::uint32_t units) = 0;
  /// Called when all jobs have been told to end. Returns when nothing runs any more.
  virtual void stop() = 0;

  /// Held: how many of the engine's `units` the scheduler may plan with.
  [[nodiscard]] virtual std::uint32_t plannable(std::uint32_t units) const { return units; }
  /// Held: called after the shares of all jobs have been published.
  virtual void published_all() {}
  /// Whether a task can start on threads of its own while all units are in use. If so, startable()
  /// and start() also serve overdue tasks, accept() prepares for them, and the backend calls
  /// Dispatcher::rebalance() when the next task is due.
  [[nodiscard]] virtual bool starts_overdue() const { return false; }
  /// Held: how many barriers a running job has passed. Empty if the engine does not know.
  [[nodiscard]] virtual std::optional<std::uint64_t> progress(const JobRecord& /*job*/) const {
    return {};
  }
  /// Held: false while a pending job has to wait for something other than units.
  [[nodiscard]] virtual bool may_begin(const JobRecord& /*job*/) const { return true; }
  /// Held: how many of these groups can start now.
  [[nodiscard]] virtual std::uint32_t startable(const JobRecord& job,
                                                std::uint32_t groups) const = 0;
  /// Held: starts a run with `groups` groups and publishes the job's share. Throws an Error if it
  /// fails.
  virtual void start(JobRecord& job, std::uint32_t groups) = 0;
  /// Held: publishes the job's share, and whether the job is suspended or cancelled, to its groups.
  /// Idempotent.
  virtual void publish(JobRecord& job) = 0;
  /// Held: if the job is open and has fewer groups than its share, sends more to its lobby, as far
  /// as units are free.
  virtual void refill(JobRecord& job) = 0;
  /// Held: the current state of a running job's groups.
  [[nodiscard]] virtual Census census(const JobRecord& job) const = 0;
  /// Held: the target of a running job, as its groups read it.
  [[nodiscard]] virtual std::uint32_t target(const JobRecord& job) const;
  /// Held, when the run is over: how it has ended. Empty if that requires conclude().
  [[nodiscard]] virtual std::optional<Ending> ending(JobRecord& job) = 0;
  /// Like ending(), but without the mutex. Also passes the remaining events to the tracer.
  [[nodiscard]] virtual Ending conclude(JobRecord& job) = 0;
  /// Held: the run has ended, and its data is no longer needed.
  virtual void retire(JobRecord& /*job*/) {}
  /// Held: the job is at rest for good.
  virtual void ended(JobRecord& /*job*/) {}

  /// Held: tells the job's tracer that a demand has been met, before the job comes to rest.
  virtual void trace_gather(JobRecord& job, const TraceGather& gather) = 0;
  /// Held: the number of a job's groups whose kernel waits for another job. These groups cannot
  /// leave.
  [[nodiscard]] virtual std::uint32_t blocked(const JobRecord& /*job*/) const { return 0; }
  /// Held: throws Error{bad_state} if this thread must not wait for the job.
  virtual void check_wait(const JobRecord& job, const char* call, bool endless) const = 0;
  /// Held on entry and on return: waits for the job until `done` or the deadline.
  virtual void await(std::unique_lock<std::mutex>& lock, JobRecord& job, Deadline deadline,
                     const std::function<bool()>& done) = 0;

  /// Held: the device is lost. Memory that a kernel may still access must stay allocated.
  virtual void abandon() {}
  /// Prefix of the reason in the errors of calls after the device was lost.
  [[nodiscard]] virtual std::string lost_prefix() const { return {}; }

  /// Called after a call that may have made work for a polling thread.
  virtual void called() {}
  /// Held: whether there is something to poll.
  [[nodiscard]] virtual bool busy() const { return false; }
  /// Held: checks which groups have come or left. Returns the time until the next poll.
  virtual std::chrono::microseconds look() { return std::chrono::hours{1}; }
};

/// Waits on `changed` until `done`, or until the deadline if there is one.
void wait_for_change(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                     Backend::Deadline deadline, const std::function<bool()>& done);

}  // namespace cohort::engine
