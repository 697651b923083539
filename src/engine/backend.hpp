// What differs between engines: how groups start, are counted, are told what to do, and end.
// Invariant: functions marked `held` are called with the dispatcher's mutex; they are bounded and
// run no code of users. The others are called without it, and may take their time.
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

/// What the groups of a running job are doing.
struct Census {
  bool has_units = true;  ///< all groups of the start have their units
  bool open = true;       ///< groups may still join
  bool over = false;      ///< no group is inside or can come in
};

/// How a run has ended. `suspended`: the State is kept, so that the job can go on.
struct Ending {
  Status status = Status::finished;
  protocol::FaultRecord fault = {};
};

/// The same, read from what the groups shared.
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

  /// Before a launch and a resume: what is slow, or refuses the job with an Error.
  virtual void admit(JobRecord& /*job*/) {}
  /// Held, right after that. False: admit() has to be called again.
  [[nodiscard]] virtual bool accept(JobRecord& /*job*/) { return true; }
  /// Held: the engine is to have so many units. Throws an Error where it cannot.
  virtual void resize(std::uint32_t units) = 0;
  /// All jobs have been told to end: returns when nothing runs any more.
  virtual void stop() = 0;

  /// Held: units to plan with, of those that the engine is to have.
  [[nodiscard]] virtual std::uint32_t plannable(std::uint32_t units) const { return units; }
  /// Held: the shares of all jobs have been published.
  virtual void published_all() {}
  /// Held: how many of these groups can start now.
  [[nodiscard]] virtual std::uint32_t startable(const JobRecord& job,
                                                std::uint32_t groups) const = 0;
  /// Held: starts a run with so many groups, and publishes the job's share. Throws an Error if it
  /// fails.
  virtual void start(JobRecord& job, std::uint32_t groups) = 0;
  /// Held: tells the groups the job's share, and whether it is suspending or cancelled. Idempotent.
  virtual void publish(JobRecord& job) = 0;
  /// Held: sends groups to the lobby of an open job that has fewer than its share, as far as units
  /// are free.
  virtual void refill(JobRecord& job) = 0;
  /// Held, of a running job.
  [[nodiscard]] virtual Census census(const JobRecord& job) const = 0;
  /// Held: groups that a running job is to have, as its groups see it.
  [[nodiscard]] virtual std::uint32_t target(const JobRecord& job) const;
  /// Held, when the run is over: how it has ended; nothing where that takes conclude().
  [[nodiscard]] virtual std::optional<Ending> ending(JobRecord& job) = 0;
  /// The same, and tells the tracer what it has not heard yet.
  [[nodiscard]] virtual Ending conclude(JobRecord& job) = 0;
  /// Held: the run has ended, and nothing of it is needed any more.
  virtual void retire(JobRecord& /*job*/) {}

  /// Held: tells the job's tracer of a demand that has been met, before the job comes to rest.
  virtual void tell(JobRecord& job, const TraceGather& gather) = 0;
  /// Held: throws Error{bad_state} if this thread must not wait for the job.
  virtual void check_wait(const JobRecord& job, const char* call, bool endless) const = 0;
  /// Held, as the lock is again in the end: waits for the job until `done` or the deadline.
  virtual void await(std::unique_lock<std::mutex>& lock, JobRecord& job, Deadline deadline,
                     const std::function<bool()>& done) = 0;

  /// Held: the device is lost. What a kernel may still touch must stay.
  virtual void abandon() {}
  /// Precedes the reason in the errors of calls after that.
  [[nodiscard]] virtual std::string lost_prefix() const { return {}; }

  /// A call may have made work for a thread that looks after the jobs.
  virtual void called() {}
  /// Held: whether there is something to look after.
  [[nodiscard]] virtual bool busy() const { return false; }
  /// Held: looks for groups that have come and gone. Returns when to look again.
  virtual std::chrono::microseconds look() { return std::chrono::hours{1}; }
};

/// Waits for `changed` until `done`, or the deadline if there is one.
void wait_for_change(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                     Backend::Deadline deadline, const std::function<bool()>& done);

}  // namespace cohort::engine
