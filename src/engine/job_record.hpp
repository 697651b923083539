// A job or task as the engine knows it, and its handles' calls. Invariant: guarded by the
// dispatcher's mutex, but for what `moves` guards and what never changes.
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

/// No group is running, and none will without a call by the host.
[[nodiscard]] inline bool at_rest(Status status) {
  return status != Status::pending && status != Status::running;
}
/// At rest for good.
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

  /// A group has come in or gone out. Called by any thread, without the mutex.
  void moved(bool in, bool joined);
  /// So many groups are in the kernel; `joined` of them are new and came later than the start.
  void count(std::uint32_t groups, std::uint32_t joined);

  /// Groups that so many units are good for.
  [[nodiscard]] std::uint32_t groups_on(std::uint32_t its_units) const;
  [[nodiscard]] std::uint32_t units_for(std::uint32_t groups) const {
    return (groups + body->groups_per_unit - 1) / body->groups_per_unit;
  }
  [[nodiscard]] bool resizable() const { return options.resizable; }
  /// At rest, and its memory is not being written to a file any more unless it is only suspended.
  [[nodiscard]] bool waited_for() const {
    return at_rest(status) && !(ended(status) && saving > 0);
  }

  const std::shared_ptr<Dispatcher> dispatcher;
  const std::unique_ptr<cohort::detail::JobBody> body;
  const LaunchOptions options;
  const std::optional<int> priority;    // of a task; a job has none
  std::optional<std::uint32_t> target;  // set by hand
  Ticket ticket;                        // of a task

  Status status = Status::pending;
  Status last_rest = Status::pending;  // how it last came to rest, should it have gone on since
  std::uint64_t rests = 0;
  bool kept = false;         // the next run continues from the kept State
  bool held = false;         // suspended by the host, not for a task: stays out until resumed
  bool owed = false;         // a task was served while this job waited: its turn now
  bool suspending = false;   // has been told so
  bool cancelled = false;    // has been told so
  bool concluding = false;   // its groups are out, and its run is read without the mutex
  bool has_units = false;    // all groups of the start
  std::uint32_t units = 0;   // as published
  std::uint32_t share = 0;   // groups that these are good for
  std::uint32_t inside = 0;  // groups that hold units; counted by the backend
  mutable std::uint32_t saving = 0;  // checkpoints that are being written: it must not run
  mutable std::condition_variable changed;
  protocol::FaultRecord fault;
  std::optional<Error> error;  // of the engine rather than of the kernel

  const std::uint64_t launched_at = now();
  std::uint64_t started_at = 0;
  std::uint64_t ran_before = 0;  // nanoseconds of earlier runs
  std::uint64_t demand_at = 0;   // when a demand that is not yet met was published
  std::uint32_t start_groups = 0;
  std::uint64_t leaves = 0;
  Samples gather;
  Samples offers;

  mutable std::mutex moves;  // the few words that groups may write as they come and go
  SizeHistory sizes;
  std::uint32_t in_kernel = 0;
  std::uint64_t joins = 0;

  std::optional<std::stop_callback<std::function<void()>>> stop_callback;

 private:
  void refuse_suspend() const;
  [[nodiscard]] std::string why_failed() const;
};

}  // namespace cohort::engine
