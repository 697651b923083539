// A GPU shared by a job that fills it and a periodic task, in several ways. A part is one process
// of such an experiment. Invariant: no part runs for more than a minute.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cohort::bench::device {

/// The work of one process.
struct Part {
  /// plain: kernels of plain CUDA, the task's kernels in a stream of higher priority. green: the
  /// same on green contexts. lease, submit: the job cooperates.
  std::string way = "plain";
  bool background = true;  ///< whether this process runs the job
  bool task = true;        ///< whether this process runs the tasks
  /// Number of SMs that determines the amount of work; 0: all that this process sees.
  std::uint32_t device_sms = 0;
  std::uint32_t sms = 1;       ///< number of SMs for the tasks, with one block on each
  std::uint32_t products = 1;  ///< size of a task
  std::uint32_t count = 1;     ///< number of tasks
  double period = 0;           ///< seconds from the due time of one task to the next
  /// A folder in which the job's process and the tasks' process leave flags for each other.
  std::string folder = {};
};

/// Result of a part. Times are nanoseconds of the machine's clock, which is the same in all
/// processes.
struct PartResult {
  std::uint32_t sms = 0;             ///< number of SMs of the device, as this process sees it
  std::uint32_t background_sms = 0;  ///< number of SMs given to the job
  /// Progress of the job: time and steps.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> progress;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tasks;  ///< start and end of each task
  bool gave_up = false;   ///< whether a task was not done after a second
  bool verified = false;  ///< whether the results of the job and of the tasks are correct
};

/// Throws Error if the device does not support it.
[[nodiscard]] PartResult run(const Part& part);

}  // namespace cohort::bench::device
