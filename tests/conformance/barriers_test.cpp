// The kernel-level primitives: the global barrier, and the resizing barrier in each of its four
// forms (sections 3.1 and 4.2 of the paper). Plain, non-atomic data crosses every barrier here, so
// that a thread sanitizer and the explorer check the barriers too.
#include "conformance/kernels/barriers.hpp"

#include "conformance/site.hpp"

namespace cohort::test {
namespace {

using testing::Each;

// ---- global_barrier

COHORT_SITE_SUITE(GlobalBarrier);

template <class Kernel>
void exchange(Site& site, Shape shape, bool resizable) {
  const Words cells{site, std::size_t{shape.groups} * shape.local_size};
  const Mistakes wrong{site};
  const std::uint32_t rounds = site.explored() ? 2 : scaled(20, 5);
  site.run(as<Kernel>(Exchange{rounds, cells.data(), wrong.data()}),
           shape.options({.resizable = resizable}));
}

COHORT_SHAPE_TEST(GlobalBarrier, WhatWasWrittenBeforeIsVisibleAfter) {
  exchange<Exchange>(site, shape, true);
}

COHORT_SHAPE_TEST(GlobalBarrier, AlsoWhereMStandsStill) {
  exchange<ExchangeAtBarriers>(site, shape, true);
}

COHORT_SHAPE_TEST(GlobalBarrier, AlsoInAStaticLaunch) { exchange<Exchange>(site, shape, false); }

COHORT_SHAPE_TEST(GlobalBarrier, CountsExactlyTheGroupsThatAreActive) {
  const Word stop{site};
  const Words words{site, ExchangeOnTheMove::size};
  const IdBook ids{site};
  site.run(ExchangeOnTheMove{stop.data(), words.data(), ids.ids()}, shape.options(),
           [&](const Job& job) {
             for (std::uint32_t i = 0; i < (site.explored() ? 1 : scaled(6, 2)); ++i) {
               for (const std::uint32_t target : {1U, shape.groups}) {
                 job.set_target(target);
                 site.until([&] { return groups_now(job) == target; });
               }
             }
             stop = 1;
           });
  EXPECT_EQ(words[ExchangeOnTheMove::wrong], 0U);
}

// ---- the resizing barrier

COHORT_SITE_SUITE(ResizingGlobalBarrier);

/// Leads a march through targets, each of which it has to reach, and checks what the march has
/// recorded.
template <class Kernel>
void march_through(Site& site, Shape shape, const std::vector<std::uint32_t>& targets,
                   std::uint32_t start) {
  const March march{site};
  const Report report =
      site.run(march.kernel<Kernel>(), shape.options({.start_groups = start}), [&](const Job& job) {
        for (const std::uint32_t target : targets) {
          job.set_target(target);
          site.until([&] { return march.groups() == target; });
        }
        march.stop = 1;
      });
  EXPECT_GE(march[Board::least], 1U);
  EXPECT_LE(march[Board::most], shape.groups);
  // M over the steps accounts for every join and every leave.
  EXPECT_EQ(march[Board::first], report.start_groups);
  EXPECT_EQ(report.start_groups + report.joins - report.leaves, march.groups());
  // With the paper's barriers, some groups come and go within one step.
  EXPECT_GE(report.joins, march[Board::ups]);
  EXPECT_EQ(report.joins - march[Board::ups], report.leaves - march[Board::downs]);
}

std::vector<std::uint32_t> there_and_back(const Site& site, std::uint32_t groups) {
  const std::uint32_t half = (groups + 1) / 2;
  std::vector<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < (site.explored() ? 1 : scaled(3)); ++i) {
    for (const std::uint32_t each : {1U, groups, half, 1U, half, groups}) targets.push_back(each);
  }
  return targets;
}

COHORT_BARRIER_TEST(ResizingGlobalBarrier, ShrinksAndGrowsAKernelBetweenItsSteps, Steps) {
  march_through<Meeting<Steps, barrier>>(site, shape, there_and_back(site, shape.groups),
                                         shape.groups);
}

COHORT_BARRIER_TEST(ResizingGlobalBarrier, LetsJoinersInAtTheSameStepWithGroupZerosState, Steps) {
  march_through<Meeting<Steps, barrier>>(site, shape, {shape.groups}, 1);
}

COHORT_BARRIER_TEST(ResizingGlobalBarrier, LeavesTheGlobalBarriersWithinAStepAlone,
                    StepsWithBarriers) {
  march_through<Meeting<StepsWithBarriers, barrier>>(site, shape, {1, shape.groups}, shape.groups);
}

COHORT_SITE_TEST(ResizingGlobalBarrier, KeepsMStableInBetweenInDirectStyleToo) {
  for_each_shape(site, [&](Shape shape) {
    march_through<DirectAtBarriers>(site, shape, {1, shape.groups}, shape.groups);
  });
  // Variants of the kernel: whether groups may offer themselves.
  for_each_barrier_and_shape<Direct>(site, [&](auto barrier, Shape shape) {
    march_through<Meeting<Direct, barrier>>(site, shape, {1, shape.groups}, shape.groups);
  });
}

COHORT_BARRIER_TEST(ResizingGlobalBarrier, IsAGlobalBarrierInAStaticLaunch, StepsWithBarriers) {
  const March march{site};
  site.run(with(barrier, march.kernel<StepsWithBarriers>()), shape.options({.resizable = false}),
           [&](const Job& /*job*/) {
             site.until([&] { return march.steps() >= (site.explored() ? 2 : 10); });
             march.stop = 1;
           });
  EXPECT_EQ(march[Board::least], shape.groups);
  EXPECT_EQ(march[Board::most], shape.groups);
}

COHORT_BARRIER_TEST(ResizingGlobalBarrier, RedistributesStridedWorkAmongWhoeverIsThere, Strided) {
  const Words items{site, 61};
  const Mistakes wrong{site};
  const std::uint32_t steps = site.explored() ? 5 : scaled(60, 20);
  site.run(with(barrier, Strided{items.data(), 61, steps, wrong.data()}), shape.options(),
           [&](const Job& job) {
             for (std::uint32_t i = 0; !at_rest(job.status()); ++i) {
               job.set_target(1 + i * 7 % shape.groups);
               site.linger(0us);
             }
           });
  EXPECT_THAT(items.read(), Each(steps));
}

// ---- votes

COHORT_SITE_SUITE(Votes);

COHORT_BARRIER_TEST(Votes, AnyThreadOfAnyGroupCanKeepTheKernelGoing, OneWantsMore) {
  for (const bool resizable : {true, false}) {
    for (const bool from_top : {true, false}) {
      constexpr std::uint32_t steps = 5;
      const Words visits{site, steps + 2};
      site.run(with(barrier, OneWantsMore{steps, 0, from_top, shape.local_size - 1, visits.data()}),
               shape.options({.resizable = resizable}));
      for (std::uint32_t i = 0; i <= steps; ++i) EXPECT_EQ(visits[i], shape.groups) << i;
      EXPECT_EQ(visits[steps + 1], 0U);
    }
  }
}

COHORT_BARRIER_TEST(Votes, NobodyJoinsAfterTheLastStep, OneWantsMore) {
  for (std::uint32_t steps = 0; steps < 4; ++steps) {
    const Words visits{site, steps + 2};
    const Report report = site.run(with(barrier, OneWantsMore{steps, 0, false, 0, visits.data()}),
                                   shape.options({.start_groups = 1}));
    EXPECT_EQ(visits[steps + 1], 0U) << "a step too many";
    EXPECT_EQ(visits[steps], 1 + report.joins);
    EXPECT_TRUE(steps > 0 || report.joins == 0);
  }
}

// ---- everything in one kernel

COHORT_SITE_SUITE(Mixed);

COHORT_BARRIER_TEST(Mixed, KillsForksAndBarriersGoTogether, Everything) {
  const EverythingWords words{site};
  site.run(with(barrier, words.kernel()), shape.options(), [&](const Job& job) {
    std::uint32_t seed = 1;
    while (words.rounds() < (site.explored() ? 6 : scaled(100, 20))) {
      seed = seed * 1664525U + 1013904223U;
      job.set_target(1 + (seed >> 16U) % shape.groups);
      const std::uint32_t at = words.rounds();
      site.until([&] { return words.rounds() > at + seed % 3; });
    }
    words.stop = 1;
  });
}

COHORT_BARRIER_TEST(Mixed, AKillReleasesTheBarrierThatWaitsForThatGroupOnly, TopLeaves) {
  if (shape.groups == 1) return;
  for (const bool resizing : {false, true}) {
    const Word go{site};
    const Word started{site};
    const Word passed{site};
    const Report report =
        site.run(with(barrier, TopLeaves{resizing, go.data(), started.data(), passed.data()}),
                 shape.options(), [&](const Job& job) {
                   site.until([&] { return started == shape.groups; });
                   job.set_target(shape.groups - 1);
                   go = 1;
                 });
    EXPECT_EQ(report.leaves, 1U);
    EXPECT_EQ(passed, shape.groups - 1);
  }
}

COHORT_SHAPE_TEST(Mixed, ABarrierWaitsForGroupsThatJoinMeanwhile) {
  const Word arrived{site};
  const Mistakes wrong{site};
  site.run(ForkUnderABarrier{shape.groups, arrived.data(), wrong.data()},
           shape.options({.start_groups = (shape.groups + 1) / 2}));
}

COHORT_SITE_TEST(Mixed, GroupsBetweenTwoBarriersAgreeOnM) {
  using Kernel = DividedBetweenBarriers;
  for_each_shape(site, [&](Shape shape) {
    const Words words{site, Kernel::size};
    const Word stop{site};
    site.run(Kernel{words.data(), stop.data()}, shape.options(), [&](const Job& job) {
      for (std::uint32_t i = 0; i < (site.explored() ? 1 : scaled(10, 4)); ++i) {
        for (const std::uint32_t target : {1U, shape.groups}) {
          job.set_target(target);
          const std::uint32_t at = words[Kernel::rounds];
          site.until([&] { return words[Kernel::rounds] > at + 3; });
        }
      }
      stop = 1;
    });
    EXPECT_EQ(words[Kernel::wrong], 0U);
    std::vector<std::uint32_t> items = words.read();
    items.erase(items.begin(), items.begin() + Kernel::items);
    EXPECT_THAT(items, Each(words[Kernel::rounds]));
  });
}

template <class Kernel>
void fork_closely(Site& site) {
  site.restart(8);
  const Word stop{site};
  const Words words{site, Kernel::size};
  const IdBook ids{site};
  site.run(Kernel{stop.data(), words.data(), ids.ids()}, {.max_groups = site.capacity()},
           [&](const Job& job) {
             for (std::uint32_t i = 0; i < (site.explored() ? 1 : scaled(40, 10)); ++i) {
               for (std::uint32_t target = 2; target <= site.capacity(); ++target) {
                 job.set_target(target);  // one by one, the groups come to the lobby
                 site.linger(std::chrono::microseconds{i * 13 % 100});
               }
               const std::uint32_t at = words[Kernel::rounds];
               // More rounds follow, so no group was lost.
               site.until([&] { return words[Kernel::rounds] > at; });
             }
             stop = 1;
           });
}

COHORT_SITE_TEST(Mixed, AForkMayFollowAResizingBarrierClosely) {
  if (site.kind() != EngineKind::cpu) return fork_closely<ForkingAfterABarrier<16>>(site);
  using Kernel = ForkingAfterABarrier<1U << 16U>;
  for_each_barrier<Kernel>(site,
                           [&](auto barrier) { fork_closely<Meeting<Kernel, barrier>>(site); });
}

}  // namespace
}  // namespace cohort::test
