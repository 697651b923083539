// Shared by the tests of the apps: a driver that resizes at random, and graphs of every kind.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apps/run.hpp"
#include "cohort/cpu.hpp"
#include "conformance/scale.hpp"
#include "graph/generators.hpp"
#include "resize_hold.hpp"

namespace cohort::apps {

/// Sets a new target at least every few hundred microseconds, and suspends and resumes the job now
/// and then. From the third seed on, the test first waits until one group has joined and one has
/// left.
inline RunOptions resized_at_random(std::uint32_t groups, std::uint32_t seed) {
  RunOptions options;
  options.launch.max_groups = groups;
  options.launch.target = 1;
  const auto hold = seed > 2 ? std::make_shared<test::ResizeHold>() : nullptr;
  options.launch.tracer = hold.get();
  options.drive = [hold, groups, random = std::mt19937{seed}](const Job& job) mutable {
    const auto pick = [&random](std::uint32_t least, std::uint32_t most) {
      return std::uniform_int_distribution<std::uint32_t>{least, most}(random);
    };
    if (hold) {
      test::resize_to(job, groups);
      test::resize_to(job, 1);
    }
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

/// Calls `run(seed)`, which returns a run's report, at least `least` times and until groups have
/// joined and left.
template <class Run>
void repeat_until_resized(std::uint32_t least, Run run) {
  std::uint64_t joins = 0;
  std::uint64_t leaves = 0;
  for (std::uint32_t seed = 1; seed <= least || joins == 0 || leaves == 0; ++seed) {
    const Report report = run(seed);
    ASSERT_EQ(report.status, Status::finished);
    if (testing::Test::HasFailure()) return;
    joins += report.joins;
    leaves += report.leaves;
  }
}

struct TestGraph {
  std::string name;
  Csr graph;
  bool resizes = true;  ///< whether runs have enough steps for groups to join and leave
};

}  // namespace cohort::apps
