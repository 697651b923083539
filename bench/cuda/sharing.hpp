// A GPU shared by a job that fills it and a task that comes again and again, in all the ways there
// are. A part is one process of such an experiment. Invariant: no part runs for more than a minute.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cohort::bench::device {

/// What one process does.
struct Part {
  /// plain: kernels of plain CUDA, the task's in a stream of higher priority. green: the same on
  /// green contexts. lease, submit: the job cooperates.
  std::string way = "plain";
  bool background = true;        ///< the job is ours to run
  bool task = true;              ///< so are the tasks
  std::uint32_t device_sms = 0;  ///< of which the work depends; those this process sees if 0
  std::uint32_t sms = 1;         ///< that the tasks are to have: a block on each
  std::uint32_t products = 1;    ///< how much a task is
  std::uint32_t count = 1;       ///< of tasks
  double period = 0;             ///< seconds from one being due to the next
  std::string folder = {};       ///< where a process with the job and one with the tasks meet
};

/// What came of it. Times are nanoseconds of the machine's clock, the same in all processes.
struct PartResult {
  std::uint32_t sms = 0;             ///< of the device, as this process sees it
  std::uint32_t background_sms = 0;  ///< that the job was given
  std::vector<std::pair<std::uint64_t, std::uint64_t>> progress;  ///< of the job: when, steps
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tasks;     ///< begun, done
  bool gave_up = false;   ///< a task was not done after a second
  bool verified = false;  ///< what the job and the tasks computed
};

/// Throws Error where the device cannot do it.
[[nodiscard]] PartResult run(const Part& part);

}  // namespace cohort::bench::device
