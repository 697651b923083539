// The primitives that move single groups (section 3.1 of the paper): offer_kill, request_fork,
// offer, query; and the alternatives of its appendix B.
#include "conformance/kernels/primitives.hpp"

#include "conformance/lookout.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

using testing::Each;
using testing::ElementsAreArray;
using testing::Le;

// ---- offer_kill

COHORT_SITE_SUITE(OfferKill);

COHORT_SHAPE_TEST(OfferKill, TakesTheHighestGroupsOneByOneDownToTheTarget) {
  for (std::uint32_t target = 1; target <= shape.groups; target += 3) {
    const Word stop{site};
    const Word started{site};
    const Mistakes wrong{site};
    const LeaverBook left{site};
    const NoteBook returned{site};
    const Report report =
        site.run(LeavingFromTheTop{stop.data(), started.data(), left.leavers(), returned.notes(),
                                   wrong.data()},
                 shape.options(), [&](const Job& job) {
                   site.until([&] { return started == shape.groups; });
                   job.set_target(target);
                   site.until([&] { return job.report().leaves == shape.groups - target; });
                   stop = 1;
                 });
    EXPECT_THAT(left.ids(), ElementsAreArray(numbers(target, shape.groups)));
    EXPECT_THAT(returned.sorted(), ElementsAreArray(numbers(0, target)));
    EXPECT_EQ(report.leaves, shape.groups - target);
  }
}

std::uint32_t often(const Site& site, std::uint32_t times) {
  return site.explored() ? 10 : scaled(times, times / 5);
}

COHORT_SHAPE_TEST(OfferKill, IsANoOpWhileNothingIsWanted) {
  const LeaverBook left{site};
  EXPECT_EQ(site.run(OfferingOften{often(site, 1000), left.leavers()}, shape.options()).leaves, 0U);
  EXPECT_EQ(left.ids().size(), 0U);
}

COHORT_SHAPE_TEST(OfferKill, NeverTakesGroupZero) {
  const LeaverBook left{site};
  site.run(OfferingOften{often(site, 1000), left.leavers()},
           shape.options({.start_groups = shape.groups, .target = 1}));
  EXPECT_THAT(left.ids(), Each(testing::Gt(0U)));
}

COHORT_SHAPE_TEST(OfferKill, LeavesAStaticLaunchAlone) {
  const LeaverBook left{site};
  const Report report =
      site.run(OfferingOften{10, left.leavers()}, shape.options({.resizable = false}));
  EXPECT_EQ(report.start_groups, shape.groups);
  EXPECT_EQ(report.leaves + left.ids().size(), 0U);
}

COHORT_SHAPE_TEST(OfferKill, DoesNotWaitForTheGroupsAboveForLong) {
  for (const auto patience : {0us, 100us, 20000us}) {
    if (shape.groups == 1) return;
    const Word go{site};
    const Word flag{site};
    const Word started{site};
    const Report report = site.run(TopWaitsForLower{go.data(), flag.data(), started.data()},
                                   shape.options({.offer_wait = patience}), [&](const Job& job) {
                                     site.until([&] { return started == shape.groups; });
                                     job.set_target(1);
                                     go = 1;
                                   });
    EXPECT_EQ(report.leaves, 0U);  // the highest never offered
  }
}

COHORT_SHAPE_TEST(OfferKill, WaitsForItsTurnSoThatOneOfferEachIsEnough) {
  site.needs(site.lacks().offer_wait);
  const Word go{site};
  const Word started{site};
  const LeaverBook left{site};
  const Word over{site};
  site.run(OfferingOnce{go.data(), started.data(), left.leavers(), over.data()},
           shape.options({.offer_wait = 1h}), [&](const Job& job) {
             site.until([&] { return started == shape.groups; });
             job.set_target(1);
             go = 1;
             site.until([&] { return job.report().leaves == shape.groups - 1; });
             over = 1;
           });
  EXPECT_THAT(left.ids(), ElementsAreArray(numbers(1, shape.groups)));
}

using Instead = TopDoesNotOffer::Instead;

COHORT_SHAPE_TEST(OfferKill, StopsWaitingWhenAGroupArrivesAtABarrierOrReturns) {
  for (const auto instead : {Instead::arrives, Instead::returns}) {
    const Word go{site};
    const Word stop{site};
    const Word started{site};
    const Report report = site.run(TopDoesNotOffer{instead, go.data(), stop.data(), started.data()},
                                   shape.options({.offer_wait = 1h}), [&](const Job& job) {
                                     site.until([&] { return started == shape.groups; });
                                     job.set_target(1);
                                     go = 1;
                                   });
    EXPECT_EQ(report.leaves, 0U);
  }
}

COHORT_SHAPE_TEST(OfferKill, StopsWaitingWhenTheTargetRisesOrTheJobIsCancelled) {
  for (const bool cancelled : {false, true}) {
    if (shape.groups < 3) return;  // only the highest group should leave
    const Word go{site};
    const Word stop{site};
    const Word started{site};
    const auto script = [&](const Job& job) {
      site.until([&] { return started == shape.groups; });
      job.set_target(1);
      go = 1;
      site.linger(1ms);  // most of the groups are asleep by now
      cancelled ? job.cancel() : job.reset_target();
      stop = 1;
    };
    const Report report = site.run_to(
        testing::_, TopDoesNotOffer{Instead::stays, go.data(), stop.data(), started.data()},
        shape.options({.offer_wait = 1h}), script);
    EXPECT_EQ(report.leaves, 0U);
  }
}

COHORT_SHAPE_TEST(OfferKill, TakesNobodyBecauseAnotherHasReturned) {
  for (const std::uint32_t early : {0U, shape.groups / 2, shape.groups - 1}) {
    const Word stop{site};
    const Word started{site};
    const OneReturnsEarly kernel{early, stop.data(), started.data()};
    const Report report = site.run(kernel, shape.options(), [&](const Job& /*job*/) {
      site.until([&] { return started == shape.groups; });
      site.linger(500us);  // so that a group could leave by mistake
      stop = 1;
    });
    EXPECT_EQ(report.leaves, 0U);
  }
}

// ---- request_fork

COHORT_SITE_SUITE(RequestFork);

/// One run of Forking, which grows to `target` groups.
void grow(Site& site, Shape shape, std::uint32_t start, std::uint32_t target, bool only_zero) {
  const Word stop{site};
  const Mistakes wrong{site};
  const IdBook ids{site};
  const NoteBook first{site};
  const NoteBook joined{site};
  const Report report = site.run(
      Forking{only_zero, stop.data(), ids.ids(), first.notes(), joined.notes(), wrong.data()},
      shape.options({.start_groups = start, .target = target}), [&](const Job& /*job*/) {
        site.until([&] { return first.size() + joined.size() == target; });
        site.linger(200us);  // so that one group too many could join
        stop = 1;
      });
  EXPECT_EQ(report.start_groups, start);
  EXPECT_EQ(report.joins, target - start);
  EXPECT_THAT(first.sorted(), ElementsAreArray(numbers(0, start)));
  EXPECT_THAT(joined.sorted(), ElementsAreArray(numbers(start, target)));
}

COHORT_SHAPE_TEST(RequestFork, JoinersStartWithTheForkersStateAndTheNextIds) {
  grow(site, shape, 1, shape.groups, true);
}

COHORT_SHAPE_TEST(RequestFork, AnyGroupMayForkJoinersToo) {
  grow(site, shape, (shape.groups + 1) / 2, shape.groups, false);
}

COHORT_SHAPE_TEST(RequestFork, NeverGoesAboveTheTarget) {
  grow(site, shape, 1, (shape.groups + 1) / 2, false);
}

COHORT_SITE_TEST(RequestFork, AddsNobodyWhereThereIsNoRoom) {
  site.needs(site.lacks().units_of_one);
  for (const std::uint32_t local_size : {1U, 4U}) {
    site.restart(1);
    const Word forked{site};
    site.run(ForkingOften{often(site, 100), forked.data()},
             {.max_groups = 4, .local_size = local_size});
    EXPECT_EQ(forked, 0U);
  }
}

COHORT_SHAPE_TEST(RequestFork, ReturnsHowManyJoined) {
  const Word forked{site};
  EXPECT_EQ(
      site.run(ForkingOften{often(site, 2000), forked.data()}, shape.options({.start_groups = 1}))
          .joins,
      forked);
  EXPECT_LE(forked, shape.groups - 1);
}

COHORT_SITE_TEST(RequestFork, AddsNobodyToAStaticLaunch) {
  const Word forked{site};
  site.run(ForkingOften{100, forked.data()}, {.max_groups = 3, .resizable = false});
  EXPECT_EQ(forked, 0U);
}

COHORT_SITE_TEST(RequestFork, AddsNobodyOnceAGroupHasReturned) {
  site.needs(site.lacks().live_traces);
  site.restart(4);
  Lookout lookout{Trace::finish};
  const Word returned{site};
  const Word forked{site};
  site.run(ForkingAfterAReturn{returned.data(), forked.data()},
           {.max_groups = 4, .start_groups = 2, .tracer = &lookout}, [&](const Job& /*job*/) {
             site.until([&] { return lookout.seen.load(); });
             // In this time two more groups reach the lobby, unless the return came first.
             site.linger(2ms);
             returned = 1;
           });
  EXPECT_EQ(forked, 0U);
}

// ---- offer: both in one

COHORT_SITE_SUITE(Offer);

template <class Kernel>
void follow_targets(Site& site, Shape shape) {
  const ComingWords words{site};
  const Report report = site.run(words.kernel<Kernel>(), shape.options(), [&](const Job& job) {
    const std::uint32_t half = (shape.groups + 1) / 2;
    for (std::uint32_t i = 0; i < (site.explored() ? 1 : scaled(3)); ++i) {
      for (const std::uint32_t target : {1U, shape.groups, half, 1U, half, shape.groups}) {
        job.set_target(target);
        site.until([&] { return groups_now(job) == target; });
      }
    }
    words.stop = 1;
  });
  EXPECT_THAT(words.ids.most_inside(), Le(shape.groups));
  EXPECT_EQ(report.start_groups + report.joins - report.leaves, shape.groups);
}

COHORT_SHAPE_TEST(Offer, FollowsTheTargetDownAndUp) { follow_targets<ComingAndGoing>(site, shape); }

// ---- query

COHORT_SITE_SUITE(Query);

COHORT_SHAPE_TEST(Query, TellsHowManyGroupsTheSchedulerWantsBack) {
  const std::uint32_t groups = shape.groups;
  const std::uint32_t half = (groups + 1) / 2;
  const Words expected{site, Asking::questions};
  expected.set(1, groups - 1);
  expected.set(2, groups - half);
  const Word agreed{site};
  site.run(Asking{expected.data(), agreed.data()}, shape.options(), [&](const Job& job) {
    site.until([&] { return agreed >= groups; });
    job.set_target(1);
    site.until([&] { return agreed >= 2 * groups; });
    job.set_target(half);
    site.until([&] { return agreed >= 3 * groups; });
    job.set_target(groups);
    EXPECT_EQ(job.wait().leaves, 0U);
  });
}

COHORT_SITE_TEST(Query, GivesAllThreadsOfAGroupTheSameAnswer) {
  const NoteBook answers{site};
  site.run(AskingTogether{answers.notes()}, {.max_groups = 1, .local_size = 4});
  EXPECT_THAT(answers.all(), testing::ElementsAre(0U, 0U, 0U, 0U));
}

COHORT_SITE_TEST(Query, WantsNothingFromAStaticLaunch) {
  const NoteBook answers{site};
  site.run(AskingTogether{answers.notes()}, {.max_groups = 2, .local_size = 2, .resizable = false});
  EXPECT_THAT(answers.all(), testing::ElementsAre(0U, 0U, 0U, 0U));
}

// ---- kill order any

COHORT_SITE_SUITE(KillOrderAny);

COHORT_SHAPE_TEST(KillOrderAny, IdsAreUniqueBelowNAndUsedAgain) {
  follow_targets<ComingAndGoingInAnyOrder>(site, shape);
}

COHORT_SHAPE_TEST(KillOrderAny, WhoeverOffersFirstLeavesGroupZeroToo) {
  if (shape.groups == 1) return;
  for (const std::uint32_t offering : {1U, shape.groups - 1}) {
    const Word stop{site};
    const Word started{site};
    const Mistakes wrong{site};
    const LeaverBook left{site};
    site.run(SomeOffer{offering, stop.data(), started.data(), left.leavers(), wrong.data()},
             shape.options(), [&](const Job& job) {
               site.until([&] { return started == shape.groups; });
               job.set_target(shape.groups - offering);
               site.until([&] { return job.report().leaves == offering; });
               stop = 1;
             });
    EXPECT_THAT(left.ids(), ElementsAreArray(numbers(0, offering)));
  }
}

COHORT_SHAPE_TEST(KillOrderAny, NumGroupsIsACount) {
  if (shape.groups == 1) return;
  for (const std::uint32_t target : {1U, shape.groups - 1}) {
    const NoteBook seen{site};
    site.run(Counting{target, seen.notes()}, shape.options(),
             [&](const Job& job) { job.set_target(target); });
    EXPECT_EQ(seen.size(), target);
  }
}

COHORT_SHAPE_TEST(KillOrderAny, KeepsTheLastGroupWhicheverItIs) {
  const LeaverBook left{site};
  const OfferingOften kernel{often(site, 500), left.leavers()};
  site.run(as<OfferingOftenInAnyOrder>(kernel), shape.options(),
           [&](const Job& job) { job.set_target(1); });
  EXPECT_LE(left.ids().size(), shape.groups - 1);
}

// ---- survivors

COHORT_SITE_SUITE(MayAllLeave);

template <class Kernel>
void leave_all(Site& site, Shape shape) {
  const LeaverBook left{site};
  const Report report =
      site.run_to(Status::left, as<Kernel>(OfferingForever{left.leavers()}),
                  shape.options({.start_groups = shape.groups}), [&](const Job& job) {
                    site.until([&] { return groups_now(job) == shape.groups; });
                    job.set_target(0);
                  });
  EXPECT_EQ(report.leaves, shape.groups);
  EXPECT_THAT(left.ids(), ElementsAreArray(numbers(0, shape.groups)));
}

COHORT_SHAPE_TEST(MayAllLeave, TheJobEndsAsLeft) {
  leave_all<OfferingForever>(site, shape);
  leave_all<OfferingForeverInAnyOrder>(site, shape);
}

COHORT_SHAPE_TEST(MayAllLeave, AtAResizingBarrierToo) {
  site.run_to(Status::left, SteppingForever{}, shape.options(), [&](const Job& job) {
    site.until_started(job);
    job.set_target(0);
  });
}

COHORT_SITE_TEST(MayAllLeave, OneStaysWhileTheTargetIsNotZero) {
  const OfferingWords words{site};
  site.run_to(Status::left, words.kernel<OfferingInAnyOrderMayAllLeave>(), {.target = 1},
              [&](const Job& job) {
                site.until_started(job);
                EXPECT_FALSE(job.wait_for(10ms).has_value());
                EXPECT_EQ(job.status(), Status::running);
                job.set_target(0);
              });
}

// if (get_group_id(0) != 0) offer_kill();
COHORT_SITE_TEST(MayAllLeave, AGuardKeepsGroupZero) {
  site.restart(4);
  const Word stop{site};
  const LeaverBook left{site};
  const NoteBook returned{site};
  const std::uint32_t groups = site.capacity();
  const GuardedOffers kernel{stop.data(), left.leavers(), returned.notes()};
  const Report report = site.run_to(Status::finished, kernel, {}, [&](const Job& job) {
    for (std::uint32_t i = 0; i < scaled(5, 2); ++i) {
      site.until([&] { return groups_now(job) == groups; });
      job.set_target(0);  // so that any group that offers itself is removed
      site.until([&] { return groups_now(job) == 1; });
      EXPECT_FALSE(job.wait_for(2ms).has_value()) << "group 0 has left";
      job.set_target(groups);
    }
    site.until([&] { return groups_now(job) == groups; });
    stop = 1;
  });
  EXPECT_GE(report.leaves, groups - 1);
  EXPECT_THAT(left.ids(), testing::Not(testing::Contains(0U)));
  EXPECT_THAT(returned.sorted(), ElementsAreArray(numbers(0, groups)));
}

}  // namespace
}  // namespace cohort::test
