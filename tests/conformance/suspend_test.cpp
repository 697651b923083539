// Jobs that change while they run: a suspend and a resume of all groups, and changes of the target.
#include "conformance/kernels/suspend.hpp"

#include <thread>

#include "conformance/site.hpp"

namespace cohort::test {
namespace {

// ---- suspend and resume

COHORT_SITE_SUITE(Suspend);

COHORT_BARRIER_TEST(Suspend, TakesAllGroupsOutBetweenStepsAndResumeGoesOnFromThere, Steps) {
  const March march{site};
  site.run(with(barrier, march.kernel()), shape.options(), [&](const Job& job) {
    for (std::uint32_t i = 0; i < (site.explored() ? 1 : scaled(4, 2)); ++i) {
      const std::uint32_t before = march.steps();
      site.until([&] { return march.steps() > before + i; });
      ASSERT_EQ(job.suspend(), Status::suspended);
      const std::uint32_t at = march.steps();
      EXPECT_EQ(job.status(), Status::suspended);
      EXPECT_EQ(job.wait().status, Status::suspended);
      EXPECT_EQ(groups_now(job), 0U);
      site.linger(100us);
      EXPECT_EQ(march.steps(), at) << "a suspended job went on";
      job.resume();
    }
    site.until([&] { return march.groups() == shape.groups; });
    march.stop = 1;
  });
}

COHORT_SHAPE_TEST(Suspend, KeepsTheStateOfTheLastGroupThatOffers) {
  const Word stop{site};
  const Word count{site};
  const Mistakes wrong{site};
  const NoteBook started{site};
  const Word resumed{site};
  std::vector<std::uint32_t> expected = {0};
  site.run(KeepsCount{stop.data(), count.data(), started.notes(), wrong.data(), resumed.data()},
           shape.options(), [&](const Job& job) {
             for (std::uint32_t i = 0; i < 3; ++i) {
               site.until([&] { return count > expected.back() + 2; });
               ASSERT_EQ(job.suspend(), Status::suspended);
               expected.push_back(count);
               resumed = i + 1;
               job.resume();
             }
             site.until([&] { return count > expected.back() + 2; });
             stop = 1;
           });
  EXPECT_EQ(started.all(), expected);
}

template <class Kernel>
void suspend_thrice(Site& site, Shape shape) {
  const OfferingWords words{site};
  site.run(words.kernel<Kernel>(), shape.options(), [&](const Job& job) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(job.suspend(), Status::suspended);
      EXPECT_EQ(words.present, 0U);
      job.resume();
      site.until([&] { return groups_now(job) == shape.groups; });
    }
    words.stop = 1;
  });
}

COHORT_SHAPE_TEST(Suspend, ServesOffers) { suspend_thrice<Offering>(site, shape); }
COHORT_SHAPE_TEST(Suspend, ServesKillOrderAny) { suspend_thrice<OfferingInAnyOrder>(site, shape); }
COHORT_SHAPE_TEST(Suspend, ServesMayAllLeave) { suspend_thrice<OfferingMayAllLeave>(site, shape); }
COHORT_SHAPE_TEST(Suspend, ServesKillOrderAnyAndMayAllLeave) {
  suspend_thrice<OfferingInAnyOrderMayAllLeave>(site, shape);
}

COHORT_SHAPE_TEST(Suspend, DoesNotRunSetupAgain) {
  const Word preparations{site};
  const Word present{site};
  const Word not_joined{site};
  const Word stop{site};
  const Word resumed{site};
  site.run(PreparedOnce{preparations.data(), present.data(), not_joined.data(), stop.data(),
                        resumed.data()},
           shape.options(), [&](const Job& job) {
             site.until([&] { return present == shape.groups; });
             ASSERT_EQ(job.suspend(), Status::suspended);
             resumed = 1;
             job.resume();
             site.until([&] { return present == 2 * shape.groups; });
             stop = 1;
           });
  EXPECT_EQ(preparations, 1U);
  EXPECT_EQ(not_joined, shape.groups);  // only the groups of the first run
}

COHORT_SHAPE_TEST(Suspend, WaitsForTheEndOfSetup) {
  site.needs(site.lacks().host_threads);
  const Word go{site};
  const Word in_setup{site};
  const Word stop{site};
  site.run(LongSetup{go.data(), in_setup.data(), stop.data()}, shape.options(),
           [&](const Job& job) {
             site.until([&] { return in_setup == shape.groups; });
             std::thread host{[&job] { EXPECT_EQ(job.suspend(), Status::suspended); }};
             EXPECT_FALSE(job.wait_for(500us).has_value());
             go = 1;
             host.join();
             job.resume();
             site.until([&] { return groups_now(job) == shape.groups; });
             stop = 1;
           });
  EXPECT_EQ(in_setup, shape.groups);  // only in the first run
}

template <class Kernel>
void suspend_too_late(Site& site, Shape shape) {
  site.needs(site.lacks().host_threads);
  const Word stop{site};
  const Word started{site};
  const OneReturnsEarly kernel{0, stop.data(), started.data()};
  site.run(as<Kernel>(kernel), shape.options(), [&](const Job& job) {
    site.until([&] { return started == shape.groups; });
    site.linger(100us);
    std::thread host{[&job] { EXPECT_EQ(job.suspend(), Status::finished); }};
    site.linger(300us);
    stop = 1;
    host.join();
  });
}

COHORT_SHAPE_TEST(Suspend, ComesTooLateOnceAGroupHasReturned) {
  suspend_too_late<OneReturnsEarly>(site, shape);
  suspend_too_late<OneReturnsEarlyInAnyOrder>(site, shape);
}

COHORT_SITE_TEST(Suspend, OfAPendingJobKeepsItFromStarting) {
  site.needs_several_jobs();
  site.restart(1);
  const OfferingWords first{site};
  const OfferingWords second{site};
  const ScopedJob running = site.launch(first.kernel());
  const ScopedJob pending = site.launch(second.kernel());
  EXPECT_EQ(pending.suspend(), Status::suspended);
  finish(running, first.stop);
  site.linger(1ms);
  EXPECT_EQ(second.turns, 0U);
  EXPECT_EQ(pending.status(), Status::suspended);
  pending.resume();
  site.until([&] { return second.turns > 0; });
  finish(pending, second.stop);
}

COHORT_SITE_TEST(Suspend, TwiceIsAsGoodAsOnce) {
  site.restart(4);
  const OfferingWords words{site};
  site.run(words.kernel(), {}, [&](const Job& job) {
    EXPECT_EQ(job.suspend(), Status::suspended);
    EXPECT_EQ(job.suspend(), Status::suspended);
    job.resume();
    words.stop = 1;
  });
}

COHORT_SITE_TEST(Suspend, TellsHowAJobEndedThatWasFaster) {
  site.restart(4);
  site.run(Brief{}, {}, [&](const Job& job) {
    job.wait();
    EXPECT_EQ(job.suspend(), Status::finished);
  });
  for (std::uint32_t i = 0; i < (site.explored() ? 1 : scaled(100, 20)); ++i) {
    const auto end = testing::AnyOf(Status::finished, Status::cancelled);
    site.run_to(end, Brief{}, {}, [](const Job& job) {
      EXPECT_THAT(job.suspend(), testing::AnyOf(Status::finished, Status::suspended));
      job.cancel();
    });
  }
}

COHORT_SITE_TEST(Suspend, FromManyThreadsReturnsToEachOfThem) {
  site.needs(site.lacks().host_threads);
  site.restart(4);
  for (std::uint32_t i = 0; i < scaled(20, 5); ++i) {
    const OfferingWords words{site};
    const ScopedJob job = site.launch(words.kernel());
    site.until([&] { return words.turns > 0; });
    std::atomic<std::uint32_t> returned{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&returned, &job] {
        EXPECT_EQ(job.suspend(), Status::suspended);
        returned.fetch_add(1);
        try {
          job.resume();
        } catch (const Error& error) {  // another thread came first
          EXPECT_EQ(error.code(), Errc::bad_state);
        }
      });
    }
    site.until([&] { return returned == 4; });  // a suspend must not miss a resume
    for (auto& thread : threads) thread.join();
    job.cancel();
    if (testing::Test::HasFailure()) return;
  }
}

COHORT_SITE_TEST(Suspend, LeavesItsUnitsToOthers) {
  site.needs_several_jobs();
  site.restart(site.capacity() / 2 * 2);
  const std::uint32_t all = site.capacity();
  const March first{site};
  const March second{site};
  const ScopedJob one = site.launch(first.kernel());
  EXPECT_EQ(one.suspend(), Status::suspended);
  const ScopedJob two = site.launch(second.kernel());
  site.until([&] { return second.groups() == all; });
  one.resume();
  site.until([&] { return second.groups() == all / 2 && first.groups() == all / 2; });
  finish(one, first.stop);
  finish(two, second.stop);
}

// ---- targets

COHORT_SITE_SUITE(Target);

COHORT_SITE_TEST(Target, IsFollowedWhilePinnedAndLeftToTheEngineWhenReset) {
  const std::uint32_t all = site.capacity() / 2 + 1;
  const March march{site};
  site.run(march.kernel(), {.max_groups = all, .target = 2}, [&](const Job& job) {
    site.until([&] { return march.groups() == 2; });
    EXPECT_EQ(job.report().start_groups, 2U);
    for (const std::uint32_t target : {all, 1U, (all + 1) / 2}) {
      job.set_target(target);
      site.until([&] { return march.groups() == target; });
    }
    job.reset_target();
    site.until([&] { return march.groups() == all; });
    march.stop = 1;
  });
}

COHORT_SITE_TEST(Target, MayBeSetWhileTheJobIsSuspendedOrPending) {
  site.restart(4);
  const March march{site};
  site.run(march.kernel(), {.max_groups = 4}, [&](const Job& job) {
    ASSERT_EQ(job.suspend(), Status::suspended);
    job.set_target(2);
    job.resume();
    site.until([&] { return march.groups() == 2; });
    finish(job, march.stop);
    job.set_target(1);  // without effect
    job.reset_target();
    EXPECT_EQ(job.status(), Status::finished);
  });
}

COHORT_SITE_TEST(Target, ReachesNoFurtherThanTheMachine) {
  site.needs(site.lacks().units_of_one);
  site.restart(4);
  const std::uint32_t units = site.capacity();
  const March march{site};
  site.run(march.kernel(), {.max_groups = Board::most_groups}, [&](const Job& job) {
    for (const std::uint32_t target : {64U, 2U, 40U}) {
      job.set_target(target);
      site.until([&] { return march.groups() == std::min(target, units); });
    }
    march.stop = 1;
  });
  EXPECT_LE(march[Board::most], units);
}

}  // namespace
}  // namespace cohort::test
