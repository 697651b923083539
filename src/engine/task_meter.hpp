// Measures what tasks of a kind cost next to the jobs of an engine, for the choice of their units.
// Invariant: a task is measured only if it was the only one from its submit until it was done.
// Guarded by the engine's mutex.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "scheduler/preemption.hpp"

namespace cohort::engine {

class TaskMeter {
 public:
  /// The jobs of the engine at a moment.
  struct Jobs {
    std::uint64_t now = 0;       ///< in nanoseconds
    std::uint64_t progress = 0;  ///< barriers that they have passed, all together
    std::size_t mix = 0;         ///< the same for the same kernels
    std::uint32_t count = 0;
    bool whole = true;  ///< each has as many groups as the plan without tasks gives it
  };

  /// Whether tasks of a kind have been submitted. Without them, nothing is measured.
  [[nodiscard]] bool used() const { return !kinds_.empty(); }
  /// How many units the next task of the kind should get, at most `most`.
  [[nodiscard]] std::uint32_t choose(const std::string& kind, const Jobs& jobs,
                                     std::uint32_t capacity, std::uint32_t most,
                                     std::optional<double> limit);

  /// A task was submitted. `kind` is empty for a task with a fixed number of units.
  void submitted(const std::string& kind, std::uint32_t units, const Jobs& jobs);
  /// A task has its units.
  void started(const Jobs& jobs);
  /// A task has come to rest, whether it has run or not.
  void ended(bool finished, const Jobs& jobs);
  /// A job or a tenant's unit has come or gone, so what the jobs pass per second changes.
  void jobs_changed();
  /// Called when units have moved.
  void look(const Jobs& jobs);

 private:
  /// Tasks of a kind next to the same kernels.
  struct Setting {
    scheduler::PreemptionPolicy policy;
    double quiet_time = 0;      ///< without tasks, recent times weigh more
    double quiet_progress = 0;  ///< of the jobs in that time
  };
  /// The task that is being measured.
  struct Current {
    std::string kind;
    std::size_t mix = 0;
    std::uint32_t units = 0;
    std::uint64_t submitted = 0;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    std::uint64_t progress = 0;  ///< of the jobs at its start
    bool same_jobs = true;       ///< since its start
  };

  Setting& setting(const std::string& kind, std::size_t mix);
  void finish(const Jobs& jobs);

  std::map<std::string, std::map<std::size_t, Setting>, std::less<>> kinds_;
  std::uint32_t unfinished_ = 0;  // tasks that have been submitted and are not at rest
  std::optional<Current> current_;
  std::optional<Jobs> quiet_;  // since when no task is there and the jobs are whole
};

}  // namespace cohort::engine
