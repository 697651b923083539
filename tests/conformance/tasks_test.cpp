// Tasks next to jobs: the guarantees of submit, and that no unit is assigned twice.
#include "conformance/kernels/tasks.hpp"

#include <random>
#include <set>
#include <stop_token>
#include <thread>

#include "conformance/refused.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

using testing::Each;
using testing::ElementsAreArray;

COHORT_SITE_SUITE(Tasks, &Lacks::several_jobs);

COHORT_SITE_TEST(Tasks, RunOnceForEachGroup) {
  site.restart(8);
  for (std::uint32_t groups = 1; groups <= site.capacity(); ++groups) {
    const NoteBook ids{site};
    const Task task = site.submit(NotingTask{ids.notes(), 0, true}, {.groups = groups});
    EXPECT_EQ(task.wait().status, Status::finished);
    EXPECT_THAT(ids.sorted(), ElementsAreArray(numbers(0, groups)));
  }
}

COHORT_SITE_TEST(Tasks, HaveAllTheirGroupsAtOnce) {
  const March march{site};
  const ScopedJob job = site.launch(march.kernel());
  site.until([&] { return march.groups() == site.capacity(); });
  for (const std::uint32_t groups : {1U, site.capacity() / 2, site.capacity() - 1}) {
    for (std::uint32_t i = 0; i < scaled(20, 5); ++i) {
      const Word arrived{site};
      const Mistakes wrong{site};
      const Task task = site.submit(MeetingTask{arrived.data(), wrong.data()}, {.groups = groups});
      const TaskReport report = task.wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_GT(report.gather, 0ns);
      EXPECT_EQ(arrived, groups);
    }
    site.until([&] { return march.groups() == site.capacity(); });  // the job gets the units back
  }
  march.stop = 1;
  const Report report = job.wait();
  EXPECT_EQ(report.status, Status::finished);
  EXPECT_GE(report.leaves, 1U);
  EXPECT_GE(report.gather.count, 1U);
}

COHORT_SITE_TEST(Tasks, RunNextToOffers) {
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel());
  for (std::uint32_t i = 0; i < 5; ++i) {
    site.until([&] { return groups_now(job) == site.capacity(); });
    EXPECT_EQ(site.submit(EmptyTask{}).wait().status, Status::finished);
  }
  finish(job, words.stop);
}

COHORT_SITE_TEST(Tasks, OfTheWholeMachineSuspendTheJobAndGiveItBack) {
  site.restart(3);
  site.needs_units(3);
  BackgroundWords words{site};
  const ScopedJob job = words.launch();
  for (int i = 0; i < 20; ++i) {
    const Word others{site};
    const Task task = site.submit(LookingTask{words.monitor.data(), others.data()}, {.groups = 3});
    EXPECT_EQ(task.wait().status, Status::finished);
    EXPECT_EQ(others, 0U) << "the job ran next to a task that had the whole machine";
  }
  finish(job, words.stop);
  EXPECT_THAT(words.items[0].read(), Each(words.items[0][0]));
}

COHORT_SITE_TEST(Tasks, OfTheWholeMachineSuspendAMarch) {
  const March march{site};
  const ScopedJob job = site.launch(march.kernel());
  for (int i = 0; i < 5; ++i) {
    const std::uint32_t steps = march.steps();
    site.until([&] { return march.steps() > steps; });
    EXPECT_EQ(site.submit(EmptyTask{}, {.groups = site.capacity()}).wait().status,
              Status::finished);
  }
  finish(job, march.stop);
}

COHORT_SITE_TEST(Tasks, OfTheWholeMachineWaitForAJobThatCannotBeSuspended) {
  site.restart(2);
  const Word stop{site};
  const ScopedJob job = site.launch(NotSuspendable{stop.data()});
  site.until_started(job);
  const Task task = site.submit(EmptyTask{}, {.groups = 2});
  EXPECT_FALSE(task.wait_for(50ms).has_value());
  finish(job, stop);
  EXPECT_EQ(task.wait().status, Status::finished);
}

COHORT_SITE_TEST(Tasks, OfHigherPriorityGoFirst) {
  site.restart(1);
  const Word go{site};
  const NoteBook order{site};
  const Task blocker = site.submit(BlockingTask{go.data()});
  std::vector<Task> tasks;
  for (const std::uint32_t priority : {0U, 2U, 1U, 2U, 0U}) {
    tasks.push_back(site.submit(NotingTask{order.notes(), priority, false},
                                {.priority = static_cast<int>(priority)}));
  }
  go = 1;
  for (const Task& task : tasks) task.wait();
  EXPECT_THAT(order.all(), testing::ElementsAre(2U, 2U, 1U, 0U, 0U));
}

COHORT_SITE_TEST(Tasks, CanBeWithdrawn) {
  site.restart(1);
  const Word go{site};
  const NoteBook ran{site};
  const Task blocker = site.submit(BlockingTask{go.data()});
  std::stop_source stop;
  const Task by_call = site.submit(NotingTask{ran.notes(), 0, false});
  const Task by_token = site.submit(NotingTask{ran.notes(), 0, false}, {.stop = stop.get_token()});
  by_call.cancel();
  stop.request_stop();
  EXPECT_EQ(by_call.wait().status, Status::cancelled);
  EXPECT_EQ(by_token.wait().status, Status::cancelled);
  go = 1;
  EXPECT_EQ(blocker.wait().status, Status::finished);
  EXPECT_EQ(ran.size(), 0U);
}

COHORT_SITE_TEST(Tasks, ThatCanNeverRunAreRefused) {
  for (const TaskOptions& options :
       {TaskOptions{.groups = 0}, TaskOptions{.groups = 4097}, TaskOptions{.local_size = 0}}) {
    EXPECT_THROW(static_cast<void>(site.submit(EmptyTask{}, options)), Error);
  }
}

COHORT_SITE_TEST(Tasks, OfManyHostsBesideThreeJobsAreAllServed) {
  site.restart(6);
  site.needs_units(3);
  BackgroundWords words{site};
  std::vector<Job> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(words.launch());
  const std::uint32_t each_host = site.kind() == EngineKind::cpu      ? scaled(800, 50)
                                  : site.kind() == EngineKind::opencl ? 15
                                                                      : 50;
  std::atomic<std::uint64_t> served{0};
  std::vector<std::thread> hosts;
  for (std::uint32_t host = 0; host < 4; ++host) {
    hosts.emplace_back([&, host] {
      std::mt19937 random{host};
      for (std::uint32_t i = 0; i < each_host; ++i) {
        const auto groups = static_cast<std::uint32_t>(1 + random() % 3);
        const Word calls{site};
        const Task task =
            site.submit(MonitoredTask{words.monitor.data(), calls.data()},
                        {.groups = groups, .priority = static_cast<int>(random() % 3)});
        if (task.wait().status == Status::finished && calls == groups * (groups + 1) / 2) ++served;
      }
    });
  }
  for (auto& host : hosts) host.join();
  words.stop = 1;
  for (const Job& job : jobs) EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(served, std::uint64_t{each_host} * 4);
  EXPECT_LE(words.most(), 6U);
  EXPECT_EQ(words.monitor[Background::inside], 0U);
  for (const Words& all : words.items) {
    EXPECT_GT(all[0], 0U);
    EXPECT_THAT(all.read(), Each(all[0]));
  }
}

COHORT_SITE_TEST(Tasks, ThatFillTheMachineDoNotStarveAJob) {
  site.restart(2);
  const March march{site};
  const ScopedJob job = site.launch(march.kernel());
  std::atomic<bool> enough{false};
  std::vector<std::thread> hosts;
  for (int host = 0; host < 2; ++host) {
    hosts.emplace_back([&] {
      while (!enough) site.submit(EmptyTask{}, {.groups = 2}).wait();
    });
  }
  const std::uint32_t before = march.steps();
  site.until([&] { return march.steps() > before + 3; });
  finish(job, march.stop);
  enough = true;
  for (auto& host : hosts) host.join();
}

COHORT_SITE_TEST(Tasks, GetMoreOrLessOfTheMachineByItsCapacity) {
  site.needs(site.lacks().units_of_one);
  site.needs(site.lacks().capacity);
  const std::uint32_t most = site.capacity();
  site.restart(4);
  BackgroundWords words{site};
  const ScopedJob job = words.launch({.max_groups = 8});
  site.until([&] { return groups_now(job) == site.capacity(); });
  for (const std::uint32_t units : {1U, 8U, 2U, 6U, 1U, 3U}) {
    if (units > most) continue;
    site.set_capacity(units);
    EXPECT_EQ(site.capacity(), units);
    site.until([&] { return groups_now(job) == units; });
    words.monitor.set(Background::most, 0);
    site.linger(5ms);
    EXPECT_LE(words.most(), units);
  }
  EXPECT_THROW(site.set_capacity(0), Error);
  EXPECT_THROW(site.set_capacity(max_groups_limit + 1), Error);
  finish(job, words.stop);
}

COHORT_SITE_TEST(Tasks, OfAKindGetAtMostTheirGroupsAndTellHowMany) {
  site.restart(4);
  const March march{site};
  const ScopedJob job = site.launch(march.kernel());
  site.until([&] { return march.groups() == site.capacity(); });
  std::set<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::uint32_t most = i % 2 == 0 ? site.capacity() : 1;
    const NoteBook ids{site};
    const TaskReport report = site.submit(NotingTask{ids.notes(), 0, true},
                                          {.groups = most, .kind = "noting", .finish_within = 1s})
                                  .wait();
    EXPECT_EQ(report.status, Status::finished);
    EXPECT_LE(report.groups, most);
    EXPECT_THAT(ids.sorted(), ElementsAreArray(numbers(0, report.groups)));
    chosen.insert(report.groups);
  }
  EXPECT_TRUE(site.capacity() == 1 || chosen.size() > 1) << "all choices are tried";
  finish(job, march.stop);
}

COHORT_SITE_TEST(Tasks, WithoutAJobGetAllGroupsOfTheirKind) {
  const NoteBook ids{site};
  const TaskReport report =
      site.submit(NotingTask{ids.notes(), 0, true}, {.groups = site.capacity(), .kind = "noting"})
          .wait();
  EXPECT_EQ(report.groups, site.capacity());
}

COHORT_SITE_TEST(Tasks, StartInTimeOnlyWhereThreadsAreLeftForThem) {
  const TaskOptions soon{.start_within = 1ms};
  if (site.kind() == EngineKind::cpu) {
    EXPECT_EQ(site.submit(EmptyTask{}, soon).wait().status, Status::finished);
  } else {
    expect_error([&] { static_cast<void>(site.submit(EmptyTask{}, soon)); }, Errc::unsupported,
                 "start_within: this engine cannot start a task before groups have left");
  }
}

COHORT_SITE_TEST(Tasks, WithTimesThatMakeNoSenseAreRefused) {
  const auto refused = [&](const TaskOptions& options, const std::string& why) {
    expect_error([&] { static_cast<void>(site.submit(EmptyTask{}, options)); }, Errc::bad_options,
                 why);
  };
  refused({.start_within = -1ns}, "start_within = -1 ns");
  refused({.kind = "some", .finish_within = -1ns}, "finish_within = -1 ns");
  refused({.finish_within = 1ms}, "finish_within without a kind");
}

}  // namespace
}  // namespace cohort::test
