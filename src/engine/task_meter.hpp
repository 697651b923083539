// Measures how much tasks of a kind slow down the jobs of an engine. The choice of the tasks' units
// depends on it.
// Invariant: a task is measured only if no other task existed from its submit to its end. Guarded
// by the engine's mutex.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "scheduler/preemption.hpp"

namespace cohort::engine {

class TaskMeter {
 public:
  /// The state of the engine's jobs at one moment.
  struct Jobs {
    std::uint64_t now = 0;       ///< current time in nanoseconds
    std::uint64_t progress = 0;  ///< number of barriers that all jobs together have passed
    std::size_t mix = 0;         ///< a number that identifies the set of running kernels
    std::uint32_t count = 0;
    bool whole = true;  ///< each job has as many groups as in the plan without tasks
  };

  /// Whether tasks of a kind have been submitted. Without them, nothing is measured.
  [[nodiscard]] bool used() const { return !kinds_.empty(); }
  /// How many units the next task of the kind should get, at most `most`.
  [[nodiscard]] std::uint32_t choose(const std::string& kind, const Jobs& jobs,
                                     std::uint32_t capacity, std::uint32_t most,
                                     std::optional<double> limit);

  /// Call it when a task has been submitted. `kind` is empty for a task with a fixed number of
  /// units.
  void submitted(const std::string& kind, std::uint32_t units, const Jobs& jobs);
  /// Call it when a task has got its units.
  void started(const Jobs& jobs);
  /// Call it when a task has come to rest, whether it has run or not.
  void ended(bool finished, const Jobs& jobs);
  /// Call it when a job or a unit of a tenant has come or gone, since this changes the speed of the
  /// jobs.
  void jobs_changed();
  /// Call it when units have moved.
  void look(const Jobs& jobs);

 private:
  /// Measurements of one kind of tasks next to the same set of kernels.
  struct Setting {
    scheduler::PreemptionPolicy policy;
    double quiet_time = 0;      ///< nanoseconds without tasks; recent ones weigh more
    double quiet_progress = 0;  ///< barriers passed by the jobs in quiet_time
  };
  /// The task that is currently measured.
  struct Current {
    std::string kind;
    std::size_t mix = 0;
    std::uint32_t units = 0;
    std::uint64_t submitted = 0;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    std::uint64_t progress = 0;  ///< progress of the jobs when the task started
    bool same_jobs = true;       ///< the jobs have been the same since the task started
  };

  Setting& setting(const std::string& kind, std::size_t mix);
  void finish(const Jobs& jobs);

  std::map<std::string, std::map<std::size_t, Setting>, std::less<>> kinds_;
  std::uint32_t unfinished_ = 0;  // number of tasks submitted and not yet at rest
  std::optional<Current> current_;
  // The jobs at the last time from which on no task existed and all jobs were whole.
  std::optional<Jobs> quiet_;
};

}  // namespace cohort::engine
