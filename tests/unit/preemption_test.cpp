// The choice of a task's number of units: properties over random machines.
#include "scheduler/preemption.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "conformance/scale.hpp"

namespace cohort::scheduler {
namespace {

using testing::ElementsAre;

/// A machine, a job, and one kind of tasks, with all the properties that the policy has to find
/// out.
struct Machine {
  std::uint32_t capacity = 8;
  double work = 1e6;       // duration of a task on one unit
  double task_serial = 0;  // the part of the task that does not scale
  double job_scaling = 1;  // the job's speed on half of the units is 2^-scaling
  double step = 0;         // time between the job's resizing points, on all units
  double noise = 0;
  std::mt19937 random{1};

  double shaken(double value) {
    return value * std::uniform_real_distribution{1 - noise, 1 + noise}(random);
  }
  double run(std::uint32_t groups) const {
    return work * task_serial + work * (1 - task_serial) / groups;
  }
  double speed(std::uint32_t groups) const {
    return groups >= capacity ? 0 : std::pow(1 - double(groups) / capacity, job_scaling);
  }
  /// Half a step until the first resizing point after the task; 0 after a suspend.
  double regrow(std::uint32_t groups) const {
    return groups >= capacity ? 0 : step / 2 / std::max(speed(groups), 0.01);
  }
  double loss(std::uint32_t groups) const {
    return (run(groups) + regrow(groups)) * (1 - speed(groups));
  }
  double latency(std::uint32_t groups) const { return step / 2 + run(groups); }
  TaskCost serve(std::uint32_t groups) {
    return {.groups = groups,
            .gather = shaken(step / 2),
            .run = shaken(run(groups)),
            .regrow = shaken(regrow(groups)),
            .speed = groups >= capacity ? std::nullopt : std::optional{shaken(speed(groups))}};
  }
};

Machine random_machine(unsigned seed) {
  std::mt19937 random{seed};
  const auto upto = [&random](double most) {
    return std::uniform_real_distribution{0.0, most}(random);
  };
  Machine result;
  result.capacity = 2 + static_cast<std::uint32_t>(upto(130));
  result.work = std::exp(upto(8)) * 1e5;
  result.task_serial = upto(1) < 0.5 ? 0 : upto(0.3);
  result.job_scaling = 0.7 + upto(0.6);
  result.step = upto(1) < 0.3 ? 0 : std::exp(upto(8)) * 1e4;
  result.random.seed(seed);
  return result;
}

TEST(PreemptionChoices, AreOneAQuarterAHalfAllButOneForEachJobAndAll) {
  EXPECT_THAT(preemption_choices(8, 1, 8), ElementsAre(1, 2, 4, 7, 8));
  EXPECT_THAT(preemption_choices(132, 2, 132), ElementsAre(1, 33, 66, 130, 132));
  EXPECT_THAT(preemption_choices(2, 1, 2), ElementsAre(1, 2));
  EXPECT_THAT(preemption_choices(1, 1, 1), ElementsAre(1));
  EXPECT_THAT(preemption_choices(8, 20, 8), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(preemption_choices(8, 1, 3), ElementsAre(1, 2, 3));
}

TEST(Preemption, OneOfTheChoicesWhateverIsMeasured) {
  for (unsigned seed = 0; seed < test::scaled(2000, 100); ++seed) {
    std::mt19937 random{seed};
    PreemptionPolicy policy;
    for (int i = 0; i < 50; ++i) {
      const std::uint32_t capacity = 1 + static_cast<std::uint32_t>(random() % 140);
      const auto jobs = static_cast<std::uint32_t>(random() % 5);
      const std::uint32_t most = 1 + static_cast<std::uint32_t>(random() % capacity);
      const auto choices = preemption_choices(capacity, jobs, most);
      ASSERT_FALSE(choices.empty());
      ASSERT_LE(choices.back(), most);
      const auto limit = random() % 2 == 0 ? std::nullopt : std::optional{double(random() % 1000)};
      const std::uint32_t chosen = policy.choose(choices, capacity, limit);
      ASSERT_NE(std::ranges::find(choices, chosen), choices.end()) << "seed " << seed;
      const auto any = [&random] { return static_cast<double>(random() % 1000); };
      policy.learn({.groups = chosen, .gather = any(), .run = any(), .regrow = any()});
    }
  }
}

TEST(Preemption, CostsTheJobHardlyMoreThanTheBestFixedChoice) {
  for (unsigned seed = 0; seed < test::scaled(2000, 100); ++seed) {
    Machine machine = random_machine(seed);
    const auto choices = preemption_choices(machine.capacity, 1, machine.capacity);
    PreemptionPolicy policy;
    double loss = 0;
    constexpr int tasks = 400;
    for (int i = 0; i < tasks; ++i) {
      const std::uint32_t chosen = policy.choose(choices, machine.capacity, {});
      policy.learn(machine.serve(chosen));
      if (i >= tasks / 2) loss += machine.loss(chosen);
    }
    double best = machine.loss(choices.front());
    for (const std::uint32_t each : choices) best = std::min(best, machine.loss(each));
    // The policy mixes measured speeds with the assumption of proportional speeds, so it may
    // confuse choices with similar costs.
    EXPECT_LE(loss / (tasks / 2), 1.5 * best) << "seed " << seed;
  }
}

TEST(Preemption, KeepsTheLimitWhereAnyChoiceDoes) {
  for (unsigned seed = 0; seed < test::scaled(2000, 100); ++seed) {
    Machine machine = random_machine(seed);
    const auto choices = preemption_choices(machine.capacity, 1, machine.capacity);
    double soonest = machine.latency(choices.front());
    for (const std::uint32_t each : choices) soonest = std::min(soonest, machine.latency(each));
    const double limit = soonest * (1 + 0.1 * (seed % 10));
    PreemptionPolicy policy;
    int missed = 0;
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t chosen = policy.choose(choices, machine.capacity, limit);
      policy.learn(machine.serve(chosen));
      if (i >= 100 && machine.latency(chosen) > limit * 1.0001) ++missed;
    }
    EXPECT_LE(missed, 10) << "seed " << seed;
  }
}

TEST(Preemption, TakesTheSoonestChoiceWhereNoneKeepsTheLimit) {
  Machine machine{.capacity = 8, .work = 8e6};
  PreemptionPolicy policy;
  const auto choices = preemption_choices(8, 1, 8);
  std::uint32_t chosen = 0;
  for (int i = 0; i < 30; ++i) {
    chosen = policy.choose(choices, 8, 1e3);
    policy.learn(machine.serve(chosen));
  }
  EXPECT_EQ(chosen, 8U);
}

/// The choice on which the policy settles after `tasks` tasks.
std::uint32_t settled(Machine machine, int tasks = 60) {
  PreemptionPolicy policy;
  const auto choices = preemption_choices(machine.capacity, 1, machine.capacity);
  for (int i = 0; i < tasks; ++i)
    policy.learn(machine.serve(policy.choose(choices, machine.capacity, {})));
  return policy.choose(choices, machine.capacity, {});
}

TEST(Preemption, SuspendsAJobThatSeldomReachesAResizingPoint) {
  EXPECT_EQ(settled({.capacity = 8, .work = 8e7, .step = 4e7, .noise = 0.2}), 8U);
}

TEST(Preemption, GathersOneGroupForATaskThatDoesNotScale) {
  EXPECT_EQ(settled({.capacity = 8, .work = 1e7, .task_serial = 0.5, .noise = 0.2}), 1U);
}

TEST(Preemption, GathersFewGroupsFromAJobThatScalesBadly) {
  // This job is nearly as fast on all but one unit as on all of them, and not slow on a single one.
  EXPECT_LT(settled({.capacity = 8, .work = 1e7, .job_scaling = 0.2, .noise = 0.1}), 8U);
}

TEST(Preemption, FollowsAJobThatChanges) {
  PreemptionPolicy policy;
  const auto choices = preemption_choices(8, 1, 8);
  Machine machine{.capacity = 8, .work = 8e7, .step = 4e7};
  for (int i = 0; i < 60; ++i) policy.learn(machine.serve(policy.choose(choices, 8, {})));
  ASSERT_EQ(policy.choose(choices, 8, {}), 8U);
  machine.task_serial = 0.5;  // a suspend now costs the job four times as much as before
  machine.step = 0;
  for (int i = 0; i < 2000; ++i) policy.learn(machine.serve(policy.choose(choices, 8, {})));
  EXPECT_LT(policy.choose(choices, 8, {}), 8U);
}

}  // namespace
}  // namespace cohort::scheduler
