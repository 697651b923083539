// Runs of programs while groups join and leave, repeated until one has joined.
#pragma once

#include <functional>
#include <random>

#include "on_engine.hpp"
#include "resize_hold.hpp"

namespace cohort::test {

/// Runs the kernel, with one group at first, and sets random targets until it ends. From the second
/// attempt on, the job first grows and shrinks; on the CPU its groups are held until it has.
inline Report run_resizing(const ProgramKernel& kernel, std::uint32_t local_size,
                           std::uint32_t attempt) {
  ResizeHold hold;
  const bool holds = std::is_same_v<TestEngine, cpu::Engine> && attempt > 0;
  const Job job = kernel.launch(engine(), {.max_groups = 6,
                                           .start_groups = 1,
                                           .local_size = local_size,
                                           .tracer = holds ? &hold : nullptr});
  try {
    if (attempt > 0) {
      resize_to(job, 6);
      resize_to(job, 1);
    }
  } catch (const Error&) {  // the job has just ended
  }
  std::mt19937 random{attempt};
  while (!job.wait_for(std::chrono::microseconds{random() % 100})) {
    try {
      job.set_target(1 + static_cast<std::uint32_t>(random() % 6));
    } catch (const Error&) {  // the job has just ended
    }
  }
  return job.wait();
}

/// Repeats `run` until a group has joined. `run` receives the number of the attempt.
inline void repeat_until_joined(const std::function<Report(std::uint32_t attempt)>& run) {
  std::uint64_t joins = 0;
  for (std::uint32_t attempt = 0; joins == 0 && !testing::Test::HasFailure(); ++attempt)
    joins = run(attempt).joins;
}

}  // namespace cohort::test
