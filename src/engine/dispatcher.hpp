// A job's life, the same on every engine: which job and task has how many units, when it starts,
// and how it comes to rest. A backend does what differs. Invariant: all bookkeeping is under one
// mutex. No thread holds it while a tracer or another piece of a user's code runs, a device is
// waited for, or a file is written.
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
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend.hpp"
#include "engine/effects.hpp"
#include "engine/job_record.hpp"
#include "engine/process.hpp"
#include "engine/task_queue.hpp"
#include "scheduler/policy.hpp"

namespace cohort::engine {

/// Everything of an engine that may outlive its handle: jobs refer to it.
class Dispatcher : public std::enable_shared_from_this<Dispatcher> {
 public:
  /// The mutex. Its end runs the effects. Throws Error{engine_gone} in a child of fork(), where it
  /// may be locked for ever.
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

  /// Before the first job: what runs them, and how many units it has.
  void open(std::unique_ptr<Backend> backend, std::uint32_t units);
  /// Ends all jobs, and waits for that. Their records stay, for handles that are left.
  void stop();

  /// `priority`: of a task; a job has none. `restored`: it starts with the kept State.
  std::shared_ptr<JobRecord> launch(std::unique_ptr<cohort::detail::JobBody> body,
                                    const LaunchOptions& options, std::optional<int> priority,
                                    bool restored);
  [[nodiscard]] std::uint32_t capacity() const;
  void set_capacity(std::uint32_t units);
  [[nodiscard]] const std::shared_ptr<cohort::detail::Memory>& memory() const { return memory_; }
  [[nodiscard]] Backend& backend() const { return *backend_; }
  /// Whether this is a child of the process that made the engine: nothing of it runs here.
  [[nodiscard]] bool left_behind() const { return process_.left_behind(); }
  /// Threads that want the mutex. One that polls under it lets them pass.
  [[nodiscard]] std::uint32_t callers() const { return callers_.load(std::memory_order_relaxed); }

  // What follows is called with the mutex, by records and backends.

  /// Throws if the engine is lost or destroyed.
  void check_alive(const char* call) const;
  /// Makes a new or suspended job pending, once `check` has not thrown and the backend accepts it.
  template <class Check>
  void enter(JobRecord& job, const char* call, Check check);
  /// Groups of a running job may have come or gone: has a demand been met, is the run over?
  void news(JobRecord& job);
  /// Has a demand been met, now that so many groups hold units?
  void look_at_demand(JobRecord& job, std::uint32_t inside);
  void cancel(JobRecord& job);
  void rest(JobRecord& job, Status status);
  /// Ends a job for a reason that is not its kernel's.
  void fail(JobRecord& job, const Error& error);
  /// Decides what every job and task is to have, and starts what is missing. Throws nothing: a
  /// device that does not obey is lost.
  void rebalance();
  /// The device will not work any more: all jobs and all calls from now on fail with `why`.
  void lose(const std::string& why);
  /// Has the backend look for groups that have come and gone. Returns when to look again.
  std::chrono::microseconds look();
  /// Without the lock, which is held again in the end.
  void perform_effects(std::unique_lock<std::mutex>& lock) const { effects_.perform(lock); }
  /// Calls the job's tracer later, without the mutex.
  void tell_later(JobRecord& job, const TraceGather& gather);

  [[nodiscard]] std::mutex& mutex() const { return mutex_; }
  [[nodiscard]] std::uint32_t units() const { return capacity_; }
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool lost() const { return lost_.has_value(); }
  /// Some job or task runs or wants to.
  [[nodiscard]] bool has_work() const;
  /// Not yet ended, in launch order; no tasks.
  [[nodiscard]] const std::vector<std::shared_ptr<JobRecord>>& jobs() const { return jobs_; }
  [[nodiscard]] const TaskQueue<JobRecord>& tasks() const { return tasks_; }
  /// All that may have groups.
  [[nodiscard]] std::vector<JobRecord*> jobs_and_running_tasks() const;
  /// What a job asks for.
  [[nodiscard]] scheduler::Claim claim(const JobRecord& job) const;

 private:
  [[nodiscard]] std::vector<std::shared_ptr<JobRecord>> all() const;
  void enqueue(JobRecord& job);
  void share_out();
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
  std::uint32_t capacity_ = 0;
  bool stopping_ = false;
  std::optional<Error> lost_;  // what jobs fail with
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
