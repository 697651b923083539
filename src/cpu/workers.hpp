// The CPU engine's backend: worker threads, each of which is a unit and runs one group at a time.
// Invariant: a worker accesses the bookkeeping only before and after a kernel, never inside it.
#pragma once

#include <condition_variable>
#include <memory>
#include <thread>
#include <vector>

#include "cohort/cpu.hpp"
#include "cpu/demotion.hpp"
#include "engine/dispatcher.hpp"

namespace cohort::cpu {

using engine::Census;
using engine::Ending;
using engine::JobRecord;
using protocol::Fault;
using protocol::Order;
using protocol::Roster;

class Workers final : public engine::Backend {
 public:
  /// `pin`: bind each worker to one CPU.
  Workers(engine::Dispatcher& dispatcher, bool pin);

  [[nodiscard]] bool accept(JobRecord& job) override;
  void resize(std::uint32_t units) override;
  void stop() override;
  void published_all() override;
  [[nodiscard]] bool starts_overdue() const override { return true; }
  [[nodiscard]] std::optional<std::uint64_t> progress(const JobRecord& job) const override;
  [[nodiscard]] std::uint32_t startable(const JobRecord& job, std::uint32_t groups) const override;
  void start(JobRecord& job, std::uint32_t groups) override;
  void publish(JobRecord& job) override;
  void refill(JobRecord& job) override;
  void trace_gather(JobRecord& job, const TraceGather& gather) override;
  [[nodiscard]] Census census(const JobRecord& job) const override;
  [[nodiscard]] std::optional<Ending> ending(JobRecord& job) override;
  [[nodiscard]] Ending conclude(JobRecord& job) override { return *ending(job); }
  [[nodiscard]] std::uint32_t blocked(const JobRecord& job) const override;
  void check_wait(const JobRecord& job, const char* call, bool endless) const override;
  void await(std::unique_lock<std::mutex>& lock, JobRecord& job, Deadline deadline,
             const std::function<bool()>& done) override;

 private:
  struct Worker {
    std::thread thread;
    std::condition_variable called;
    std::shared_ptr<JobRecord> job;  // the job that this worker is to visit next
    JobRecord* visited = nullptr;  // the job that it visits: set when it is sent, until it is idle
    bool spare = false;            // hired beyond the capacity, for tasks that are overdue
    Demotion demotion;
    detail::Visit visit;
    std::unique_ptr<Team> team;  // kept for the next group with the same number of threads
  };

  /// A group of `job` that waits for `awaited`. It keeps its unit meanwhile.
  struct Wait {
    const JobRecord* job;
    const JobRecord* awaited;

    friend bool operator==(const Wait&, const Wait&) = default;
  };

  void hire(std::uint32_t workers, bool spare = false);
  void hire_spare(std::uint32_t units, std::uint32_t more = 0);
  void pin(std::uint32_t index);
  void add_idle(std::uint32_t index);
  void keep_time();
  void demote_late(std::uint32_t soon);
  void work(std::uint32_t index);
  static detail::Stay visit(Worker& worker, JobRecord& job);
  static bool tell_tracer(JobRecord& job, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::uint32_t busy_workers() const;
  [[nodiscard]] std::uint32_t free_units() const;
  void send(JobRecord& job, std::uint32_t count, bool first);
  void set_patience(JobRecord& job, std::uint32_t capacity) const;
  [[nodiscard]] bool called_by_group() const;
  [[nodiscard]] bool can_end(const Wait& wait, const std::vector<Wait>& all) const;
  [[nodiscard]] bool could_end(const Wait& wait) const;

  engine::Dispatcher& dispatcher_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint32_t> idle_;
  std::vector<Wait> waits_;    // waits without a deadline
  std::uint32_t overdue_ = 0;  // number of groups of running tasks that were overdue
  bool any_demoted_ = false;
  std::thread clock_;  // the thread of keep_time(), which wakes when the next task is due
  std::condition_variable due_changed_;
  Scheduling scheduling_;          // scheduling of the thread that made the engine
  std::uint32_t usable_cpus_;      // number of usable CPUs when the engine was made
  std::vector<std::size_t> cpus_;  // CPUs to which workers are bound; empty if they are not
  static thread_local const JobRecord*
      current_;  // the job whose group this thread runs; null on a host thread
};

}  // namespace cohort::cpu
