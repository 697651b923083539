// Several jobs on one engine: capacity, weights, and units that move from one job to another.
#include "conformance/kernels/shared_engine.hpp"

#include <deque>
#include <thread>

#include "conformance/site.hpp"

namespace cohort::test {
namespace {

COHORT_SITE_SUITE(SharedEngine, &Lacks::several_jobs);

COHORT_SITE_TEST(SharedEngine, NeverHasMoreGroupsInsideThanItsCapacity) {
  site.needs(site.lacks().units_of_one);
  for (const std::uint32_t units : {1U, 3U, 8U}) {
    site.restart(units);
    BackgroundWords words{site};
    std::vector<Job> jobs;
    for (std::uint32_t i = 0; i < 5; ++i) {
      const bool small = i % 2 == 0 || site.lacks().mixed_sizes != nullptr;
      jobs.push_back(words.launch({.max_groups = 1 + i * 4, .local_size = small ? 1U : 4U}));
    }
    for (std::uint32_t i = 0; i < scaled(20, 5); ++i) {
      jobs[i % 5].set_target(1 + i % (1 + i % 5 * 4));
      site.linger(100us);
    }
    words.stop = 1;
    for (const Job& job : jobs) EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_GE(words.most(), 1U);
    EXPECT_LE(words.most(), site.capacity());
    EXPECT_EQ(words.monitor[Background::inside], 0U);
  }
}

COHORT_SITE_TEST(SharedEngine, IsSharedByWeightAndNeverIdle) {
  site.needs_units(16);
  const March first{site};
  const March second{site};
  const March third{site};
  const ScopedJob one = site.launch(first.kernel(), {.weight = 3});
  site.until([&] { return first.groups() == 16; });
  const ScopedJob two = site.launch(second.kernel(), {.weight = 1});
  site.until([&] { return first.groups() == 12 && second.groups() == 4; });
  const ScopedJob three = site.launch(third.kernel(), {.max_groups = 2, .weight = 100});
  site.until([&] { return third.groups() == 2 && first.groups() + second.groups() == 14; });
  finish(one, first.stop);
  site.until([&] { return second.groups() == 14; });
  finish(three, third.stop);
  site.until([&] { return second.groups() == 16; });
  finish(two, second.stop);
}

COHORT_SITE_TEST(SharedEngine, IsSharedByTwo) {
  const March march{site};
  const OfferingWords words{site};
  const ScopedJob one = site.launch(march.kernel());
  const ScopedJob two = site.launch(words.kernel());
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t steps = march.steps();
    const std::uint32_t turns = words.turns;
    site.until([&] { return march.steps() > steps + 2 && words.turns > turns + 2; });
  }
  finish(two, words.stop);
  site.until([&] { return march.groups() == site.capacity(); });
  finish(one, march.stop);
}

COHORT_SITE_TEST(SharedEngine, PostponesJobsItHasNoUnitFor) {
  site.restart(2);
  std::deque<March> marches;
  for (int i = 0; i < 4; ++i) marches.emplace_back(site);
  std::vector<Job> jobs;
  for (const March& each : marches) jobs.push_back(site.launch(each.kernel()));
  site.until([&] { return marches[0].steps() > 5 && marches[1].steps() > 5; });
  EXPECT_EQ(jobs[2].status(), Status::pending);
  EXPECT_EQ(jobs[3].status(), Status::pending);
  finish(jobs[1], marches[1].stop);
  site.until([&] { return marches[2].steps() > 5; });  // in the order of their launch
  EXPECT_EQ(jobs[3].status(), Status::pending);
  for (const March& each : marches) each.stop = 1;
  for (const Job& job : jobs) EXPECT_EQ(job.wait().status, Status::finished);
}

COHORT_SITE_TEST(SharedEngine, GathersRoomForAStaticLaunch) {
  site.restart(8);
  site.needs_units(4);
  const std::uint32_t all = site.capacity();
  const March cooperative{site};
  const March fixed{site};
  const ScopedJob one = site.launch(cooperative.kernel());
  site.until([&] { return cooperative.groups() == all; });
  const ScopedJob two = site.launch(fixed.kernel(), {.max_groups = all - 2, .resizable = false});
  site.until([&] { return fixed.steps() > 5; });
  site.until([&] { return cooperative.groups() == 2; });
  fixed.stop = 1;
  EXPECT_EQ(two.wait().start_groups, all - 2);
  EXPECT_EQ(fixed[Board::least], all - 2);
  EXPECT_EQ(fixed[Board::most], all - 2);
  site.until([&] { return cooperative.groups() == all; });
  finish(one, cooperative.stop);
}

COHORT_SITE_TEST(SharedEngine, StartsAStaticLaunchWithAllItsGroupsAlsoAfterTasks) {
  site.restart(4);
  site.needs_units(4);
  const Word long_over{site};
  const Word short_over{site};
  const Word seen{site};
  const Word done{site};
  const Task long_task = site.submit(BlockingTask{long_over.data()}, {.groups = 2});
  const Task short_task = site.submit(BlockingTask{short_over.data()});
  const ScopedJob job =
      site.launch(Slices{seen.data(), done.data()}, {.max_groups = 4, .resizable = false});
  short_over = 1;
  short_task.wait();  // while it was served, the job waited, so the job is next
  EXPECT_FALSE(site.submit(EmptyTask{}).wait_for(20ms).has_value()) << "overtook the job";
  EXPECT_EQ(job.status(), Status::pending) << "two of four units are not enough for it";
  long_over = 1;
  EXPECT_EQ(job.wait().start_groups, 4U);
  EXPECT_EQ(seen, 4U);
  EXPECT_EQ(done, 0b1111U);
}

COHORT_SITE_TEST(SharedEngine, ServesTasksNextToAJobThatLeavesNoRoomForAStaticLaunch) {
  site.restart(2);
  const March march{site};
  const ScopedJob running = site.launch(march.kernel());
  const ScopedJob fixed = site.launch(Brief{}, {.max_groups = 2, .resizable = false});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(site.submit(EmptyTask{}).wait().status, Status::finished);
  EXPECT_EQ(fixed.status(), Status::pending);
  finish(running, march.stop);
  EXPECT_EQ(fixed.wait().start_groups, 2U);
}

COHORT_SITE_TEST(SharedEngine, HonoursACapacityBelowTheNumberOfItsJobs) {
  site.needs(site.lacks().capacity);
  site.restart(4);
  site.needs_units(4);
  BackgroundWords words{site};
  std::vector<Job> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(words.launch());
  const auto running = [&] {
    return std::count_if(jobs.begin(), jobs.end(),
                         [](const Job& job) { return job.status() == Status::running; });
  };
  site.until([&] { return running() == 4; });
  site.set_capacity(1);
  site.until([&] { return running() == 1; });
  EXPECT_EQ(jobs[0].status(), Status::running) << "the oldest stays";
  words.monitor.set(Background::most, 0);
  site.until([&] { return words.most() == 1; });
  site.set_capacity(4);
  site.until([&] { return running() == 4; });  // the groups come back by themselves
  words.stop = 1;
  for (const Job& job : jobs) EXPECT_EQ(job.wait().status, Status::finished);
}

COHORT_SITE_TEST(SharedEngine, LeavesAStaticLaunchItsGroupsWhenTheCapacityShrinks) {
  site.needs(site.lacks().capacity);
  site.restart(4);
  site.needs_units(4);
  const March fixed{site};
  const March cooperative{site};
  const ScopedJob one = site.launch(fixed.kernel(), {.max_groups = 3, .resizable = false});
  const ScopedJob two = site.launch(cooperative.kernel());
  site.until([&] { return fixed.steps() > 5 && cooperative.steps() > 5; });
  site.set_capacity(2);
  site.until([&] { return two.status() == Status::pending; });
  EXPECT_EQ(one.status(), Status::running);
  finish(one, fixed.stop);
  EXPECT_EQ(fixed[Board::least], 3U);
  EXPECT_EQ(fixed[Board::most], 3U);
  site.until([&] { return cooperative.groups() == 2; });
  finish(two, cooperative.stop);
}

COHORT_SITE_TEST(SharedEngine, GivesTheUnitsOfGroupsThatReturnedToOthers) {
  const std::uint32_t all = site.capacity();
  const March march{site};
  const ScopedJob ending =
      site.launch(OneGoesOn{march.stop.data()}, {.max_groups = all, .start_groups = 2});
  const ScopedJob other = site.launch(march.kernel(), {.max_groups = all - 1});
  site.until([&] { return march.groups() == all - 1; });
  finish(ending, march.stop);
  EXPECT_EQ(other.wait().status, Status::finished);
}

COHORT_SITE_TEST(SharedEngine, GivesTheUnitsOfACancelledJobToOthersAsTheyComeFree) {
  const std::uint32_t all = site.capacity();
  const March march{site};
  const Word started{site};
  const ScopedJob ending = site.launch(SlowToLeave{march.stop.data(), started.data()});
  site.until([&] { return started == all; });
  const ScopedJob other = site.launch(march.kernel());
  ending.cancel();
  site.until([&] { return march.groups() == all - 1; });
  march.stop = 1;
  EXPECT_EQ(ending.wait().status, Status::cancelled);
  EXPECT_EQ(other.wait().status, Status::finished);
}

COHORT_SITE_TEST(SharedEngine, TakesManyJobsOneAfterTheOther) {
  site.restart(4);
  // An OpenCL device takes seconds to compile for each size.
  const std::uint32_t sizes = site.kind() == EngineKind::opencl ? 1 : 3;
  for (std::uint32_t i = 0; i < scaled(300, 30); ++i) {
    const ScopedJob job =
        site.launch(Brief{}, {.max_groups = 1 + i % 8, .local_size = 1 + i % sizes});
    ASSERT_EQ(job.wait().status, Status::finished);
  }
}

COHORT_SITE_TEST(SharedEngine, TakesJobsFromManyThreads) {
  site.needs(site.lacks().host_threads);
  site.restart(4);
  std::atomic<std::uint32_t> finished{0};
  std::vector<std::thread> hosts;
  for (int host = 0; host < 4; ++host) {
    hosts.emplace_back([&] {
      for (std::uint32_t i = 0; i < scaled(50, 10); ++i) {
        const ScopedJob job = site.launch(Brief{}, {.max_groups = 3});
        finished.fetch_add(job.wait().status == Status::finished ? 1 : 0);
      }
    });
  }
  for (auto& host : hosts) host.join();
  EXPECT_EQ(finished, 4 * scaled(50, 10));
}

}  // namespace
}  // namespace cohort::test
