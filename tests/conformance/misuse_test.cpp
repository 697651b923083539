// Bad use: a request for something impossible is the documented error, and wait() names the rule
// that a kernel has broken. Nothing hangs or crashes.
#include "conformance/kernels/misuse.hpp"

#include "conformance/lookout.hpp"
#include "conformance/refused.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// ---- options

COHORT_SITE_SUITE(BadOptions);

COHORT_SITE_TEST(BadOptions, OfALaunchAreRefused) {
  site.needs(site.lacks().refusals);
  site.restart(4);
  const auto refuses = [&site](const LaunchOptions& options, const std::string& text) {
    SCOPED_TRACE(text);
    expect_error([&] { static_cast<void>(site.launch(Brief{}, options)); }, Errc::bad_options,
                 text);
  };
  refuses({.max_groups = 0}, "max_groups = 0; it can be 1 to 4096");
  refuses({.max_groups = max_groups_limit + 1}, "max_groups = 4097");
  refuses({.local_size = 0}, "local_size = 0; it can be 1 to 1024");
  refuses({.local_size = max_local_size + 1}, "local_size = 1025");
  refuses({.max_groups = 4, .start_groups = 0}, "start_groups = 0; it can be 1 to 4");
  refuses({.max_groups = 4, .start_groups = 5}, "start_groups = 5");
  refuses({.max_groups = 4, .target = 0}, "target = 0");
  refuses({.max_groups = 4, .target = 5}, "target = 5");
  refuses({.weight = 0}, "weight = 0");
  refuses({.max_groups = 4096, .resizable = false}, "could never start");
  refuses({.max_groups = 4, .start_groups = 2, .resizable = false}, "static launch");
  refuses({.max_groups = 4, .target = 2, .resizable = false}, "static launch");
  // The refused options have left no trace.
  EXPECT_EQ(site.launch(Brief{}).wait().status, Status::finished);
}

COHORT_SITE_TEST(BadOptions, AKernelsOwnLimitIsKept) {
  site.needs(site.lacks().refusals);
  site.needs(site.lacks().local_limits);
  EXPECT_EQ(site.launch(BriefInSmallGroups{}, {.local_size = 4}).wait().status, Status::finished);
  expect_error([&] { static_cast<void>(site.launch(BriefInSmallGroups{}, {.local_size = 5})); },
               Errc::bad_options, "local_size = 5; it can be 1 to 4");
}

COHORT_SITE_TEST(BadOptions, LimitsThemselvesAreAllowed) {
  site.needs(site.lacks().refusals);
  site.restart(2);
  for (const LaunchOptions& options :
       {LaunchOptions{.max_groups = max_groups_limit},
        LaunchOptions{.max_groups = 4, .start_groups = 4},
        LaunchOptions{.max_groups = 2, .resizable = false}, LaunchOptions{.offer_wait = -1s}}) {
    EXPECT_EQ(site.launch(Brief{}, options).wait().status, Status::finished);
  }
  if (site.kind() == EngineKind::opencl) return;  // its groups are as large as the device allows
  EXPECT_EQ(site.launch(Brief{}, {.max_groups = 1, .local_size = max_local_size}).wait().status,
            Status::finished);
}

// ---- calls that do not fit the job's state

COHORT_SITE_SUITE(BadState);

COHORT_SITE_TEST(BadState, ResumeOfAJobThatIsNotSuspended) {
  site.needs_several_jobs();
  site.restart(1);
  const OfferingWords words{site};
  const ScopedJob running = site.launch(words.kernel());
  const ScopedJob pending = site.launch(words.kernel());
  site.until([&] { return running.status() == Status::running; });
  expect_error([&] { running.resume(); }, Errc::bad_state, "the job is running, not suspended");
  expect_error([&] { pending.resume(); }, Errc::bad_state, "the job is pending");
  pending.cancel();
  pending.wait();
  expect_error([&] { pending.resume(); }, Errc::bad_state, "the job is cancelled");
  ASSERT_EQ(running.suspend(), Status::suspended);
  running.resume();
  expect_error([&] { running.resume(); }, Errc::bad_state, "not suspended");
  finish(running, words.stop);
  expect_error([&] { running.resume(); }, Errc::bad_state, "the job is finished");
}

COHORT_SITE_TEST(BadState, SuspendOfAJobThatCannotBe) {
  site.needs_several_jobs();
  site.restart(2);
  const std::string why =
      site.kind() == EngineKind::opencl ? "that are not transmitted" : "suspendable = false";
  const OfferingWords words{site};
  const NotSuspendable not_suspendable{words.stop.data()};
  const ScopedJob declared = site.launch(not_suspendable, {.max_groups = 1});
  expect_error([&] { declared.suspend(); }, Errc::not_suspendable, why);
  const ScopedJob other = site.launch(words.kernel(), {.max_groups = 1});
  const ScopedJob pending = site.launch(not_suspendable, {.max_groups = 1});
  expect_error([&] { pending.suspend(); }, Errc::not_suspendable, why);
  finish(declared, words.stop);  // the memory is unchanged
  EXPECT_EQ(pending.wait().status, Status::finished);
}

COHORT_SITE_TEST(BadState, SuspendOfAStaticLaunch) {
  site.needs(site.lacks().refusals);
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel(), {.max_groups = 1, .resizable = false});
  expect_error([&] { job.suspend(); }, Errc::not_suspendable, "static launch");
  words.stop = 1;
  const Report report = job.wait();
  EXPECT_EQ(report.status, Status::finished);
  EXPECT_EQ(report.joins + report.leaves, 0U);
}

COHORT_SITE_TEST(BadState, TargetsThatTheJobCannotHave) {
  site.needs_several_jobs();
  site.restart(4);
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel(), {.max_groups = 3});
  expect_error([&] { job.set_target(0); }, Errc::bad_options, "this job can have 1 to 3");
  expect_error([&] { job.set_target(4); }, Errc::bad_options, "4 groups");
  const ScopedJob leaving =
      site.launch(words.kernel<OfferingInAnyOrderMayAllLeave>(), {.max_groups = 3});
  expect_error([&] { leaving.set_target(4); }, Errc::bad_options, "this job can have 0 to 3");
  const ScopedJob fixed = site.launch(words.kernel(), {.max_groups = 1, .resizable = false});
  expect_error([&] { fixed.set_target(1); }, Errc::bad_state, "static launch");
  expect_error([&] { fixed.reset_target(); }, Errc::bad_state, "static launch");
  finish(job, words.stop);
  EXPECT_EQ(leaving.wait().status, Status::finished);
  EXPECT_EQ(fixed.wait().status, Status::finished);
}

// ---- broken contracts

COHORT_SITE_SUITE(BrokenContract);

constexpr const char* returned_in_barrier = "returned while others waited for it at barrier ";
constexpr const char* barrier_after_return = ", but another group has already returned";
constexpr const char* different_barriers = "groups met at different barriers";
constexpr const char* went_on = ", although a primitive had told it to leave";

COHORT_BARRIER_TEST(BrokenContract, AGroupReturnsWhileOthersWaitForItOrBeforeTheyDo, ReturnsEarly) {
  if (shape.groups == 1) return;
  LaunchOptions options = shape.options();
  for (const bool resizable : {true, false}) {
    options.resizable = resizable;
    for (const bool resizing : {false, true}) {
      for (const std::uint32_t early : {0U, shape.groups - 1}) {
        for (const bool late : {false, true}) {
          site.run_broken(with(barrier, ReturnsEarly{early, resizing, late}), options,
                          AnyOf(HasSubstr(returned_in_barrier), HasSubstr(barrier_after_return)));
        }
      }
    }
  }
}

COHORT_SITE_TEST(BrokenContract, TheMessageSaysWhichCameFirstAndNamesTheGroupAndTheBarrier) {
  site.needs(site.lacks().live_traces);
  site.needs(site.lacks().offer_wait);
  Lookout seen{Trace::finish};
  const Word returned{site};
  site.run_broken(ReturnsFirst{returned.data()}, {.max_groups = 2, .tracer = &seen},
                  HasSubstr("group 0 is at barrier 3, but another group has already returned"),
                  [&](const Job& /*job*/) {
                    site.until([&] { return seen.seen.load(); });
                    returned = 1;
                  });
  Lookout fault{Trace::fault};
  const Word over{site};
  site.run_broken(ArrivesFirst{over.data()}, {.max_groups = 3, .offer_wait = 1h, .tracer = &fault},
                  HasSubstr("group 1 returned while others waited for it at barrier 0"),
                  [&](const Job& job) {
                    job.set_target(1);
                    site.until([&] { return fault.seen.load(); });
                    over = 1;
                  });
}

template <class Kernel>
void meet_at_different_barriers(Site& site, Shape shape, bool resizable) {
  if (shape.groups == 1) return;
  for (const std::uint32_t odd_one : {0U, shape.groups - 1}) {
    for (const bool odd_resizes : {false, true}) {
      for (const std::uint32_t rounds : {0U, 1U, 2U}) {
        site.run_broken(as<Kernel>(Divergent{odd_one, odd_resizes, rounds}),
                        shape.options({.resizable = resizable}), HasSubstr(different_barriers));
      }
    }
  }
}

COHORT_SITE_TEST(BrokenContract, GroupsMeetAtDifferentBarriers) {
  for_each_shape(site, [&](Shape shape) {
    meet_at_different_barriers<DivergentAtBarriers>(site, shape, true);
  });
  for_each_barrier_and_shape<Divergent>(site, [&](auto barrier, Shape shape) {
    meet_at_different_barriers<Meeting<Divergent, barrier>>(site, shape, true);
    meet_at_different_barriers<Meeting<Divergent, barrier>>(site, shape, false);
  });
}

COHORT_SHAPE_TEST(BrokenContract, GroupsMeetAtDifferentBarriersWhileSomeAreWantedBack) {
  if (shape.groups == 1) return;
  for (const std::uint32_t odd_one : {0U, shape.groups - 1}) {
    for (const bool odd_resizes : {false, true}) {
      const Word started{site};
      const Word go{site};
      site.run_broken(DivergentUnderDemand{{odd_one, odd_resizes, 0}, started.data(), go.data()},
                      shape.options(), HasSubstr(different_barriers), [&](const Job& job) {
                        site.until([&] { return started == shape.groups; });
                        job.set_target(1);
                        go = 1;
                      });
    }
  }
}

COHORT_BARRIER_TEST(BrokenContract, ABarrierWithinAStepIsNotTheOneAfterIt, DivergentSteps) {
  if (shape.groups == 1) return;
  LaunchOptions options = shape.options();
  for (const bool resizable : {true, false}) {
    options.resizable = resizable;
    site.run_broken(with(barrier, DivergentSteps{}), options, HasSubstr(different_barriers));
  }
}

COHORT_SITE_TEST(BrokenContract, TheThreadsOfAGroupCallDifferentFunctions) {
  site.needs(site.lacks().divergence);
  using Way = TornGroup::Way;
  const auto said = AnyOf(HasSubstr(" called different group-level functions"),
                          HasSubstr("went different ways"));  // in the words of the explorer
  for (const Way way :
       {Way::barrier_or_offer, Way::barrier_or_global, Way::global_or_resizing, Way::reduce_or_scan,
        Way::query_or_fork, Way::kill_or_offer, Way::early_return, Way::late_return}) {
    SCOPED_TRACE(testing::Message() << "way " << static_cast<int>(way));
    for (const std::uint32_t groups : {1U, 2U, site.explored() ? 3U : 5U}) {
      for (const std::uint32_t odd_thread : {0U, 3U}) {
        site.run_broken(TornGroup{way, odd_thread, groups - 1},
                        {.max_groups = groups, .local_size = 4}, said);
      }
    }
  }
}

COHORT_SITE_TEST(BrokenContract, AGroupGoesOnAfterItWasToldToLeave) {
  site.needs(site.lacks().leavers);
  using Then = GoesOn::Then;
  for_each_barrier_and_shape<GoesOn>(site, [&](auto barrier, Shape shape) {
    if (shape.groups == 1) return;
    for (const Then then :
         {Then::offers_again, Then::asks, Then::global_barrier, Then::resizing_barrier}) {
      for (const bool at_barrier : {false, true}) {
        site.run_broken(with(barrier, GoesOn{then, at_barrier}), shape.options(),
                        // In the words of the explorer.
                        AnyOf(HasSubstr(went_on), HasSubstr("no progress")),
                        [](const Job& job) { job.set_target(1); });
      }
    }
  });
}

COHORT_SITE_TEST(BrokenContract, LeavesTheEngineInGoodOrder) {
  site.needs(site.lacks().refusals);
  site.restart(4);
  for (std::uint32_t i = 0; i < scaled(50, 10); ++i) {
    const ScopedJob broken =
        site.launch(Divergent{i % 4, true, 0}, {.max_groups = 4, .local_size = 4});
    EXPECT_THROW(broken.wait(), Error);
    EXPECT_EQ(broken.suspend(), Status::failed);
    EXPECT_EQ(site.launch(Brief{}, {.local_size = 4}).wait().status, Status::finished);
  }
}

}  // namespace
}  // namespace cohort::test
