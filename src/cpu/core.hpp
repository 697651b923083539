// The CPU engine's inside: the worker pool and the jobs as it knows them.
// Invariant: all bookkeeping is under one mutex; groups touch it only when they come or go, never
// inside a kernel. No code of users runs under it, and no file is written.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "cohort/cpu.hpp"
#include "cpu/sizes.hpp"
#include "engine/process.hpp"
#include "engine/task_queue.hpp"
#include "scheduler/policy.hpp"

namespace cohort::cpu {

using protocol::Fault;
using protocol::Order;
using protocol::Roster;

/// No group is running, and none will without a call by the host.
inline bool at_rest(Status status) {
  return status != Status::pending && status != Status::running;
}
/// At rest for good.
inline bool ended(Status status) { return at_rest(status) && status != Status::suspended; }

/// Everything of an engine that may outlive its handle: jobs refer to it.
class Engine::Core : public std::enable_shared_from_this<Core> {
 public:
  class Record;

  void start(std::uint32_t workers, bool pin);
  void stop();
  std::shared_ptr<Record> launch(std::unique_ptr<detail::Body> body, const LaunchOptions& options,
                                 std::optional<int> priority, bool restored);
  [[nodiscard]] std::uint32_t capacity() const;
  void set_capacity(std::uint32_t units);

 private:
  struct Worker {
    std::thread thread;
    std::condition_variable called;
    std::shared_ptr<Record> job;  // where to go next
    detail::Visit visit;
    std::optional<TraceGather> start;  // of a task, for its tracer; the first group tells it
    std::unique_ptr<Team> team;        // kept for the next group of as many threads
  };

  /// The mutex. Throws Error{engine_gone} in a child of fork(), where it may be locked for ever.
  [[nodiscard]] std::unique_lock<std::mutex> locked(const char* call) const;
  void hire(std::uint32_t workers);
  void work(std::uint32_t index);
  void tell_gathers(Record& job, std::unique_lock<std::mutex>& lock);
  static detail::Stay visit(Worker& worker, Record& job);
  void refuse_endless_wait(const Record& job, const char* call) const;
  [[nodiscard]] bool can_start_next_to(std::size_t waiting, const Record& job) const;
  void rebalance();
  bool begin(const std::shared_ptr<Record>& job, std::uint32_t share);
  [[nodiscard]] std::uint32_t free_units() const;
  void send(const std::shared_ptr<Record>& job, std::uint32_t count, bool first);
  void publish(Record& job, std::uint32_t share);
  void set_patience(Record& job) const;
  void settle(Record& job);
  void rest(Record& job, Status status);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint32_t> idle_;
  std::vector<std::shared_ptr<Record>> jobs_;  // not yet ended, in launch order; no tasks
  engine::TaskQueue<Record> tasks_;
  std::vector<const Record*> awaited_;  // by groups that do nothing else until these have ended
  std::uint32_t capacity_ = 0;
  std::uint32_t usable_cpus_ = 1;  // when the engine was made
  std::vector<std::size_t> cpus_;  // to bind workers to; empty: they go where they like
  bool stopping_ = false;
  const engine::HomeProcess process_{};
  static thread_local const Record*
      current_;  // whose group this thread runs; null on a host thread
};

/// A job as the engine knows it. Guarded by the core's mutex, but for the body and the counters of
/// `moved`.
class Engine::Core::Record final : public cohort::detail::JobControl,
                                   public std::enable_shared_from_this<Record> {
 public:
  Record(std::shared_ptr<Core> its_core, std::unique_ptr<detail::Body> its_body, LaunchOptions with,
         std::optional<int> its_priority)
      : core(std::move(its_core)),
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

  /// A group has come in or gone out; called by its worker, outside the core's mutex.
  static void moved(void* job, bool in, bool joined);

  [[nodiscard]] bool suspending() const {
    return (body->shared.flags.load(Order::relaxed) & protocol::suspend_flag) != 0;
  }
  /// Before the share is published: a target of 0 must come with its flag.
  void ask_to_leave() { body->shared.flags.store(protocol::suspend_flag, Order::release); }
  [[nodiscard]] scheduler::Claim claim() const;
  /// A demand has been met.
  [[nodiscard]] TraceGather gathered(std::uint64_t since, std::uint32_t groups);
  /// At rest, and its memory is not being written to a file any more unless it is only suspended.
  [[nodiscard]] bool waited_for() const {
    return at_rest(status) && !(ended(status) && saving > 0);
  }

  const std::shared_ptr<Core> core;
  const std::unique_ptr<detail::Body> body;
  const LaunchOptions options;
  const std::optional<int> priority;    // of a task; a job has none
  std::optional<std::uint32_t> target;  // set by hand
  Status status = Status::pending;
  Status last_rest =
      Status::pending;  // how the job last came to rest, should it have gone on since
  std::uint64_t rests = 0;
  bool kept = false;         // a resume continues from States::kept
  bool held = false;         // suspended by the host, not for a task: stays out until resumed
  bool owed = false;         // a task was served while this job waited: its turn now
  std::uint32_t share = 0;   // as published
  std::uint32_t inside = 0;  // workers sent and not yet back
  engine::Ticket ticket;     // of a task
  mutable std::uint32_t saving = 0;  // checkpoints that are being written: it must not run
  mutable std::condition_variable changed;

  std::uint64_t launched_at = now();
  std::uint64_t started_at = 0;
  std::uint64_t ran_before = 0;  // nanoseconds of earlier runs, up to their suspends
  std::uint64_t demand_at = 0;   // when a demand that is not yet met was published
  std::uint32_t start_groups = 0;
  std::uint64_t leaves = 0;
  Samples gather;
  Samples offers;

  mutable std::mutex moves;  // the few words that groups write as they come and go
  Sizes sizes;
  std::uint32_t in_kernel = 0;
  std::uint64_t joins = 0;

  std::optional<std::stop_callback<std::function<void()>>> stop_callback;
};

}  // namespace cohort::cpu
