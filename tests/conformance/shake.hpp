// A host that resizes a job as fast as it can.
#pragma once

#include <random>
#include <thread>

#include "conformance/waiting.hpp"

namespace cohort::test {

struct Shaking {
  std::uint32_t seed = 1;
  /// Whether some of the targets have to be reached. If not, the host may set targets faster than
  /// the job follows.
  bool reaches_some = false;
};

/// Sets random targets until `events` groups have joined or left, and suspends the job now and
/// then. If groups stop joining and leaving, the watchdog ends the test.
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
