// The thread that polls a device on behalf of its jobs, since the device cannot wake the host.
// Invariant: it gives the mutex to every waiting thread before it polls again.
#pragma once

#include <condition_variable>
#include <thread>

#include "engine/dispatcher.hpp"

namespace cohort::engine {

class Agent {
 public:
  explicit Agent(Dispatcher& dispatcher) : dispatcher_(dispatcher) {}

  /// Starts the thread, which runs `main`. `main` calls attend().
  void start(std::function<void()> main) { thread_ = std::thread{std::move(main)}; }
  /// Polls on behalf of the jobs until the dispatcher stops.
  void attend();
  /// Wakes the thread, because there may be something to poll.
  void call() { called_.notify_all(); }
  /// Called when the dispatcher stops. Returns when there is nothing left to poll.
  void join() {
    call();
    if (thread_.joinable()) thread_.join();
  }

 private:
  Dispatcher& dispatcher_;
  std::condition_variable called_;
  std::thread thread_;
};

/// A backend whose device is polled by an agent. The agent's thread calls the tracers, so a tracer
/// must not wait for a job.
class PolledBackend : public Backend {
 public:
  explicit PolledBackend(Dispatcher& dispatcher) : dispatcher_(dispatcher), agent_(dispatcher) {}

  /// Starts the agent once the dispatcher is open.
  void attend() {
    agent_.start([this] { attend_on_agent(); });
  }

  void trace_gather(JobRecord& job, const TraceGather& gather) override {
    dispatcher_.trace_gather_later(job, gather);
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
  /// The main function of the agent's thread.
  virtual void attend_on_agent() { agent_.attend(); }

  Dispatcher& dispatcher_;
  Agent agent_;
};

}  // namespace cohort::engine
