// The scheduler's plan for jobs and tasks: examples, and properties over random scenes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "engine/task_queue.hpp"
#include "scheduler/policy.hpp"

namespace cohort::scheduler {
namespace {

using testing::ElementsAre;

/// A task, in order of submission.
struct Demand {
  std::uint32_t groups = 1;
  int priority = 0;
  bool running = false;
};

/// A plan, with a verdict for each task.
struct Verdict : Plan {
  std::vector<bool> grants;     // it runs, or will as soon as its units are free
  std::uint32_t looked_at = 0;  // waiting tasks
};

struct Scene {
  std::uint32_t capacity = 1;
  std::vector<Claim> jobs;
  std::vector<Demand> tasks;

  [[nodiscard]] Verdict plan() const {
    std::vector<std::size_t> queue;
    std::uint32_t running = 0;
    Verdict verdict;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      verdict.grants.push_back(tasks[i].running);
      if (tasks[i].running) running += tasks[i].groups;
      if (!tasks[i].running) queue.push_back(i);
    }
    std::stable_sort(queue.begin(), queue.end(), [this](std::size_t a, std::size_t b) {
      return tasks[a].priority > tasks[b].priority;
    });
    static_cast<Plan&>(verdict) =
        scheduler::plan(capacity, jobs, {.tasks = running}, [&]() -> std::optional<Waiting> {
          if (verdict.looked_at == queue.size()) return {};
          return Waiting{.groups = tasks[queue[verdict.looked_at++]].groups};
        });
    for (std::uint32_t i = 0; i < verdict.granted; ++i) verdict.grants[queue[i]] = true;
    return verdict;
  }
};

/// A possible scene: the running jobs and tasks fit the machine.
Scene random_scene(std::mt19937& random) {
  const auto upto = [&random](std::uint32_t most) {
    return static_cast<std::uint32_t>(random() % (most + 1));
  };
  Scene scene{.capacity = 1 + upto(15), .jobs = {}, .tasks = {}};
  std::uint32_t room = scene.capacity;
  for (std::uint32_t i = upto(4); i > 0; --i) {
    Claim job{.max_groups = 1 + upto(15),
              .weight = 1 + upto(3),
              .running = upto(1) == 0,
              .suspendable = upto(1) == 0};
    if (room == 0) job.running = false;
    if (job.running) --room;
    job.owed = !job.running && upto(2) == 0 && room > 0;
    if (job.owed) --room;
    scene.jobs.push_back(job);
  }
  for (std::uint32_t i = upto(4); i > 0; --i) {
    Demand task{.groups = 1 + upto(scene.capacity - 1),
                .priority = static_cast<int>(upto(2)),
                .running = upto(1) == 0};
    if (task.groups > room) task.running = false;
    if (task.running) room -= task.groups;
    scene.tasks.push_back(task);
  }
  return scene;
}

/// The units that the plan hands out in total.
std::uint64_t given(const Scene& scene, const Verdict& plan) {
  std::uint64_t sum = std::accumulate(plan.shares.begin(), plan.shares.end(), std::uint64_t{0});
  for (std::size_t i = 0; i < scene.tasks.size(); ++i) {
    if (plan.grants[i]) sum += scene.tasks[i].groups;
  }
  return sum;
}

template <class Check>
void for_random_scenes(Check check) {
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 random{seed};
    const Scene scene = random_scene(random);
    check(scene, scene.plan());
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

TEST(Plan, TasksComeFirstAndJobsShareTheRest) {
  const Scene scene{
      .capacity = 8,
      .jobs = {{.max_groups = 8, .running = true}, {.max_groups = 8, .running = true}},
      .tasks = {{.groups = 4}}};
  const Verdict plan = scene.plan();
  EXPECT_THAT(plan.grants, ElementsAre(true));
  EXPECT_THAT(plan.shares, ElementsAre(2, 2));
}

TEST(Plan, ATaskThatNeedsTheMachineSuspendsTheLightestJobThatCanBe) {
  const Scene scene{.capacity = 4,
                    .jobs = {{.max_groups = 4, .weight = 1, .running = true},
                             {.max_groups = 4, .weight = 3, .running = true, .suspendable = true},
                             {.max_groups = 4, .weight = 2, .running = true, .suspendable = true}},
                    .tasks = {{.groups = 2}}};
  const Verdict plan = scene.plan();
  EXPECT_THAT(plan.grants, ElementsAre(true));
  EXPECT_THAT(plan.suspends, ElementsAre(false, false, true));
  EXPECT_THAT(plan.shares, ElementsAre(1, 1, 0));
}

TEST(Plan, ATaskThatCannotBeServedSuspendsNobody) {
  const Scene scene{.capacity = 4,
                    .jobs = {{.max_groups = 4, .running = true},
                             {.max_groups = 4, .running = true, .suspendable = true}},
                    .tasks = {{.groups = 4}}};
  const Verdict plan = scene.plan();
  EXPECT_THAT(plan.grants, ElementsAre(false));
  EXPECT_THAT(plan.suspends, ElementsAre(false, false));
  EXPECT_THAT(plan.shares, ElementsAre(2, 2));
}

TEST(Plan, GroupsThatWaitForAnotherJobKeepTheirUnits) {
  const Claim other{.max_groups = 4, .running = true, .suspendable = true};
  Claim waiting = other;
  waiting.blocked = 2;
  Scene scene{.capacity = 4, .jobs = {waiting, other}, .tasks = {{.groups = 3}}};
  EXPECT_THAT(scene.plan().grants, ElementsAre(false));
  EXPECT_THAT(scene.plan().suspends, ElementsAre(false, false));
  EXPECT_THAT(scene.plan().shares, ElementsAre(2, 2));
  scene.tasks = {{.groups = 2}};
  EXPECT_THAT(scene.plan().grants, ElementsAre(true));
  EXPECT_THAT(scene.plan().suspends, ElementsAre(false, true));
  EXPECT_THAT(scene.plan().shares, ElementsAre(2, 0));
}

TEST(Plan, AJobThatMadeWayRunsBeforeItMakesWayAgain) {
  const Scene scene{.capacity = 2,
                    .jobs = {{.max_groups = 2, .suspendable = true, .owed = true}},
                    .tasks = {{.groups = 2}}};
  const Verdict plan = scene.plan();
  EXPECT_THAT(plan.grants, ElementsAre(false));
  EXPECT_THAT(plan.shares, ElementsAre(2));
}

TEST(Plan, AStaticJobWhoseTurnItIsGetsAllItsGroupsOrWaits) {
  const Claim fixed{.max_groups = 4, .rigid = true, .owed = true};
  const Scene busy{.capacity = 4, .jobs = {fixed}, .tasks = {{.groups = 2, .running = true}, {}}};
  EXPECT_THAT(busy.plan().shares, ElementsAre(0));
  EXPECT_THAT(busy.plan().grants, ElementsAre(true, false)) << "no task overtakes it";
  const Scene idle{.capacity = 4, .jobs = {fixed}, .tasks = {{}}};
  EXPECT_THAT(idle.plan().shares, ElementsAre(4));
  EXPECT_THAT(idle.plan().grants, ElementsAre(false));
}

TEST(Plan, AStaticJobThatCouldNotStartAnywayKeepsNoTaskWaiting) {
  const Claim fixed{.max_groups = 4, .rigid = true, .owed = true};
  const Scene scene{
      .capacity = 4, .jobs = {{.max_groups = 4, .running = true}, fixed}, .tasks = {{}}};
  EXPECT_THAT(scene.plan().shares, ElementsAre(3, 0));
  EXPECT_THAT(scene.plan().grants, ElementsAre(true));
}

TEST(Plan, ACapacityBelowTheJobsFloorsSuspendsTheLightestAndYoungestFirst) {
  const Claim job{.max_groups = 4, .weight = 2, .running = true, .suspendable = true};
  Claim light = job;
  light.weight = 1;
  Scene scene{.capacity = 3, .jobs = {job, light, job, job}, .tasks = {}};
  EXPECT_THAT(scene.plan().suspends, ElementsAre(false, true, false, false));
  scene.capacity = 1;
  EXPECT_THAT(scene.plan().suspends, ElementsAre(false, true, true, true));
  EXPECT_THAT(scene.plan().shares, ElementsAre(1, 0, 0, 0));
  scene.tasks = {{.groups = 1, .running = true}};
  EXPECT_THAT(scene.plan().suspends, ElementsAre(true, true, true, true));
}

TEST(Plan, ACapacityBelowTheJobsFloorsLeavesWhatCannotBeSuspended) {
  const Scene scene{.capacity = 1,
                    .jobs = {{.max_groups = 3, .rigid = true, .running = true},
                             {.max_groups = 4, .running = true, .suspendable = true},
                             {.max_groups = 4, .running = true}},
                    .tasks = {{}}};
  EXPECT_THAT(scene.plan().suspends, ElementsAre(false, true, false));
  EXPECT_THAT(scene.plan().shares, ElementsAre(3, 0, 1));
  EXPECT_THAT(scene.plan().grants, ElementsAre(false));
}

TEST(Plan, LooksAtNoTaskBehindOneThatWaits) {
  Scene scene{.capacity = 4, .jobs = {{.max_groups = 4, .running = true}}, .tasks = {}};
  for (int i = 0; i < 10'000; ++i) scene.tasks.push_back({.groups = 1});
  const Verdict plan = scene.plan();
  EXPECT_EQ(plan.granted, 3U);
  EXPECT_EQ(plan.looked_at, 4U);
}

TEST(Plan, IsNeverOverCapacity) {
  for_random_scenes([](const Scene& scene, const Verdict& plan) {
    EXPECT_LE(given(scene, plan), scene.capacity);
    for (std::size_t i = 0; i < scene.jobs.size(); ++i) {
      EXPECT_LE(plan.shares[i], scene.jobs[i].max_groups);
    }
  });
}

TEST(Plan, LeavesNoUnitIdleThatAJobCouldUse) {
  for_random_scenes([](const Scene& scene, const Verdict& plan) {
    if (given(scene, plan) == scene.capacity) return;
    for (std::size_t i = 0; i < scene.jobs.size(); ++i) {
      if (!plan.suspends[i]) {
        EXPECT_EQ(plan.shares[i], scene.jobs[i].max_groups);
      }
    }
  });
}

TEST(Plan, JobsThatRunOrAreOwedKeepAUnitUnlessTheyAreSuspended) {
  for_random_scenes([](const Scene& scene, const Verdict& plan) {
    for (std::size_t i = 0; i < scene.jobs.size(); ++i) {
      const Claim& job = scene.jobs[i];
      if (plan.suspends[i]) {
        EXPECT_TRUE(job.running && job.suspendable && !job.owed);
        EXPECT_EQ(plan.shares[i], 0U);
      } else if (job.running || job.owed) {
        EXPECT_GE(plan.shares[i], 1U);
      }
    }
  });
}

TEST(Plan, NobodyOvertakesATaskOfHigherPriority) {
  for_random_scenes([](const Scene& scene, const Verdict& plan) {
    for (std::size_t i = 0; i < scene.tasks.size(); ++i) {
      if (plan.grants[i]) continue;
      for (std::size_t k = 0; k < scene.tasks.size(); ++k) {
        const bool behind = scene.tasks[k].priority < scene.tasks[i].priority ||
                            (scene.tasks[k].priority == scene.tasks[i].priority && k > i);
        if (behind && !scene.tasks[k].running) {
          EXPECT_FALSE(plan.grants[k]);
        }
      }
    }
  });
}

TEST(Plan, MoreTasksNeverMeanMoreForAJob) {
  for_random_scenes([](const Scene& scene, const Verdict& plan) {
    Scene more = scene;
    more.tasks.push_back({.groups = 1 + scene.capacity / 2, .priority = -1});  // served last
    const Verdict with_more = more.plan();
    for (std::size_t i = 0; i < scene.tasks.size(); ++i) {
      EXPECT_EQ(with_more.grants[i], plan.grants[i]);
    }
    const auto all = [](const Verdict& each) {
      return std::accumulate(each.shares.begin(), each.shares.end(), 0U);
    };
    EXPECT_LE(all(with_more), all(plan));
  });
}

TEST(Plan, NobodyWaitsForEver) {
  // Tasks of all sizes keep asking for a machine: every job and every task comes to run. A task
  // runs for one round. A job that is suspended comes back when the plan has a unit for it.
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random{seed};
    Scene scene{.capacity = 1 + static_cast<std::uint32_t>(random() % 8), .jobs = {}, .tasks = {}};
    for (std::uint32_t i = 0; i < std::min(3U, scene.capacity); ++i) {
      scene.jobs.push_back({.max_groups = scene.capacity, .suspendable = true});
    }
    std::vector<int> waited(scene.jobs.size(), 0);
    std::vector<int> age;
    for (int round = 0; round < 400; ++round) {
      while (scene.tasks.size() < 3) {
        scene.tasks.push_back(
            {.groups = 1 + static_cast<std::uint32_t>(random() % scene.capacity)});
        age.push_back(0);
      }
      const Verdict plan = scene.plan();
      for (std::size_t i = 0; i < scene.jobs.size(); ++i) {
        scene.jobs[i].running = plan.shares[i] > 0;
        if (scene.jobs[i].running) scene.jobs[i].owed = false;
        waited[i] = scene.jobs[i].running ? 0 : waited[i] + 1;
        ASSERT_LT(waited[i], 20) << "a job starves, seed " << seed;
      }
      bool served = false;
      for (std::size_t i = scene.tasks.size(); i-- > 0;) {
        if (plan.grants[i]) {
          scene.tasks.erase(scene.tasks.begin() + static_cast<std::ptrdiff_t>(i));
          age.erase(age.begin() + static_cast<std::ptrdiff_t>(i));
          served = true;
        } else {
          ASSERT_LT(++age[i], 20) << "a task starves, seed " << seed;
        }
      }
      for (Claim& job : scene.jobs) job.owed = job.owed || (served && !job.running);
    }
  }
}

struct QueuedTask {
  engine::Ticket ticket;
};

TEST(TaskQueue, ServesByPriorityThenAge) {
  engine::TaskQueue<QueuedTask> queue;
  std::vector<std::shared_ptr<QueuedTask>> tasks;
  for (const int priority : {0, 2, 1, 2, 0}) {
    tasks.push_back(std::make_shared<QueuedTask>());
    queue.push(tasks.back(), priority, 1);
  }
  for (const std::size_t next : {1U, 3U, 2U, 0U, 4U}) {
    EXPECT_EQ(queue.front(), tasks[next]);
    queue.start(*tasks[next]);
  }
  EXPECT_EQ(queue.front(), nullptr);
  EXPECT_FALSE(queue.empty());
  for (const auto& task : tasks) queue.remove(*task);
  EXPECT_TRUE(queue.empty());
}

TEST(TaskQueue, NeedsNoPlanForATaskBehindOneThatWaits) {
  engine::TaskQueue<QueuedTask> queue;
  const auto push = [&queue](int priority) {
    return queue.push(std::make_shared<QueuedTask>(), priority, 2);
  };
  const auto running = std::make_shared<QueuedTask>();
  EXPECT_TRUE(queue.push(running, 0, 2));
  EXPECT_EQ(queue.plan(3, {}).granted, 1U);
  queue.start(*running);
  EXPECT_TRUE(push(1)) << "the last plan left no task waiting";
  EXPECT_EQ(queue.plan(3, {}).granted, 0U);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(push(i % 2));
  EXPECT_TRUE(push(2)) << "it is served first";
  queue.remove(*running);
  EXPECT_EQ(queue.plan(3, {}).granted, 1U);
}

TEST(Plan, SuspendsNoJobForATenant) {
  const std::vector<Claim> jobs{{.max_groups = 4, .running = true, .suspendable = true}};
  const auto plan_for = [&jobs](std::uint32_t capacity, const Busy& busy,
                                std::vector<Waiting> queue) {
    std::size_t next = 0;
    return plan(capacity, jobs, busy, [&]() -> std::optional<Waiting> {
      if (next == queue.size()) return {};
      return queue[next++];
    });
  };
  const Waiting guest{.groups = 1, .guest = true};
  EXPECT_EQ(plan_for(2, {}, {guest, guest}).granted, 1U);
  EXPECT_THAT(plan_for(2, {}, {guest, guest}).suspends, ElementsAre(false));
  EXPECT_EQ(plan_for(2, {}, {{.groups = 2}}).granted, 1U) << "but for a task of the engine";
  EXPECT_THAT(plan_for(2, {}, {{.groups = 2}}).suspends, ElementsAre(true));
  // Units on loan come back, so they count neither against a task nor against a job.
  EXPECT_EQ(plan_for(4, {.guests = 3}, {{.groups = 3}}).granted, 1U);
  EXPECT_THAT(plan_for(4, {.guests = 3}, {{.groups = 3}}).suspends, ElementsAre(false));
  EXPECT_THAT(plan_for(2, {.guests = 3}, {}).suspends, ElementsAre(false));
  EXPECT_THAT(plan_for(2, {.guests = 3}, {}).shares, ElementsAre(1));
  EXPECT_THAT(plan_for(4, {.guests = 1}, {guest}).shares, ElementsAre(2));
}

TEST(TaskQueue, ServesTheEnginesTasksBeforeTenants) {
  engine::TaskQueue<QueuedTask> queue;
  const auto guest = std::make_shared<QueuedTask>();
  const auto own = std::make_shared<QueuedTask>();
  queue.push(guest, 100, 1, true);
  queue.push(own, -100, 2);
  EXPECT_EQ(queue.front(), own);
  EXPECT_EQ(queue.lendable(8, {}), 6U);
  queue.start(*own);
  EXPECT_EQ(queue.lendable(8, {}), 6U);
  queue.start(*guest);
  EXPECT_EQ(queue.lendable(8, {}), 6U) << "what tenants have is theirs";
  queue.remove(*own);
  EXPECT_EQ(queue.lendable(8, {}), 8U);
  queue.remove(*guest);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace cohort::scheduler
