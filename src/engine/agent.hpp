// The thread that looks after the jobs of a device, which cannot wake the host. Invariant: it lets
// every other thread have the mutex first.
#pragma once

#include <condition_variable>
#include <thread>

#include "engine/dispatcher.hpp"

namespace cohort::engine {

class Agent {
 public:
  explicit Agent(Dispatcher& dispatcher) : dispatcher_(dispatcher) {}

  /// `main` calls attend().
  void start(std::function<void()> main) { thread_ = std::thread{std::move(main)}; }
  /// Looks after the jobs until the dispatcher stops.
  void attend();
  /// There may be something to look after.
  void call() { called_.notify_all(); }
  /// When the dispatcher is stopping: returns when there is nothing to look after any more.
  void join() {
    call();
    if (thread_.joinable()) thread_.join();
  }

 private:
  Dispatcher& dispatcher_;
  std::condition_variable called_;
  std::thread thread_;
};

/// A backend that is looked after by an agent. Tracers are called by whichever thread looks, so
/// they must not wait for a job.
class PolledBackend : public Backend {
 public:
  explicit PolledBackend(Dispatcher& dispatcher) : dispatcher_(dispatcher), agent_(dispatcher) {}

  /// Starts the agent, once the dispatcher is open.
  void attend() {
    agent_.start([this] { attend_on_agent(); });
  }

  void tell(JobRecord& job, const TraceGather& gather) override {
    dispatcher_.tell_later(job, gather);
  }
  void check_wait(const JobRecord& /*job*/, const char* call, bool /*endless*/) const override {
    Effects::refuse_wait(call);
  }
  void await(std::unique_lock<std::mutex>& lock, JobRecord& job, Deadline deadline,
             const std::function<bool()>& done) override {
    wait_for_change(lock, job.changed, deadline, done);
  }
  void called() override { agent_.call(); }

 protected:
  /// What the agent's thread does.
  virtual void attend_on_agent() { agent_.attend(); }

  Dispatcher& dispatcher_;
  Agent agent_;
};

}  // namespace cohort::engine
