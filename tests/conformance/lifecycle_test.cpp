// The end of jobs: waiting for them, cancelling them, and the end of the engine.
#include "conformance/kernels/lifecycle.hpp"

#include <stop_token>
#include <thread>

#include "conformance/site.hpp"

namespace cohort::test {
namespace {

// ---- wait

COHORT_SITE_SUITE(Wait);

COHORT_SHAPE_TEST(Wait, ReturnsTheReportOfAFinishedJob) {
  site.run(Brief{}, shape.options(), [&](const Job& job) {
    EXPECT_EQ(job.wait().status, Status::finished);
    // Again, because wait() may be called repeatedly.
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(job.status(), Status::finished);
    EXPECT_TRUE(job.wait_for(0s).has_value());
  });
}

COHORT_SITE_TEST(Wait, ForALimitedTimeReturnsNothingWhileTheJobRuns) {
  const OfferingWords words{site};
  site.run(words.kernel(), {.max_groups = 2}, [&](const Job& job) {
    site.until_started(job);
    EXPECT_FALSE(job.wait_for(0s).has_value());
    EXPECT_FALSE(job.wait_for(2ms).has_value());
    EXPECT_FALSE(job.wait_until(std::chrono::steady_clock::now() - 1h).has_value());
    EXPECT_EQ(job.status(), Status::running);
    finish(job, words.stop);
    EXPECT_TRUE(job.wait_for(1h).has_value());
  });
}

COHORT_SITE_TEST(Wait, ForAVeryLongTimeDoesNotOverflow) {
  site.needs(site.lacks().host_threads);
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel());
  std::thread stopper{[&] {
    std::this_thread::sleep_for(5ms);
    words.stop = 1;
  }};
  EXPECT_TRUE(job.wait_for(std::chrono::nanoseconds::max()).has_value());
  stopper.join();
}

COHORT_SITE_TEST(Wait, ServesManyThreadsAtOnce) {
  site.needs(site.lacks().host_threads);
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel(), {.max_groups = 4});
  std::atomic<std::uint32_t> finished{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back(
        [&finished, &job] { finished.fetch_add(job.wait().status == Status::finished ? 1 : 0); });
  }
  words.stop = 1;
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(finished, 8U);
}

COHORT_SITE_TEST(Wait, IsNotNeeded) {
  site.needs_several_jobs();
  site.restart(4);
  const OfferingWords words{site};
  (void)site.launch(words.kernel());  // dropping the handle does not end the job
  site.until([&] { return words.turns > 4; });
  words.stop = 1;
  site.until([&] { return words.returned == site.capacity(); });
  site.restart(4);  // ends the groups before their words are freed
}

// ---- cancel

COHORT_SITE_SUITE(Cancel);

template <class Kernel>
void cancel_in(Site& site, Shape shape, Endless::At at, bool resizable) {
  SCOPED_TRACE(testing::Message() << "in primitive " << static_cast<int>(at));
  const Word started{site};
  site.run_to(Status::cancelled, as<Kernel>(Endless{at, started.data()}),
              shape.options({.resizable = resizable}), [&](const Job& job) {
                site.until([&] { return started == shape.groups; });
                job.cancel();
              });
}

using At = Endless::At;

COHORT_BARRIER_TEST(Cancel, EndsAJobInOffersAndBarriers, Endless) {
  for (const At at : {At::offer, At::global_barrier, At::resizing_barrier}) {
    cancel_in<Meeting<Endless, barrier>>(site, shape, at, true);
  }
}

COHORT_BARRIER_TEST(Cancel, EndsAJobWhoseGroupsOnlyOfferToLeave, Endless) {
  site.needs(site.lacks().sampled_offers);
  for (const At at : {At::offer_kill, At::others_in_barrier}) {
    cancel_in<Meeting<Endless, barrier>>(site, shape, at, true);
  }
}

COHORT_SHAPE_TEST(Cancel, EndsAJobThatOnlyForksOrAsks) {
  cancel_in<Endless>(site, shape, At::request_fork, true);
  cancel_in<Endless>(site, shape, At::query, true);
}

COHORT_SHAPE_TEST(Cancel, EndsAStaticLaunch) {
  cancel_in<Endless>(site, shape, At::global_barrier, false);
  cancel_in<Endless>(site, shape, At::resizing_barrier, false);
}

COHORT_SITE_TEST(Cancel, ReachesAStaticLaunchAtItsBarriersOnly) {
  const Word stop{site};
  const Word started{site};
  const std::uint32_t groups = std::min(site.capacity(), 4U);
  site.run_to(Status::cancelled, OfferingThenMeeting{stop.data(), started.data()},
              {.max_groups = groups, .resizable = false}, [&](const Job& job) {
                site.until([&] { return started == groups; });
                job.cancel();
                EXPECT_FALSE(job.wait_for(2ms).has_value());
                stop = 1;
              });
}

COHORT_BARRIER_TEST(Cancel, EndsStepsInEveryShape, Steps) {
  const March march{site};
  site.run_to(Status::cancelled, with(barrier, march.kernel()), shape.options(),
              [&](const Job& job) {
                site.until([&] { return march.steps() >= 3; });
                job.cancel();
              });
}

COHORT_SITE_TEST(Cancel, OfAPendingJobMeansThatItNeverRuns) {
  site.needs_several_jobs();
  site.restart(1);
  const OfferingWords words{site};
  const ScopedJob running = site.launch(words.kernel());
  const ScopedJob pending = site.launch(words.kernel());
  EXPECT_EQ(pending.status(), Status::pending);
  EXPECT_FALSE(pending.wait_for(1ms).has_value());
  pending.cancel();
  EXPECT_EQ(pending.wait().status, Status::cancelled);
  finish(running, words.stop);
  EXPECT_EQ(pending.report().start_groups, 0U);
}

COHORT_SITE_TEST(Cancel, EndsASuspendedJob) {
  site.needs(site.lacks().refusals);
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel());
  EXPECT_EQ(job.suspend(), Status::suspended);
  job.cancel();
  EXPECT_EQ(job.wait().status, Status::cancelled);
  EXPECT_THROW(job.resume(), Error);
}

COHORT_SITE_TEST(Cancel, DoesNothingToAJobThatHasEnded) {
  site.run(Brief{}, {}, [](const Job& job) {
    job.wait();
    job.cancel();
  });
}

COHORT_SITE_TEST(Cancel, MayComeFromManyThreads) {
  site.needs(site.lacks().host_threads);
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&job] { job.cancel(); });
  EXPECT_EQ(job.wait().status, Status::cancelled);
  for (auto& thread : threads) thread.join();
}

COHORT_SITE_TEST(Cancel, FollowsAStopTokenThatIsAlreadyStopped) {
  site.needs(site.lacks().stop_tokens);
  std::stop_source source;
  source.request_stop();
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel(), {.stop = source.get_token()});
  EXPECT_EQ(job.wait().status, Status::cancelled);
}

COHORT_SHAPE_TEST(Cancel, FollowsAStopTokenAfterTheLaunch) {
  site.needs(site.lacks().stop_tokens);
  std::stop_source source;
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel(), shape.options({.stop = source.get_token()}));
  EXPECT_FALSE(job.wait_for(100us).has_value());
  source.request_stop();
  EXPECT_EQ(job.wait().status, Status::cancelled);
}

COHORT_SITE_TEST(Cancel, IgnoresAStopTokenOnceAllIsOver) {
  site.needs(site.lacks().stop_tokens);
  std::stop_source source;
  (void)site.launch(Brief{}, {.stop = source.get_token()});
  const ScopedJob job = site.launch(Brief{}, {.stop = source.get_token()});
  job.wait();
  source.request_stop();
  EXPECT_EQ(job.wait().status, Status::finished);
}

COHORT_SITE_TEST(Cancel, ByAStopTokenMayMeetTheEndOfTheJob) {
  site.needs(site.lacks().stop_tokens);
  for (std::uint32_t i = 0; i < scaled(200, 20); ++i) {
    std::stop_source source;
    std::thread stopper{[&source] { source.request_stop(); }};
    const ScopedJob job = site.launch(Brief{}, {.max_groups = 2, .stop = source.get_token()});
    EXPECT_THAT(job.wait().status, testing::AnyOf(Status::finished, Status::cancelled));
    stopper.join();
  }
}

COHORT_SHAPE_TEST(Cancel, ReachesGroupsInSetup) {
  const Word go{site};
  const Word in_setup{site};
  const Word stop{site};
  site.run_to(Status::cancelled, LongSetup{go.data(), in_setup.data(), stop.data()},
              shape.options(), [&](const Job& job) {
                site.until([&] { return in_setup == shape.groups; });
                job.cancel();
                go = 1;
              });
}

COHORT_SITE_TEST(Cancel, LetsNoGroupGoOnWithoutItsId) {
  site.restart(4);
  for (std::uint32_t i = 0; i < (site.explored() ? 2 : scaled(1000, 100)); ++i) {
    const Mistakes wrong{site};
    const Word started{site};
    site.run_to(Status::cancelled, KnowsItsId{wrong.data(), started.data()},
                {.max_groups = 2 + i % 2}, [&](const Job& job) {
                  site.until([&] { return started > 0; });
                  job.cancel();
                });
    ASSERT_EQ(wrong, 0U);
  }
}

// ---- the engine's end

COHORT_SITE_SUITE(EngineEnd, &Lacks::engine_end);

COHORT_SHAPE_TEST(EngineEnd, CancelsWhatRunsWaitsOrIsSuspended) {
  site.restart(2);
  const OfferingWords words{site};
  const March march{site};
  std::vector<Job> jobs;
  jobs.push_back(site.launch(march.kernel(), shape.options()));
  ASSERT_EQ(jobs[0].suspend(), Status::suspended);
  jobs.push_back(site.launch(march.kernel(), shape.options()));
  jobs.push_back(site.launch(words.kernel(), shape.options()));
  jobs.push_back(site.launch(words.kernel(), shape.options()));
  EXPECT_EQ(jobs[3].status(), Status::pending);
  site.end();
  for (const Job& job : jobs) {
    EXPECT_EQ(job.wait().status, Status::cancelled);
    EXPECT_EQ(job.status(), Status::cancelled);
    job.cancel();
    EXPECT_EQ(job.suspend(), Status::cancelled);
    EXPECT_TRUE(job.wait_for(0s).has_value());
    try {
      job.resume();
      ADD_FAILURE() << "resumed without an engine";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::engine_gone);
    }
  }
}

COHORT_SITE_TEST(EngineEnd, MayComeAtAnyMoment) {
  const std::uint32_t rounds = site.kind() == EngineKind::cpu ? scaled(60, 10) : 3;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    site.restart(4);
    const OfferingWords words{site};
    const March march{site};
    const Job one = site.launch(march.kernel(), {.max_groups = 4});
    const Job two = site.launch(words.kernel(), {.local_size = 1 + i % 2 * 3});
    one.set_target(1 + i % 4);
    if (i % 3 != 0) site.linger(std::chrono::microseconds{i * 7 % 200});
    site.end();
  }
}

COHORT_SITE_TEST(EngineEnd, WakesThoseWhoWait) {
  site.restart(2);
  const OfferingWords words{site};
  const Job job = site.launch(words.kernel());
  const Job pending = site.launch(words.kernel(), {.max_groups = 2, .resizable = false});
  std::vector<std::thread> waiters;
  for (const Job& each : {job, pending}) {
    waiters.emplace_back([each] { EXPECT_EQ(each.wait().status, Status::cancelled); });
  }
  site.linger(1ms);
  site.end();
  for (auto& waiter : waiters) waiter.join();
}

COHORT_SITE_TEST(EngineEnd, LeavesFinishedJobsAsTheyWere) {
  const Job job = site.launch(Brief{});
  job.wait();
  site.end();
  EXPECT_EQ(job.wait().status, Status::finished);
}

}  // namespace
}  // namespace cohort::test
