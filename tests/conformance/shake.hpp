// A host that resizes a job as fast as it can.
#pragma once

#include <random>
#include <thread>

#include "conformance/waiting.hpp"

namespace cohort::test {

struct Shaking {
  std::uint32_t seed = 1;
  /// Whether the job reaches some of the targets: it may be slower than this thread.
  bool reaches_some = false;
};

/// Sets random targets until `events` groups have joined or left; suspends the job now and then.
/// The watchdog ends the test if groups stop joining and leaving.
inline void shake(const Job& job, std::uint32_t groups, std::uint64_t events, Shaking how) {
  std::mt19937 random{how.seed};
  for (std::uint32_t turn = 1;; ++turn) {
    const auto target = 1 + static_cast<std::uint32_t>(random() % groups);
    job.set_target(target);
    if (how.reaches_some && turn % 8 == 0) await([&] { return groups_now(job) == target; });
    if (turn % 32 == 0 && job.suspend() == Status::suspended) job.resume();
    if (turn % 16 == 0) {
      const Report report = job.report();
      if (report.joins + report.leaves >= events) return;
    }
    if (random() % 4 == 0) std::this_thread::yield();
  }
}

}  // namespace cohort::test
