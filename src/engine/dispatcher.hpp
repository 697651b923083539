// A job's life, the same on every engine: how many units each job and task has, when it starts, and
// how it comes to rest. A backend does what differs between engines.
// Invariant: one mutex guards all bookkeeping. No thread holds it while user code (such as a
// tracer) runs, while it waits for a device, or while it writes a file.
//
//   launch, submit, restore
//           │
//           ▼     begin()               last group out
//   ┌──► pending ─────────► running ──────────────────────► finished, left, cancelled, failed
//   │     │    ▲              │  │
//   │     │    └──────────────┘  │   suspended for a task or the capacity
//   │     ▼ suspend()            │
//   └─ suspended ◄───────────────┘   suspend()
//   resume()                     cancel() of pending or suspended ──► cancelled
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/backend.hpp"
#include "engine/effects.hpp"
#include "engine/job_record.hpp"
#include "engine/process.hpp"
#include "engine/task_meter.hpp"
#include "engine/task_queue.hpp"
#include "scheduler/policy.hpp"

namespace cohort::engine {

/// Lends an engine's units to other processes, until it is destroyed.
class Lending {
 public:
  Lending() = default;
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;
  virtual ~Lending() = default;

  /// Called with the dispatcher's mutex when Dispatcher::lendable() has changed.
  virtual void lendable_changed() noexcept = 0;
};

/// The options of a task that a launch does not have.
struct TaskTerms {
  std::string kind = {};
  std::optional<std::chrono::nanoseconds> start_within = {};
};

/// The part of an engine that may outlive the engine's handle, because jobs refer to it.
class Dispatcher : public std::enable_shared_from_this<Dispatcher> {
 public:
  /// Holds the mutex. Its destructor runs the effects. Throws Error{engine_gone} in a child of
  /// fork(), where the mutex may be locked for ever.
  class Locked {
   public:
    Locked(const Dispatcher& dispatcher, const char* call);
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked() {
      if (lock_.owns_lock()) perform_effects();
    }
    std::unique_lock<std::mutex>& lock() { return lock_; }
    void perform_effects() { dispatcher_.perform_effects(lock_); }

   private:
    const Dispatcher& dispatcher_;
    std::unique_lock<std::mutex> lock_;
  };

  explicit Dispatcher(std::shared_ptr<cohort::detail::Memory> memory)
      : memory_(std::move(memory)) {}

  /// Called before the first job: sets the backend and the number of units.
  void open(std::unique_ptr<Backend> backend, std::uint32_t units);
  /// Starts lending units to tenants. Called at most once, after open().
  void share(std::unique_ptr<Lending> lending);
  /// Ends all jobs and waits until they have ended. Their records stay for the remaining handles.
  void stop();

  /// `priority`: set for a task, empty for a job. `restored`: the job starts with the kept State.
  std::shared_ptr<JobRecord> launch(std::unique_ptr<cohort::detail::JobBody> body,
                                    const LaunchOptions& options, std::optional<int> priority,
                                    bool restored, const TaskTerms& terms = {});
  /// How many units the next task of this kind should get, at most `most`.
  [[nodiscard]] std::uint32_t choose_groups(const std::string& kind, std::uint32_t most,
                                            std::optional<std::chrono::nanoseconds> limit);
  [[nodiscard]] std::uint32_t capacity() const;
  /// The number of units that all tenants together may have. Needs no mutex.
  [[nodiscard]] std::uint32_t lendable() const { return lendable_.load(std::memory_order_relaxed); }
  void set_capacity(std::uint32_t units);
  [[nodiscard]] const std::shared_ptr<cohort::detail::Memory>& memory() const { return memory_; }
  [[nodiscard]] Backend& backend() const { return *backend_; }
  /// Whether this process is a child of the one that made the engine. None of the engine's threads
  /// run here.
  [[nodiscard]] bool left_behind() const { return process_.left_behind(); }
  /// The number of threads that wait for the mutex. A polling thread lets them go first.
  [[nodiscard]] std::uint32_t callers() const { return callers_.load(std::memory_order_relaxed); }

  // The functions below are called with the mutex, by records and backends.

  /// Throws if the engine is lost or destroyed.
  void check_alive(const char* call) const;
  /// Makes a new or suspended job pending, once `check` has not thrown and the backend has accepted
  /// the job.
  template <class Check>
  void enter(JobRecord& job, const char* call, Check check);
  /// Called when groups of a running job may have come or left: checks whether a demand has been
  /// met and whether the run is over.
  void news(JobRecord& job);
  /// Checks whether a demand has been met.
  void look_at_demand(JobRecord& job);
  void cancel(JobRecord& job);
  void rest(JobRecord& job, Status status);
  /// Ends a job for a reason outside its kernel.
  void fail(JobRecord& job, const Error& error);
  /// Decides the units of every job and task, and starts the jobs and tasks that can start. Does
  /// not throw: if the device does not respond, it counts as lost.
  void rebalance();
  /// The device has stopped working: all jobs and all later calls fail with `why`.
  void lose(const std::string& why);
  /// Calls Backend::look(). Returns the time until the next poll.
  std::chrono::microseconds look();
  /// Runs the pending effects. Releases the lock meanwhile; it is held again on return.
  void perform_effects(std::unique_lock<std::mutex>& lock) const { effects_.perform(lock); }
  /// Schedules a call of the job's tracer for when the mutex is released.
  void trace_gather_later(JobRecord& job, const TraceGather& gather);
  /// The first time after `after` at which a task must start even if no unit is free; empty if
  /// there is none.
  [[nodiscard]] std::optional<std::uint64_t> next_due(std::uint64_t after) const;
  /// `groups`, plus the groups of waiting tasks that have a due time, but at most `most`.
  [[nodiscard]] std::uint32_t due_groups(std::uint32_t groups, std::uint32_t most) const;

  [[nodiscard]] std::mutex& mutex() const { return mutex_; }
  [[nodiscard]] std::uint32_t units() const { return capacity_; }
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool lost() const { return lost_.has_value(); }
  /// Whether any job or task runs or waits to run.
  [[nodiscard]] bool has_work() const;
  /// The jobs that have not ended, in launch order. Does not include tasks.
  [[nodiscard]] const std::vector<std::shared_ptr<JobRecord>>& jobs() const { return jobs_; }
  [[nodiscard]] const TaskQueue<JobRecord>& tasks() const { return tasks_; }
  /// All jobs and tasks that may have groups.
  [[nodiscard]] std::vector<JobRecord*> jobs_and_running_tasks() const;
  /// The job's request to the scheduler.
  [[nodiscard]] scheduler::Claim claim(const JobRecord& job) const;
  /// The maximum number of units that a pending job, or one that starts before it, needs to start.
  [[nodiscard]] std::uint32_t units_to_start(const JobRecord& job) const;

 private:
  [[nodiscard]] std::vector<std::shared_ptr<JobRecord>> all() const;
  void enqueue(JobRecord& job);
  void share_out();
  void start_overdue();
  [[nodiscard]] TaskMeter::Jobs view() const;
  [[nodiscard]] bool may_join(const JobRecord& job) const;
  bool begin(JobRecord& job, std::uint32_t units);
  void publish(JobRecord& job, std::uint32_t units);
  void note_start(JobRecord& job, const Census& census);
  void met(JobRecord& job, std::uint64_t since, std::uint32_t groups);
  void conclude(JobRecord& job);
  void settle(JobRecord& job, const Ending& ending);

  const std::shared_ptr<cohort::detail::Memory> memory_;
  const HomeProcess process_{};
  mutable std::mutex mutex_;
  mutable std::atomic<std::uint32_t> callers_{0};
  mutable Effects effects_;
  std::vector<std::shared_ptr<JobRecord>> jobs_;
  TaskQueue<JobRecord> tasks_;
  std::uint64_t launches_ = 0;
  /// Waiting tasks with a due time, the earliest first.
  std::set<std::pair<std::uint64_t, JobRecord*>> due_;
  TaskMeter meter_;
  std::uint32_t capacity_ = 0;
  std::atomic<std::uint32_t> lendable_{0};
  std::unique_ptr<Lending> lending_;
  bool stopping_ = false;
  std::optional<Error> lost_;  // set when the engine is lost: the error with which jobs fail
  std::unique_ptr<Backend> backend_;
};

template <class Check>
void Dispatcher::enter(JobRecord& job, const char* call, Check check) {
  for (bool accepted = false; !accepted;) {
    {
      Locked locked{*this, call};
      check(locked);
      accepted = backend_->accept(job);
      if (accepted) enqueue(job);
    }
    if (!accepted) backend_->admit(job);
  }
  backend_->called();
}

}  // namespace cohort::engine
