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
  /// plain: kernels of plain CUDA, the task's in a stream of higher priority. green: the same on
  /// green contexts. lease, submit: the job cooperates.
  std::string way = "plain";
  bool background = true;        ///< this process runs the job
  bool task = true;              ///< this process runs the tasks
  std::uint32_t device_sms = 0;  ///< SMs by which the work is sized; 0: those this process sees
  std::uint32_t sms = 1;         ///< SMs for the tasks: a block on each
  std::uint32_t products = 1;    ///< size of a task
  std::uint32_t count = 1;       ///< number of tasks
  double period = 0;             ///< seconds from one being due to the next
  std::string folder = {};       ///< where the job's process and the tasks' process meet
};

/// Result of a part. Times are nanoseconds of the machine's clock, the same in all processes.
struct PartResult {
  std::uint32_t sms = 0;             ///< of the device, as this process sees it
  std::uint32_t background_sms = 0;  ///< that the job was given
  std::vector<std::pair<std::uint64_t, std::uint64_t>> progress;  ///< of the job: time, steps
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tasks;     ///< begun, done
  bool gave_up = false;   ///< a task was not done after a second
  bool verified = false;  ///< the results of the job and of the tasks are correct
};

/// Throws Error where the device cannot do it.
[[nodiscard]] PartResult run(const Part& part);

}  // namespace cohort::bench::device
