// What the tests of the apps share: a driver that resizes at random, and graphs of every kind.
#pragma once

#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "apps/run.hpp"
#include "cohort/cpu.hpp"
#include "graph/generators.hpp"

namespace cohort::apps {

/// COHORT_TEST_SCALE: 1 unless set.
inline double test_scale() {
  const char* const text = std::getenv("COHORT_TEST_SCALE");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? 1 : std::strtod(text, nullptr);
}

/// Holds groups up at each resizing point, so that others have the time to come and go.
class SlowTracer final : public Tracer {
 public:
  void record(const TraceEvent& event) noexcept override {
    if (event.what == Trace::offer) std::this_thread::sleep_for(std::chrono::microseconds{20});
  }
};

/// Runs that are too short for anybody to come are held up: the later seeds are.
inline Tracer* tracer_for(std::uint32_t seed) {
  static SlowTracer slow;
  return seed > 2 ? &slow : nullptr;
}

/// A new target every few hundred microseconds at most; now and then the job goes out and comes
/// back.
inline RunOptions resized_at_random(std::uint32_t groups, std::uint32_t seed) {
  RunOptions options;
  options.launch.max_groups = groups;
  options.launch.target = 1;
  options.launch.tracer = tracer_for(seed);
  options.drive = [groups, random = std::mt19937{seed}](const Job& job) mutable {
    const auto pick = [&random](std::uint32_t least, std::uint32_t most) {
      return std::uniform_int_distribution<std::uint32_t>{least, most}(random);
    };
    job.set_target(groups);
    for (;;) {
      if (const auto report = job.wait_for(std::chrono::microseconds{pick(20, 300)}))
        return *report;
      if (pick(1, 8) > 1) {
        job.set_target(pick(1, groups));
      } else if (job.suspend() == Status::suspended) {
        job.resume();
      }
    }
  };
  return options;
}

struct NamedGraph {
  std::string name;
  Csr graph;
  bool resizes = true;  ///< runs have enough steps for groups to come and go
};

}  // namespace cohort::apps
