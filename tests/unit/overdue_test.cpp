// Tasks that start when they are due, although groups have not left their units.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "cohort/cpu.hpp"
#include "conformance/scale.hpp"
#include "cpu/demotion.hpp"

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

/// A kernel whose groups offer only while `offering` is set.
struct Stubborn {
  std::atomic<bool>* offering;
  std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* inside;
  std::atomic<pid_t>* threads;  // indexed by group

  struct State {
    std::uint64_t token = 42;
  };

  template <class Group>
  COHORT_FN void run(Group& group, State& state) const {
    if (threads != nullptr) threads[group.group_id()] = ::gettid();
    ++*inside;
    while (!stop->load()) {
      if (offering->load() && group.offer(state)) {
        --*inside;
        return;
      }
      std::this_thread::yield();
    }
    if (state.token != 42) std::terminate();
    --*inside;
  }
};

struct Scene {
  explicit Scene(std::uint32_t units, bool pin = false)
      : engine{{.capacity = units, .pin_workers = pin}},
        job{engine.launch(Stubborn{&offering, &stop, &inside, threads})} {
    until([&] { return inside == units; });
  }
  ~Scene() {
    stop = offering = true;
    job.wait();
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  template <class Condition>
  static void until(Condition condition) {
    while (!condition()) std::this_thread::sleep_for(100us);
  }

  std::atomic<bool> offering{false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> inside{0};
  std::atomic<pid_t> threads[8] = {};
  cpu::Engine engine;
  Job job;
};

TEST(Overdue, TasksStartNextToGroupsThatDoNotOffer) {
  for (const bool pin : {false, true}) {
    Scene scene{2, pin};
    for (const std::uint32_t groups : {1U, 2U}) {
      std::atomic<std::uint32_t> ran{0};
      const Task task =
          scene.engine.submit([&ran] { ++ran; }, {.groups = groups, .start_within = 2ms});
      const TaskReport report = task.wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_GE(report.gather, 2ms) << "groups had no chance to offer";
      EXPECT_EQ(ran, groups);
      EXPECT_EQ(scene.inside, 2U) << "a group has left without an offer";
    }
  }
}

// Stands for every policy with SCHED_BATCH, because leaving that one needs no rights.
TEST(Overdue, ThreadsAreScheduledAsTheEnginesMakerNotAsTheSubmitter) {
  Scene scene{2};
  const auto of_this_thread = [] {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    EXPECT_EQ(::sched_getaffinity(0, sizeof cpus, &cpus), 0);
    return std::pair{::sched_getscheduler(0), CPU_COUNT(&cpus)};
  };
  std::optional<std::pair<int, int>> seen;
  std::thread submitter{[&] {
    const sched_param none = {};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    EXPECT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);
    EXPECT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    scene.engine.submit([&] { seen = of_this_thread(); }, {.start_within = 1ms}).wait();
  }};
  submitter.join();
  EXPECT_EQ(seen, of_this_thread());
}

TEST(Overdue, OthersWaitForAnOffer) {
  Scene scene{2};
  const Task task = scene.engine.submit([] {});
  EXPECT_FALSE(task.wait_for(20ms));
  scene.offering = true;
  EXPECT_EQ(task.wait().status, Status::finished);
}

TEST(Overdue, TheJobGoesOnWithAllItsGroups) {
  Scene scene{2};
  for (std::uint32_t i = 0; i < scaled(20, 5); ++i) {
    scene.engine.submit([] {}, {.groups = 1 + i % 2, .start_within = 0ms}).wait();
    scene.offering = i % 3 == 0;
    if (scene.offering) Scene::until([&] { return scene.inside == 2; });
  }
  scene.offering = true;  // groups have to offer, to leave or to admit others
  Scene::until([&] { return scene.inside == 2; });
  EXPECT_EQ(scene.job.status(), Status::running);
  for (const pid_t thread : {scene.threads[0].load(), scene.threads[1].load()})
    Scene::until([&] { return ::sched_getscheduler(thread) != SCHED_IDLE; });
}

TEST(Overdue, TasksMoreThanTheEngineHasUnitsTakeTurns) {
  Scene scene{2};
  std::atomic<std::uint32_t> now{0};
  std::atomic<std::uint32_t> most{0};
  std::vector<Task> tasks;
  for (int i = 0; i < 12; ++i) {
    tasks.push_back(scene.engine.submit(
        [&] {
          const std::uint32_t here = ++now;
          for (std::uint32_t seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
          }
          std::this_thread::sleep_for(1ms);
          --now;
        },
        {.start_within = 1ms}));
  }
  for (const Task& each : tasks) EXPECT_EQ(each.wait().status, Status::finished);
  EXPECT_LE(most, 2U);
}

TEST(Overdue, ALargerCapacityTakesNoThreadFromATaskThatWaits) {
  Scene scene{1};
  std::atomic<bool> go{false};
  const auto rest = [&go] {
    while (!go) std::this_thread::sleep_for(100us);
  };
  const Task first = scene.engine.submit(rest, {.priority = 1});
  const Task second = scene.engine.submit(rest, {.priority = 1});
  const Task due = scene.engine.submit([] {}, {.start_within = 100ms});
  scene.engine.set_capacity(3);  // enough units for the other two
  EXPECT_TRUE(due.wait_for(60s));
  go = true;
  for (const Task& each : {first, second, due}) EXPECT_EQ(each.wait().status, Status::finished);
}

TEST(Overdue, ACancelledTaskDoesNotStart) {
  Scene scene{1};
  std::atomic<bool> ran{false};
  const Task task = scene.engine.submit([&ran] { ran = true; }, {.start_within = 20ms});
  task.cancel();
  EXPECT_EQ(task.wait().status, Status::cancelled);
  std::this_thread::sleep_for(30ms);
  EXPECT_FALSE(ran);
}

TEST(Overdue, TheEngineEndsWhileATaskWaits) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> inside{0};
  std::optional<Task> task;
  {
    cpu::Engine engine{{.capacity = 1}};
    const Job job = engine.launch(Stubborn{&stop, &stop, &inside, nullptr});
    task = engine.submit([] {}, {.start_within = 10min});
    job.cancel();
    stop = true;
  }
  EXPECT_EQ(task->report().status, Status::cancelled);
}

// Reads the policies from another thread: on a busy machine a demoted thread may not run at all.
TEST(Overdue, OneLateGroupIsDemotedUntilTheTaskIsDone) {
  if (cpu::demotion_way() != cpu::DemotionWay::idle_policy)
    GTEST_SKIP() << "this process may not leave SCHED_IDLE";
  Scene scene{2};
  const auto demoted = [&scene] {
    int count = 0;
    for (const auto& thread : scene.threads) count += sched_getscheduler(thread) == SCHED_IDLE;
    return count;
  };
  EXPECT_EQ(demoted(), 0);
  std::atomic<bool> go{false};
  const Task task = scene.engine.submit(
      [&go] {
        while (!go) std::this_thread::sleep_for(100us);
      },
      {.start_within = 1ms});
  Scene::until([&] { return demoted() > 0; });
  EXPECT_EQ(demoted(), 1) << "only one group is late";
  EXPECT_EQ(sched_getscheduler(scene.threads[1]), SCHED_IDLE) << "the highest id leaves first";
  go = true;
  task.wait();
  Scene::until([&] { return demoted() == 0; });
}

TEST(PromptWaking, IsRealTimeUntilItsEndOrNotAtAll) {
  const auto policy = [] { return ::sched_getscheduler(0); };
  const int before = policy();
  cpu::PromptWaking prompt;
  for (int i = 0; i < 3; ++i) {
    prompt.begin();
    const int raised = policy();
    prompt.begin();  // a second call changes nothing
    EXPECT_EQ(policy(), raised);
    EXPECT_TRUE(raised == SCHED_FIFO || raised == before);
    prompt.end();
    EXPECT_EQ(policy(), before);
    prompt.end();
    EXPECT_EQ(policy(), before);
  }
}

TEST(Demotion, ChangesBackWhatItHasChanged) {
  for (const auto way : {cpu::DemotionWay::idle_policy, cpu::DemotionWay::fewer_cpus}) {
    if (way != cpu::demotion_way() && way == cpu::DemotionWay::idle_policy) continue;
    std::atomic<bool> stop{false};
    std::thread thread{[&stop] {
      while (!stop) std::this_thread::sleep_for(100us);
    }};
    const auto of_thread = [&thread] {
      int policy = 0;
      sched_param parameters = {};
      cpu_set_t cpus = {};
      EXPECT_EQ(::pthread_getschedparam(thread.native_handle(), &policy, &parameters), 0);
      EXPECT_EQ(::pthread_getaffinity_np(thread.native_handle(), sizeof cpus, &cpus), 0);
      return std::pair{policy, CPU_COUNT(&cpus)};
    };
    const auto before = of_thread();
    cpu::Demotion demotion;
    demotion.demote(thread.native_handle(), 1, way);
    const bool possible = way == cpu::DemotionWay::idle_policy || before.second > 1;
    EXPECT_EQ(demotion.demoted(), possible);
    if (possible) {
      EXPECT_NE(of_thread(), before);
    }
    demotion.demote(thread.native_handle(), 1, way);  // a second call changes nothing
    demotion.restore();
    EXPECT_FALSE(demotion.demoted());
    EXPECT_EQ(of_thread(), before);
    stop = true;
    thread.join();
  }
}

}  // namespace
}  // namespace cohort::test
