// Tests of the trace checker: for each rule of appendix A, traces that keep it and traces that
// break it. Each broken trace is refused at the event that breaks the rule, with the reason.
#include "cohort/trace_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace cohort {
namespace {

using testing::HasSubstr;

TraceEvent start(std::uint32_t group, std::uint32_t groups) {
  return {.what = Trace::start, .group = group, .active = groups, .value = groups};
}
TraceEvent join(std::uint32_t group, std::uint32_t active, std::uint64_t gen = 0) {
  return {.what = Trace::join, .group = group, .active = active, .value = gen};
}
TraceEvent offer(std::uint32_t group) { return {.what = Trace::offer, .group = group}; }
TraceEvent kill(std::uint32_t group, std::uint32_t active, bool kept = false) {
  return {.what = Trace::kill, .group = group, .active = active, .value = kept ? 1U : 0U};
}
TraceEvent fork(std::uint32_t group, std::uint32_t active, std::uint64_t joiners) {
  return {.what = Trace::fork, .group = group, .active = active, .value = joiners};
}
TraceEvent arrive(std::uint32_t group, std::uint64_t gen = 0) {
  return {.what = Trace::arrive, .group = group, .value = gen};
}
TraceEvent resize(std::uint32_t group, std::uint64_t from, std::uint32_t to) {
  return {.what = Trace::resize, .group = group, .active = to, .value = from};
}
TraceEvent pass(std::uint32_t group, std::uint32_t active, std::uint64_t next_gen = 1) {
  return {.what = Trace::pass, .group = group, .active = active, .value = next_gen};
}
TraceEvent shed(std::uint32_t group, std::uint32_t active, bool kept = false) {
  return {.what = Trace::shed, .group = group, .active = active, .value = kept ? 1U : 0U};
}
TraceEvent finish(std::uint32_t group) { return {.what = Trace::finish, .group = group}; }
TraceEvent fault(std::uint32_t group) { return {.what = Trace::fault, .group = group, .value = 1}; }

using Events = std::vector<TraceEvent>;

/// Two lists of events, one after the other.
Events operator+(Events events, const Events& more) {
  events.insert(events.end(), more.begin(), more.end());
  return events;
}
Events starts(std::uint32_t groups) {
  Events events;
  for (std::uint32_t id = 0; id < groups; ++id) events.push_back(start(id, groups));
  return events;
}
Events arrivals(std::uint32_t groups, std::uint64_t gen = 0) {
  Events events;
  for (std::uint32_t id = 0; id < groups; ++id) events.push_back(arrive(id, gen));
  return events;
}
Events passages(std::uint32_t groups, std::uint64_t next_gen = 1) {
  Events events;
  for (std::uint32_t id = 0; id < groups; ++id) events.push_back(pass(id, groups, next_gen));
  return events;
}
Events finishes(std::uint32_t groups) {
  Events events;
  for (std::uint32_t id = 0; id < groups; ++id) events.push_back(finish(id));
  return events;
}

constexpr TraceRules four{.max_groups = 4};
constexpr TraceRules four_any{.max_groups = 4, .kill_order = KillOrder::any};
constexpr TraceRules four_may_leave{.max_groups = 4, .survivors = Survivors::may_all_leave};

/// The checker's sentence, and the event to which it belongs; "" if the trace is legal.
std::string judge(const TraceRules& rules, const Events& events,
                  std::optional<Status> status = Status::finished) {
  TraceChecker checker{rules};
  for (const TraceEvent& event : events) {
    if (auto refusal = checker.see(event)) return *refusal;
  }
  return (status ? checker.end(*status) : checker.end()).value_or("");
}

void expect_legal(const TraceRules& rules, const Events& events,
                  std::optional<Status> status = Status::finished) {
  EXPECT_EQ(judge(rules, events, status), "");
}

/// Expects that all events but the last are legal, and that the last is refused with `why`.
void expect_last_refused(const TraceRules& rules, const Events& events, const std::string& why) {
  const std::string said = judge(rules, events, {});
  EXPECT_THAT(said, HasSubstr("event " + std::to_string(events.size()) + ", group "));
  EXPECT_THAT(said, HasSubstr(why));
}

// ---- start and end

TEST(TraceCheck, AJobOfGroupsThatStartAndReturn) { expect_legal(four, starts(3) + finishes(3)); }

TEST(TraceCheck, NothingAtAllIsLegalForAJobThatNeverRan) {
  expect_legal(four, {}, Status::cancelled);
  expect_legal(four, {}, Status::suspended);
  EXPECT_THAT(judge(four, {}, Status::finished), HasSubstr("no group has returned"));
}

TEST(TraceCheck, FirstGroupsAreThoseBelowMAndStartOnce) {
  expect_last_refused(four, {start(0, 2), start(0, 2)}, "not one of the first groups");
  expect_last_refused(four, {start(0, 2), start(2, 2)}, "not one of the first groups");
  expect_last_refused(four, {start(0, 5)}, "5 groups start; N = 4");
  expect_last_refused(four, {start(0, 0)}, "0 groups start");
  expect_last_refused(four, {start(0, 2), start(1, 3)}, "it saw 3 groups at the start");
  expect_last_refused({.max_groups = 4, .start_groups = 3}, {start(0, 2)}, "2 groups start, not 3");
  expect_legal({.max_groups = 4, .start_groups = 3}, starts(3) + finishes(3));
}

TEST(TraceCheck, NobodyActsBeforeItHasStarted) {
  expect_last_refused(four, {start(0, 2), offer(1)}, "has not started yet");
  expect_last_refused(four, {start(0, 2), kill(1, 1)}, "has not started yet");
  expect_last_refused(four, {offer(0)}, "no such group is active");
}

TEST(TraceCheck, IdsAreBelowN) {
  expect_last_refused(four, {start(0, 2), offer(4)}, "ids are below N = 4");
  expect_last_refused(four, {start(0, 2), offer(~0U)}, "it has left");
}

TEST(TraceCheck, NobodyIsLost) {
  EXPECT_THAT(judge(four, {start(0, 2), finish(0)}, {}), HasSubstr("group 1 has never started"));
  EXPECT_THAT(judge(four, starts(2) + finishes(1), {}),
              HasSubstr("group 1 is still in the kernel"));
  EXPECT_THAT(judge(four, starts(2) + Events{finish(0), arrive(1)}, {}),
              HasSubstr("group 1 still waits in barrier 0"));
  EXPECT_THAT(judge(four, starts(1) + Events{fork(0, 2, 1), finish(0)}, {}),
              HasSubstr("group 1 has never joined"));
  EXPECT_THAT(
      judge(four_any, starts(1) + Events{fork(0, 3, 2), join(2, 3), finish(0), finish(2)}, {}),
      HasSubstr("1 forked groups have never joined"));
  EXPECT_THAT(
      judge(four, starts(2) + arrivals(2) + Events{resize(1, 2, 1), pass(0, 1), finish(0)}, {}),
      HasSubstr("group 1, sent away by a barrier, has not left"));
}

TEST(TraceCheck, TheTraceFitsTheJobsEnd) {
  EXPECT_THAT(judge(four, starts(1) + Events{kill(0, 0, true)}, Status::finished),
              HasSubstr("no group has returned"));
  EXPECT_THAT(judge(four, starts(1) + finishes(1), Status::suspended), HasSubstr("suspended, but"));
  EXPECT_THAT(judge(four_may_leave, starts(1) + Events{kill(0, 0)}, Status::suspended),
              HasSubstr("suspended, but"));
  EXPECT_THAT(judge(four, starts(1) + finishes(1), Status::left), HasSubstr("not all its groups"));
  EXPECT_THAT(judge(four, starts(2) + Events{finish(0), fault(1)}), HasSubstr("a fault has ended"));
  expect_legal(four, starts(2) + Events{finish(0), fault(1)}, Status::failed);
}

// ---- KILL

TEST(TraceCheck, KillTakesTheHighest) {
  expect_legal(four, starts(3) + Events{offer(2), kill(2, 2), offer(1), kill(1, 1), finish(0)});
  expect_last_refused(four, starts(3) + Events{kill(1, 2)}, "only the highest group, 2, may");
  expect_last_refused(four, starts(3) + Events{kill(0, 2)}, "only the highest group, 2, may");
}

TEST(TraceCheck, KillTakesOneFromM) {
  expect_last_refused(four, starts(3) + Events{kill(2, 1)}, "left M = 1 behind; M was 3");
  expect_last_refused(four_any, starts(3) + Events{kill(1, 1)}, "left M = 1 behind; M was 3");
}

TEST(TraceCheck, TheLastGroupStaysUnlessItsStateIsKeptOrAllMayLeave) {
  expect_last_refused(four, starts(1) + Events{kill(0, 0)}, "the last group may leave only");
  expect_last_refused(four_any, starts(2) + Events{kill(0, 1), kill(1, 0)},
                      "the last group may leave only");
  expect_legal(four, starts(1) + Events{kill(0, 0, true)}, Status::suspended);
  expect_legal(four_may_leave, starts(1) + Events{kill(0, 0)}, Status::left);
}

TEST(TraceCheck, NobodyActsAfterLeaving) {
  for (const TraceEvent& event : {offer(1), kill(1, 0), fork(1, 2, 1), arrive(1), resize(1, 1, 1),
                                  pass(1, 1), shed(1, 0), finish(1), fault(1)}) {
    expect_last_refused(four, starts(2) + Events{kill(1, 1), event}, "it has left or never was");
    expect_last_refused(four, starts(2) + Events{finish(1), event}, "it has returned");
    expect_last_refused(four, starts(2) + Events{fault(1), event}, "a fault has ended it");
  }
}

TEST(TraceCheck, AnyGroupMayGoInAnyOrder) {
  expect_legal(four_any, starts(3) +
                             Events{kill(0, 2), kill(2, 1), fork(1, 3, 2), join(3, 3), join(0, 3)} +
                             Events{kill(1, 2), finish(3), finish(0)});
  expect_last_refused(four_any, starts(3) + Events{kill(0, 2), fork(1, 3, 1), join(2, 3)},
                      "another group has this id");
  expect_last_refused(four_any, starts(3) + Events{kill(0, 2), join(0, 3)},
                      "no group has forked it");
}

// ---- FORK

TEST(TraceCheck, JoinersGetTheNextIds) {
  expect_legal(four, starts(1) + Events{fork(0, 3, 2), join(2, 3), join(1, 3)} + finishes(3));
  expect_last_refused(four, starts(1) + Events{fork(0, 3, 2), join(3, 3)},
                      "no group has forked it");
  expect_last_refused(four, starts(1) + Events{fork(0, 3, 2), join(1, 3), join(1, 3)},
                      "no group has forked it");
  expect_last_refused(four, starts(1) + Events{fork(0, 3, 2), offer(1)}, "has not joined yet");
}

TEST(TraceCheck, ForksStayWithinN) {
  expect_last_refused(four, starts(3) + Events{fork(0, 5, 2)},
                      "2 groups in addition to M = 3; N = 4");
  expect_last_refused(four_any, starts(3) + Events{fork(0, 5, 2)},
                      "2 groups in addition to M = 3; N = 4");
  expect_last_refused(four, starts(3) + Events{fork(0, 3, 0)}, "0 groups in addition");
  expect_last_refused(four, starts(2) + Events{fork(0, 4, 1)}, "1 groups make M = 4; M was 2");
}

TEST(TraceCheck, JoinersSeeAnMThatCountsThem) {
  expect_legal(four, starts(1) + Events{fork(0, 3, 2), join(2, 3), kill(2, 2), join(1, 2),
                                        finish(0), finish(1)});
  expect_last_refused(four, starts(1) + Events{fork(0, 3, 2), join(2, 2)}, "it saw M = 2");
  expect_last_refused(four, starts(1) + Events{fork(0, 3, 2), join(2, 5)}, "it saw M = 5");
}

TEST(TraceCheck, JoinersAreInTheGenerationTheyWereForkedIn) {
  const Events forked = starts(1) + arrivals(1) + passages(1) + Events{fork(0, 2, 1)};
  expect_legal(four, forked + Events{join(1, 2, 1)} + finishes(2));
  expect_last_refused(four, forked + Events{join(1, 2, 0)}, "in generation 0; it was forked in 1");
}

TEST(TraceCheck, NobodyJoinsAfterAReturn) {
  expect_last_refused(four, starts(2) + Events{finish(1), fork(0, 3, 1)},
                      "no group may join any more");
}

TEST(TraceCheck, AnIdIsHeldByOneGroupAtATime) {
  // Group 1 has been told to leave, but has not left.
  const Events shrunk = starts(2) + arrivals(2) + Events{resize(1, 2, 1), pass(0, 1)};
  expect_legal(four, shrunk + Events{shed(1, 1), fork(0, 2, 1), join(1, 2, 1)} + finishes(2));
  expect_last_refused(four, shrunk + Events{fork(0, 2, 1)}, "sent away are still there");
  expect_last_refused(four, shrunk + Events{arrive(0, 1), resize(0, 1, 2)},
                      "sent away are still there");
  // But the barrier may remove more groups meanwhile.
  expect_legal(four, starts(3) + arrivals(3) + Events{resize(0, 3, 2), pass(0, 2), pass(1, 2)} +
                         arrivals(2, 1) +
                         Events{resize(0, 2, 1), shed(2, 1), shed(1, 1), pass(0, 1, 2), finish(0)});
}

// ---- BARRIER

TEST(TraceCheck, ABarrierIsPassedWhenAllHaveArrived) {
  expect_legal(
      four, starts(3) + arrivals(3) + passages(3) + arrivals(3, 1) + passages(3, 2) + finishes(3));
  expect_last_refused(
      four, starts(3) + Events{arrive(0), arrive(2), pass(2, 3)},
      "2 of 3 active groups have arrived at barrier 0; others have not, for one group 1");
  expect_last_refused(
      four, starts(2) + arrivals(2) + Events{pass(0, 2), arrive(0, 1), pass(0, 2, 2)},
      "1 of 2 active groups have arrived at barrier 1; others have not, for one group 1");
}

TEST(TraceCheck, AKillCanBeWhatABarrierWaitsFor) {
  expect_legal(four,
               starts(3) + arrivals(2) + Events{offer(2), kill(2, 2)} + passages(2) + finishes(2));
}

TEST(TraceCheck, ABarrierWaitsForThoseWhoJoinMeanwhile) {
  const Events forked = starts(2) + Events{arrive(0), fork(1, 3, 1), arrive(1)};
  expect_last_refused(four, forked + Events{pass(0, 3)}, "2 of 3 active groups");
  expect_legal(four, forked + Events{join(2, 3), arrive(2)} + passages(3) + finishes(3));
}

TEST(TraceCheck, OneBarrierAfterTheOther) {
  expect_last_refused(four, starts(2) + Events{arrive(0, 1)}, "at barrier 1; it has passed 0");
  expect_last_refused(four, starts(2) + Events{arrive(0), arrive(0)}, "it waits in barrier 0");
  expect_last_refused(four, starts(2) + arrivals(2) + Events{pass(0, 2, 2)},
                      "comes out in generation 2 of barrier 0");
  expect_last_refused(four, starts(2) + Events{pass(0, 2)},
                      "it is in the kernel, not in a barrier");
}

TEST(TraceCheck, WhoWaitsInABarrierDoesNothingElse) {
  for (const TraceEvent& event : {offer(1), kill(1, 1), finish(1)}) {
    expect_last_refused(four, starts(2) + Events{arrive(1), event}, "it waits in barrier 0");
  }
  expect_last_refused(four, starts(2) + Events{arrive(1), fork(1, 3, 1)}, "1 of 2 active groups");
}

TEST(TraceCheck, AllWhoPassAreToldTheSameM) {
  expect_last_refused(four, starts(2) + arrivals(2) + Events{pass(0, 3)},
                      "with M = 3; the barrier was released with 2");
  expect_last_refused(four, starts(2) + arrivals(2) + Events{pass(0, 2), pass(1, 1)}, "with M = 1");
}

// ---- RESIZING-BARRIER

TEST(TraceCheck, AResizingBarrierSendsTheHighestAway) {
  const Events full = starts(4) + arrivals(4);
  expect_legal(
      four,
      full + Events{resize(2, 4, 2), pass(1, 2), shed(2, 2), pass(0, 2), shed(3, 2)} + finishes(2));
  expect_last_refused(four, full + Events{resize(2, 4, 2), pass(2, 2), offer(2)},
                      "has sent it away");
  expect_last_refused(four, full + Events{resize(2, 4, 2), shed(1, 2)},
                      "M is 2: only groups from there on may");
  expect_last_refused(four, full + Events{resize(2, 4, 2), shed(3, 4)}, "which keeps it");
  expect_last_refused(four, starts(2) + Events{shed(1, 1)},
                      "M is 2: only groups from there on may");
}

TEST(TraceCheck, LeaversOfTheQueryBarrierGoInTurn) {
  const Events full =
      starts(4) + arrivals(4) + Events{resize(0, 4, 2), pass(3, 2), pass(2, 2), pass(0, 2)};
  expect_legal(four, full + Events{kill(3, 3), kill(2, 2), pass(1, 2)} + finishes(2));
  expect_last_refused(four, full + Events{kill(2, 2)}, "group 3 has to leave before it");
  expect_last_refused(four, full + Events{kill(3, 2)}, "left M = 2 behind, not its id");
  expect_last_refused(four, full + Events{finish(3)}, "has sent it away");
}

TEST(TraceCheck, AResizingBarrierLetsTheNextOnesIn) {
  const Events full = starts(2) + arrivals(2);
  expect_legal(
      four, full + Events{resize(1, 2, 4), pass(0, 4), pass(1, 4), join(3, 4, 1), join(2, 4, 1)} +
                finishes(4));
  expect_last_refused(four, full + Events{resize(1, 2, 5)}, "it may be 1 to N = 4");
  expect_last_refused(four, full + Events{resize(1, 2, 3), join(2, 3, 0)},
                      "in generation 0; it was forked in 1");
  expect_last_refused(four, full + Events{resize(1, 2, 3), join(3, 3, 1)},
                      "no group has forked it");
}

TEST(TraceCheck, AResizingBarrierNeedsEverybody) {
  expect_last_refused(four, starts(2) + Events{arrive(0), resize(0, 2, 1)}, "1 of 2 active groups");
  expect_last_refused(four, starts(2) + Events{arrive(0), resize(1, 2, 1)},
                      "it is in the kernel, not in a barrier");
  expect_last_refused(four, starts(2) + arrivals(2) + Events{resize(0, 3, 1)},
                      "from M = 3; M was 2");
  expect_last_refused(four, starts(2) + arrivals(2) + Events{resize(0, 2, 2), resize(1, 2, 2)},
                      "its barrier has been released");
}

TEST(TraceCheck, TheMasterForksWhenAllSlavesAreThere) {
  expect_legal(four, starts(2) + arrivals(2) +
                         Events{fork(0, 4, 2), join(3, 4), resize(0, 4, 4), join(2, 4)} +
                         passages(4) + finishes(4));
  expect_last_refused(four, starts(2) + Events{arrive(0), fork(0, 3, 1)}, "1 of 2 active groups");
  // The master may change its mind: the groups it forked leave again.
  expect_legal(four, starts(2) + arrivals(2) +
                         Events{fork(0, 4, 2), resize(0, 4, 1), join(3, 4), join(2, 4)} +
                         Events{pass(3, 1), kill(3, 3), pass(1, 1), pass(2, 1), kill(2, 2),
                                kill(1, 1), pass(0, 1), finish(0)});
  expect_last_refused(four,
                      starts(2) + arrivals(2) + Events{fork(0, 3, 1), resize(0, 3, 2), pass(2, 2)},
                      "has not joined yet");
}

TEST(TraceCheck, MBecomesZeroOnlyForASuspendOrWhereAllMayLeave) {
  const Events emptied = starts(2) + arrivals(2) + Events{resize(0, 2, 0), shed(1, 0)};
  expect_legal(four, emptied + Events{shed(0, 0, true)}, Status::suspended);
  expect_legal(four_may_leave, emptied + Events{shed(0, 0)}, Status::left);
  expect_last_refused(four, emptied + Events{shed(0, 0)}, "the last group may leave only");
  const Events queried = starts(1) + arrivals(1) + Events{resize(0, 1, 0), pass(0, 0)};
  expect_legal(four, queried + Events{kill(0, 0, true)}, Status::suspended);
  expect_last_refused(four, queried + Events{kill(0, 0)}, "the last group may leave only");
}

// ---- suspend and resume, faults

TEST(TraceCheck, ASuspendedJobStartsAgain) {
  const Events once = starts(2) + Events{kill(1, 1), kill(0, 0, true)};
  expect_legal(four, once + starts(3) + arrivals(3) + passages(3) + finishes(3));
  expect_last_refused(four_may_leave, starts(1) + Events{kill(0, 0), start(0, 1)},
                      "the job has ended");
  expect_last_refused(four, starts(1) + Events{finish(0), start(0, 1)},
                      "not one of the first groups");
  // The number of groups is prescribed for the first start, but not for the next ones.
  expect_legal({.max_groups = 4, .start_groups = 2}, once + starts(1) + finishes(1));
}

TEST(TraceCheck, AFaultEndsGroupsWhereverTheyAre) {
  expect_legal(four, starts(2) + Events{fork(0, 3, 1), arrive(1), fault(2), fault(1), fault(0)},
               Status::cancelled);
  expect_legal(four, Events{fault(1), start(0, 2), fault(0)}, Status::cancelled);
  expect_legal(four, starts(2) + Events{kill(1, 1), kill(0, 0, true), fault(1), fault(0)},
               Status::cancelled);
  expect_legal(four_any, starts(1) + Events{fork(0, 2, 1), fault(3), fault(0)}, Status::cancelled);
  expect_last_refused(four_may_leave, starts(1) + Events{kill(0, 0), fault(0)},
                      "it has left or never was");
  // The barrier was released before the fault, and passed after it.
  expect_legal(four, starts(2) + arrivals(2) + Events{fault(0), pass(1, 2), fault(1)},
               Status::cancelled);
}

TEST(TraceCheck, CanBeUsedAgain) {
  TraceChecker checker{four};
  for (int round = 0; round < 3; ++round) {
    for (const TraceEvent& event : starts(2) + Events{kill(1, 1), finish(0)})
      EXPECT_FALSE(checker.see(event));
    EXPECT_FALSE(checker.end(Status::finished));
    EXPECT_EQ(checker.events(), 4U);
    EXPECT_EQ(checker.active(), 1U);
    checker.reset();
  }
  EXPECT_TRUE(checker.end(Status::finished));
}

// ---- the modelled barrier

TEST(ModelledBarrier, TheShortAnswerIsTheLongOne) {
  for (std::uint32_t most = 1; most <= 5; ++most) {
    for (std::uint32_t before = 0; before <= most + 1; ++before) {
      std::vector<Resizing> allowed;
      for (std::uint32_t after = 0; after <= most + 1; ++after) {
        for (std::uint32_t forked = 0; forked <= most + 1; ++forked) {
          const Resizing each{.before = before, .after = after, .forked = forked};
          if (modelled_allows(each, most)) allowed.push_back(each);
        }
      }
      EXPECT_EQ(modelled_outcomes(before, most), allowed) << before << " of " << most;
    }
  }
}

TEST(ModelledBarrier, AnyMFromOneToNCanComeOut) {
  for (std::uint32_t before = 1; before <= 5; ++before) {
    for (std::uint32_t after = 1; after <= 5; ++after) {
      const std::uint32_t forked = after > before ? after - before : 0;
      EXPECT_TRUE(modelled_allows({.before = before, .after = after, .forked = forked}, 5));
    }
  }
}

TEST(ModelledBarrier, TheCheckerAcceptsExactlyItsOutcomes) {
  constexpr std::uint32_t most = 4;
  for (std::uint32_t before = 1; before <= most; ++before) {
    for (std::uint32_t forked = 0; forked <= most + 1; ++forked) {
      for (std::uint32_t after = 1; after <= most + 1; ++after) {
        // The master of a query barrier forks, and then says how many groups continue.
        Events events = starts(before) + arrivals(before);
        if (forked > 0) events.push_back(fork(0, before + forked, forked));
        events.push_back(resize(0, before + forked, after));
        // The last step of the query barrier does not let it grow. Our barrier consists of this
        // step alone.
        const std::uint32_t joined =
            forked + (after > before + forked ? after - before - forked : 0);
        TraceChecker checker{{.max_groups = most}};
        bool accepted = true;
        for (const TraceEvent& event : events) accepted = accepted && !checker.see(event);
        EXPECT_EQ(accepted,
                  modelled_allows({.before = before, .after = after, .forked = joined}, most))
            << before << " + " << forked << " -> " << after;
      }
    }
  }
}

// ---- the order behind a log

using Log = std::vector<LoggedEvent>;

/// An event with the worker that recorded it.
LoggedEvent on(std::uint32_t worker, const TraceEvent& event) { return {event, worker}; }

/// The checker's sentence about a log that begins with the starts of `groups` groups, each on the
/// worker of the same number.
std::string judge_log(const TraceRules& rules, std::uint32_t groups, const Log& more) {
  Log log;
  for (std::uint32_t id = 0; id < groups; ++id) log.push_back(on(id, start(id, groups)));
  log.insert(log.end(), more.begin(), more.end());
  return check_trace(log, rules, Status::finished).value_or("");
}
void expect_legal_log(const TraceRules& rules, std::uint32_t groups, const Log& more) {
  EXPECT_EQ(judge_log(rules, groups, more), "");
}

TEST(TraceOrder, KillsMayBeLoggedLate) {
  // Group 2 was killed, then 1, then two joined as 1 and 2: the first two kills are logged last.
  expect_legal_log(four, 3,
                   {on(1, offer(1)), on(2, offer(2)), on(0, fork(0, 3, 2)), on(3, join(1, 3)),
                    on(4, join(2, 3)), on(4, kill(2, 2)), on(1, kill(1, 1)), on(2, kill(2, 2)),
                    on(0, finish(0)), on(3, finish(1))});
  // A barrier released by a kill that is logged after others have passed.
  expect_legal_log(four, 2,
                   {on(0, arrive(0)), on(0, pass(0, 1)), on(1, kill(1, 1)), on(0, finish(0))});
}

TEST(TraceOrder, AKillMayBeLoggedLateWhileABarriersLeaverIsStillThere) {
  // The barrier removed group 3, which has yet to log that. Then group 2 was killed, then 1.
  expect_legal_log(four, 4,
                   {on(0, arrive(0)), on(1, arrive(1)), on(2, arrive(2)), on(3, arrive(3)),
                    on(3, resize(3, 4, 3)), on(0, pass(0, 3)), on(1, pass(1, 3)), on(2, pass(2, 3)),
                    on(1, kill(1, 1)), on(2, kill(2, 2)), on(3, shed(3, 3)), on(0, finish(0))});
  // The same, and a barrier that the two kills released.
  expect_legal_log(four, 4,
                   {on(0, arrive(0)), on(1, arrive(1)), on(2, arrive(2)), on(3, arrive(3)),
                    on(3, resize(3, 4, 3)), on(0, pass(0, 3)), on(0, arrive(0, 1)),
                    on(1, pass(1, 3)), on(2, pass(2, 3)), on(0, pass(0, 1, 2)), on(1, kill(1, 1)),
                    on(3, shed(3, 3)), on(2, kill(2, 2)), on(0, finish(0))});
}

TEST(TraceOrder, AGroupThatAnotherTakesAlongMayBeLoggedLate) {
  // Group 3 removed group 2 too and logs both kills. In between the next group leaves.
  expect_legal_log(four, 4,
                   {on(2, offer(2)), on(3, offer(3)), on(3, kill(3, 3)), on(1, offer(1)),
                    on(1, kill(1, 1)), on(3, kill(2, 2)), on(0, finish(0))});
  // In between a barrier is passed, and another group has the id when the kill is logged.
  expect_legal_log(four, 3,
                   {on(1, offer(1)), on(0, arrive(0)), on(2, offer(2)), on(2, kill(2, 2)),
                    on(0, pass(0, 1)), on(0, fork(0, 2, 1)), on(3, join(1, 2, 1)),
                    on(2, kill(1, 1)), on(0, finish(0)), on(3, finish(1))});
  // A group that is not active cannot leave with another.
  EXPECT_THAT(
      judge_log(four, 2, {on(1, offer(1)), on(1, kill(1, 1)), on(1, kill(3, 3)), on(0, finish(0))}),
      HasSubstr("group 3 leaves"));
}

TEST(TraceOrder, AKillIsNotEarlierThanItsGroupsLastEvent) {
  // Group 1 makes an offer after group 0 has passed, so its kill cannot have released the barrier.
  EXPECT_THAT(judge_log(four, 2,
                        {on(0, arrive(0)), on(0, pass(0, 1)), on(1, offer(1)), on(1, kill(1, 1)),
                         on(0, finish(0))}),
              HasSubstr("1 of 2 active groups have arrived"));
}

TEST(TraceOrder, AForkMayBeLoggedAfterAReturnButNotDoneAfterIt) {
  expect_legal_log(four, 2,
                   {on(0, finish(0)), on(1, fork(1, 3, 1)), on(2, join(2, 3)), on(1, finish(1)),
                    on(2, finish(2))});
  EXPECT_THAT(judge_log(four, 2,
                        {on(0, finish(0)), on(1, offer(1)), on(1, fork(1, 3, 1)), on(2, join(2, 3)),
                         on(1, finish(1)), on(2, finish(2))}),
              HasSubstr("no group may join any more"));
  expect_legal_log(four_any, 2,
                   {on(0, finish(0)), on(1, fork(1, 3, 1)), on(2, join(3, 3)), on(1, finish(1)),
                    on(2, finish(3))});
  EXPECT_THAT(judge_log(four_any, 2,
                        {on(0, finish(0)), on(1, offer(1)), on(1, fork(1, 3, 1)), on(2, join(3, 3)),
                         on(1, finish(1)), on(2, finish(3))}),
              HasSubstr("no group may join any more"));
}

TEST(TraceOrder, AnyOrderIsFoundWhereTheFirstChoiceIsWrong) {
  // Both kills leave 2 behind. Logged: kill, kill, fork. Done: kill, fork, kill.
  expect_legal_log(four_any, 3,
                   {on(1, kill(1, 2)), on(2, kill(2, 2)), on(0, fork(0, 3, 1)), on(3, join(1, 3)),
                    on(0, finish(0)), on(3, finish(1))});
  // The kill that takes 3 groups to 2 is logged first. But the fork that found 3 groups has to come
  // before it, and a kill that found 4 in between.
  expect_legal_log(four_any, 3,
                   {on(1, kill(1, 2)), on(0, fork(0, 4, 1)), on(3, join(3, 4)), on(2, kill(2, 3)),
                    on(0, finish(0)), on(3, finish(3))});
  EXPECT_THAT(
      judge_log(four_any, 3,
                {on(1, kill(1, 2)), on(2, offer(2)), on(0, fork(0, 4, 1)), on(3, join(3, 4)),
                 on(2, offer(2)), on(2, kill(2, 3)), on(0, finish(0)), on(3, finish(3))}),
      HasSubstr("M was 2"));
}

TEST(TraceOrder, NobodyActsAfterLeavingOnItsWorkerEither) {
  EXPECT_THAT(judge_log(four, 2, {on(1, kill(1, 1)), on(1, offer(1)), on(0, finish(0))}),
              HasSubstr("it has left"));
}

/// Plays a legal job at random. As in the protocol, each step is logged some time later: before the
/// group's next step. A fork is also logged before another group forks and before its joiner
/// starts, a kill under KillOrder::any before its id is used again. Groups join only when all
/// groups that a barrier has removed have logged that. Arrivals and resizes are logged at once.
class RandomJob {
 public:
  RandomJob(const TraceRules& rules, unsigned seed)
      : random_(seed), groups_(rules.max_groups), rules_(rules) {}

  std::vector<LoggedEvent> play(int turns) {
    const std::uint32_t first = 1 + pick(rules_.max_groups);
    for (std::uint32_t id = 0; id < first; ++id) enter(id, start(id, first));
    active_ = first;
    for (int turn = 0; turn < turns; ++turn) {
      const std::uint32_t id = pick(rules_.max_groups);
      const std::uint32_t what = pick(any() ? 5 : 7);
      if (what < 3 && acts(id)) {
        what == 0 ? step(id, offer(id)) : what == 1 ? try_kill(id) : try_fork(id);
      } else if (what >= 5 && acts(id)) {
        arrive_at_barrier(id);
      } else if (!late_.empty()) {
        log(pick(static_cast<std::uint32_t>(late_.size())));
      }
    }
    while (!late_.empty()) log(0);
    while (arrived_ != 0) {  // groups wait in a barrier
      for (std::uint32_t id = 0; id < groups_.size() && arrived_ != 0; ++id) {
        if (acts(id)) arrive_at_barrier(id);
      }
    }
    for (std::uint32_t id = 0; id < groups_.size(); ++id) {
      if (groups_[id].in) step(id, finish(id));
    }
    while (!late_.empty()) log(pick(static_cast<std::uint32_t>(late_.size())));
    return std::move(log_);
  }

  /// The number of steps that were logged after a later one.
  [[nodiscard]] std::uint32_t overtaken() const { return overtaken_; }

 private:
  struct Group {
    bool in = false;
    bool waits = false;  // in the barrier
    bool id_free = true;
    std::uint32_t worker = 0;
  };
  struct Late {
    LoggedEvent logged;
    std::uint32_t joiner;
  };
  static constexpr std::uint32_t nobody = ~0U;

  [[nodiscard]] bool any() const { return rules_.kill_order == KillOrder::any; }
  [[nodiscard]] bool acts(std::uint32_t id) const { return groups_[id].in && !groups_[id].waits; }
  [[nodiscard]] bool may_grow() const { return !forking_ && leaving_ == 0; }
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  void enter(std::uint32_t id, const TraceEvent& event) {
    groups_[id] = {.in = true, .id_free = false, .worker = ++workers_};
    log_.push_back({event, workers_});
  }
  /// Logs what the group has done so far.
  void catch_up(std::uint32_t id) {
    for (std::uint32_t i = 0; i < late_.size(); ++i) {
      if (late_[i].logged.worker != groups_[id].worker) continue;
      log(i);
      return;
    }
  }
  void step(std::uint32_t id, const TraceEvent& event, std::uint32_t joiner = nobody) {
    catch_up(id);
    late_.push_back({{event, groups_[id].worker}, joiner});
  }
  void log(std::uint32_t index) {
    const Late late = late_[index];
    overtaken_ += index > 0 ? 1 : 0;
    late_.erase(late_.begin() + index);
    log_.push_back(late.logged);
    const TraceEvent& event = late.logged.event;
    if (event.what == Trace::kill && any()) groups_[event.group].id_free = true;
    if (event.what == Trace::shed) --leaving_;
    if (event.what == Trace::fork) {
      forking_ = false;
      enter(late.joiner, join(late.joiner, any() ? active_ : late.joiner + 1, gen_));
    }
  }
  void arrive_at_barrier(std::uint32_t id) {
    catch_up(id);
    log_.push_back({arrive(id, gen_), groups_[id].worker});
    groups_[id].waits = true;
    if (++arrived_ != active_) return;
    const std::uint32_t most = may_grow() ? rules_.max_groups : active_;
    const std::uint32_t next = 1 + pick(most);
    log_.push_back({resize(id, active_, next), groups_[id].worker});
    release(next);
  }
  /// Ends the barrier, with `next` groups.
  void release(std::uint32_t next) {
    const std::uint32_t before = std::exchange(active_, next);
    arrived_ = 0;
    ++gen_;
    for (std::uint32_t id = 0; id < before; ++id) {
      groups_[id].waits = false;
      step(id, id < next ? pass(id, next, gen_) : shed(id, next));
      if (id < next) continue;
      groups_[id].in = false;
      ++leaving_;
    }
    for (std::uint32_t id = before; id < next; ++id) enter(id, join(id, next, gen_));
  }
  void try_kill(std::uint32_t id) {
    if (active_ == 1 || (!any() && id != active_ - 1)) return;
    step(id, kill(id, active_ - 1));
    --active_;
    groups_[id].in = false;
    groups_[id].id_free = !any();
    if (arrived_ == active_) release(active_);
  }
  void try_fork(std::uint32_t id) {
    std::uint32_t joiner = active_;
    for (std::uint32_t i = 0; any() && i < groups_.size(); ++i) {
      if (groups_[i].id_free) joiner = i;
    }
    if (!may_grow() || active_ == groups_.size()) return;
    if (any() && !groups_[joiner % groups_.size()].id_free) return;
    step(id, fork(id, active_ + 1, 1), joiner);
    groups_[joiner].id_free = false;
    ++active_;
    forking_ = true;
  }

  std::mt19937 random_;
  std::vector<Group> groups_;
  TraceRules rules_;
  std::uint32_t active_ = 0;
  std::uint32_t arrived_ = 0;
  std::uint32_t leaving_ = 0;  // removed by a barrier, and not yet logged
  std::uint32_t gen_ = 0;
  std::uint32_t workers_ = 0;
  std::uint32_t overtaken_ = 0;
  bool forking_ = false;
  std::vector<Late> late_;
  std::vector<LoggedEvent> log_;
};

TEST(TraceOrder, NoLegalRunIsRefused) {
  std::uint64_t overtaken = 0;
  for (const KillOrder order : {KillOrder::highest_first, KillOrder::any}) {
    for (unsigned seed = 0; seed < 300; ++seed) {
      const TraceRules rules{.max_groups = 2 + seed % 7, .kill_order = order};
      RandomJob job{rules, seed};
      const auto log = job.play(400);
      ASSERT_EQ(check_trace(log, rules, Status::finished).value_or(""), "")
          << "seed " << seed << (order == KillOrder::any ? ", any" : ", highest first");
      overtaken += job.overtaken();
    }
  }
  EXPECT_GT(overtaken, 1000U);
}

TEST(TraceOrder, AStepLeftOutIsMissed) {
  // M tells how many groups came and left, so a kill or fork that is missing from the log leaves a
  // gap.
  for (const KillOrder order : {KillOrder::highest_first, KillOrder::any}) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      const TraceRules rules{.max_groups = 3 + seed % 4, .kill_order = order};
      auto log = RandomJob{rules, seed}.play(200);
      const auto gone =
          std::find_if(log.begin() + static_cast<std::ptrdiff_t>(log.size() / 2), log.end(),
                       [](const LoggedEvent& each) { return each.event.what == Trace::fork; });
      if (gone == log.end()) continue;
      log.erase(gone);
      EXPECT_TRUE(check_trace(log, rules, Status::finished)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cohort
