// Several jobs on one engine: capacity, weights, and units that pass from one to another.
#include "conformance/jobs.hpp"
#include "conformance/march.hpp"

namespace cohort::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Le;

template <class Engine>
class SharedEngine : public testing::Test {};
TYPED_TEST_SUITE(SharedEngine, Engines, EngineNames);

/// Steps that count, over all jobs, how many groups are inside.
struct Counted {
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* inside;
  std::atomic<std::uint32_t>* most;
  std::atomic<std::uint32_t>* groups;

  template <class Group>
  Next step(Group& group, Nothing& /*state*/) const {
    if (leader(group)) {
      const std::uint32_t now = inside->fetch_add(1) + 1;
      std::uint32_t seen = most->load();
      while (seen < now && !most->compare_exchange_weak(seen, now)) {
      }
      if (group.group_id() == 0) groups->store(group.num_groups());
      std::this_thread::yield();
      inside->fetch_sub(1);
    }
    return group.group_id() == 0 && !stop->load() ? Next::again : Next::halt;
  }
};

TYPED_TEST(SharedEngine, NeverHasMoreGroupsInsideThanItsCapacity) {
  for (const std::uint32_t units : {1U, 3U, 8U}) {
    TypeParam engine{{.capacity = units}};
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> inside{0};
    std::atomic<std::uint32_t> most{0};
    std::atomic<std::uint32_t> groups[5] = {};
    std::vector<Job> jobs;
    for (std::uint32_t i = 0; i < 5; ++i) {
      jobs.push_back(engine.launch(Counted{&stop, &inside, &most, &groups[i]},
                                   {.max_groups = 1 + i * 4, .local_size = i % 2 == 0 ? 1U : 4U}));
    }
    for (std::uint32_t i = 0; i < scaled(20, 5); ++i) {
      jobs[i % 5].set_target(1 + i % (1 + i % 5 * 4));
      std::this_thread::sleep_for(100us);
    }
    stop = true;
    for (const Job& job : jobs) EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_THAT(most.load(), AllOf(Ge(1U), Le(units)));
    EXPECT_EQ(inside, 0U);
  }
}

TYPED_TEST(SharedEngine, IsSharedByWeightAndNeverIdle) {
  TypeParam engine{{.capacity = capacity}};
  Board boards[3];
  std::atomic<bool> stops[3] = {};
  const ScopedJob first = engine.launch(Steps{&boards[0], &stops[0]}, {.weight = 3});
  EXPECT_TRUE(eventually([&] { return boards[0].groups == 16; }));
  const ScopedJob second = engine.launch(Steps{&boards[1], &stops[1]}, {.weight = 1});
  EXPECT_TRUE(eventually([&] { return boards[0].groups == 12 && boards[1].groups == 4; }));
  const ScopedJob third =
      engine.launch(Steps{&boards[2], &stops[2]}, {.max_groups = 2, .weight = 100});
  EXPECT_TRUE(eventually(
      [&] { return boards[2].groups == 2 && boards[0].groups + boards[1].groups == 14; }));
  stops[0] = true;
  EXPECT_EQ(first.wait().status, Status::finished);
  EXPECT_TRUE(eventually([&] { return boards[1].groups == 14; }));
  stops[2] = true;
  EXPECT_EQ(third.wait().status, Status::finished);
  EXPECT_TRUE(eventually([&] { return boards[1].groups == 16; }));
  stops[1] = true;
  EXPECT_EQ(second.wait().status, Status::finished);
  for (const Board& board : boards) EXPECT_EQ(board.wrong, 0U);
}

TYPED_TEST(SharedEngine, PostponesJobsItHasNoUnitFor) {
  TypeParam engine{{.capacity = 2}};
  Board boards[4];
  std::atomic<bool> stops[4] = {};
  std::vector<Job> jobs;
  jobs.reserve(4);
  for (int i = 0; i < 4; ++i) jobs.push_back(engine.launch(Steps{&boards[i], &stops[i]}));
  EXPECT_TRUE(eventually([&] { return boards[0].steps > 5 && boards[1].steps > 5; }));
  EXPECT_EQ(jobs[2].status(), Status::pending);
  EXPECT_EQ(jobs[3].status(), Status::pending);
  stops[1] = true;
  EXPECT_EQ(jobs[1].wait().status, Status::finished);
  EXPECT_TRUE(eventually([&] { return boards[2].steps > 5; }));  // in the order of their launch
  EXPECT_EQ(jobs[3].status(), Status::pending);
  for (auto& stop : stops) stop = true;
  for (const Job& job : jobs) EXPECT_EQ(job.wait().status, Status::finished);
}

TYPED_TEST(SharedEngine, GathersRoomForAStaticLaunch) {
  TypeParam engine{{.capacity = 8}};
  Board boards[2];
  std::atomic<bool> stops[2] = {};
  const ScopedJob cooperative = engine.launch(Steps{&boards[0], &stops[0]});
  EXPECT_TRUE(eventually([&] { return boards[0].groups == 8; }));
  const ScopedJob fixed =
      engine.launch(Steps{&boards[1], &stops[1]}, {.max_groups = 6, .resizable = false});
  EXPECT_TRUE(eventually([&] { return boards[1].steps > 5; }));
  EXPECT_TRUE(eventually([&] { return boards[0].groups == 2; }));
  stops[1] = true;
  EXPECT_EQ(fixed.wait().start_groups, 6U);
  EXPECT_THAT(boards[1].sizes, Each(6U));
  EXPECT_TRUE(eventually([&] { return boards[0].groups == 8; }));
  stops[0] = true;
  EXPECT_EQ(cooperative.wait().status, Status::finished);
}

/// Sets `done[id]` for each of its groups, and remembers M.
struct Slices {
  std::atomic<std::uint32_t>* seen;
  std::atomic<std::uint32_t>* done;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    seen->store(group.num_groups());
    done->fetch_add(1U << group.group_id());
    group.global_barrier();
  }
};

TYPED_TEST(SharedEngine, StartsAStaticLaunchWithAllItsGroupsAlsoAfterTasks) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> long_over{false};
  std::atomic<bool> short_over{false};
  std::atomic<std::uint32_t> seen{0};
  std::atomic<std::uint32_t> done{0};
  const Task long_task =
      engine.submit([&] { hold_until([&] { return long_over.load(); }); }, {.groups = 2});
  const Task short_task = engine.submit([&] { hold_until([&] { return short_over.load(); }); });
  const ScopedJob job = engine.launch(Slices{&seen, &done}, {.max_groups = 4, .resizable = false});
  short_over = true;
  short_task.wait();  // a task was served while the job waited: its turn is next
  EXPECT_EQ(engine.submit([] {}).wait_for(20ms).has_value(), false) << "overtook the job";
  EXPECT_EQ(job.status(), Status::pending) << "two of four units are not enough for it";
  long_over = true;
  EXPECT_EQ(job.wait().start_groups, 4U);
  EXPECT_EQ(seen, 4U);
  EXPECT_EQ(done, 0b1111U);
}

TYPED_TEST(SharedEngine, ServesTasksNextToAJobThatLeavesNoRoomForAStaticLaunch) {
  TypeParam engine{{.capacity = 2}};
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob running = engine.launch(Steps{&board, &stop});
  const ScopedJob fixed = engine.launch(Brief{}, {.max_groups = 2, .resizable = false});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(engine.submit([] {}).wait().status, Status::finished);
  EXPECT_EQ(fixed.status(), Status::pending);
  stop = true;
  EXPECT_EQ(running.wait().status, Status::finished);
  EXPECT_EQ(fixed.wait().start_groups, 2U);
}

TYPED_TEST(SharedEngine, HonoursACapacityBelowTheNumberOfItsJobs) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> inside{0};
  std::atomic<std::uint32_t> most{0};
  std::atomic<std::uint32_t> groups[4] = {};
  std::vector<Job> jobs;
  jobs.reserve(4);
  for (auto& each : groups) jobs.push_back(engine.launch(Counted{&stop, &inside, &most, &each}));
  const auto running = [&] {
    return std::count_if(jobs.begin(), jobs.end(),
                         [](const Job& job) { return job.status() == Status::running; });
  };
  ASSERT_TRUE(eventually([&] { return running() == 4; }));
  engine.set_capacity(1);
  EXPECT_TRUE(eventually([&] { return running() == 1; })) << running() << " jobs run on one unit";
  EXPECT_EQ(jobs[0].status(), Status::running) << "the oldest stays";
  most = 0;
  EXPECT_TRUE(eventually([&] { return most == 1; })) << "at most " << most << " groups at a time";
  engine.set_capacity(4);
  EXPECT_TRUE(eventually([&] { return running() == 4; })) << "they come back by themselves";
  stop = true;
  for (const Job& job : jobs) EXPECT_EQ(job.wait().status, Status::finished);
}

TYPED_TEST(SharedEngine, LeavesAStaticLaunchItsGroupsWhenTheCapacityShrinks) {
  TypeParam engine{{.capacity = 4}};
  Board boards[2];
  std::atomic<bool> stops[2] = {};
  const ScopedJob fixed =
      engine.launch(Steps{&boards[0], &stops[0]}, {.max_groups = 3, .resizable = false});
  const ScopedJob cooperative = engine.launch(Steps{&boards[1], &stops[1]});
  EXPECT_TRUE(eventually([&] { return boards[0].steps > 5 && boards[1].steps > 5; }));
  engine.set_capacity(2);
  EXPECT_TRUE(eventually([&] { return cooperative.status() == Status::pending; }));
  EXPECT_EQ(fixed.status(), Status::running);
  stops[0] = true;
  EXPECT_EQ(fixed.wait().status, Status::finished);
  EXPECT_THAT(boards[0].sizes, Each(3U));
  EXPECT_TRUE(eventually([&] { return boards[1].groups == 2; }));
  stops[1] = true;
  EXPECT_EQ(cooperative.wait().status, Status::finished);
}

/// All groups but group 0 return at once, and nobody can join any more.
struct OneGoesOn {
  const std::atomic<bool>* stop;

  template <class Group>
  void run(Group& group, Nothing state) const {
    while (group.group_id() == 0 && !stop->load()) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(SharedEngine, GivesTheUnitsOfGroupsThatReturnedToOthers) {
  TypeParam engine{{.capacity = capacity}};
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob ending = engine.launch(OneGoesOn{&stop}, {.max_groups = 16, .start_groups = 2});
  const ScopedJob other = engine.launch(Steps{&board, &stop}, {.max_groups = 15});
  EXPECT_TRUE(eventually([&] { return board.groups == 15; })) << "has " << board.groups;
  stop = true;
  EXPECT_EQ(ending.wait().status, Status::finished);
  EXPECT_EQ(other.wait().status, Status::finished);
}

/// One group is slow to notice that the job has been cancelled.
struct SlowToLeave {
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* started;

  template <class Group>
  void run(Group& group, Nothing state) const {
    started->fetch_add(1);
    if (group.group_id() == 0) hold_until([&] { return stop->load(); });
    while (!group.offer_kill(state)) std::this_thread::yield();
  }
};

TYPED_TEST(SharedEngine, GivesTheUnitsOfACancelledJobToOthersAsTheyComeFree) {
  TypeParam engine{{.capacity = capacity}};
  Board board;
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> started{0};
  const ScopedJob ending = engine.launch(SlowToLeave{&stop, &started});
  ASSERT_TRUE(eventually([&] { return started == capacity; }));
  const ScopedJob other = engine.launch(Steps{&board, &stop});
  ending.cancel();
  EXPECT_TRUE(eventually([&] { return board.groups == 15; })) << "has " << board.groups;
  stop = true;
  EXPECT_EQ(ending.wait().status, Status::cancelled);
  EXPECT_EQ(other.wait().status, Status::finished);
}

/// Launches a job of its own, and waits for it.
template <class Engine>
struct Launching {
  Engine* engine;
  std::atomic<std::uint32_t>* finished;

  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {
    const Job inner = engine->launch(Brief{}, {.max_groups = 1});
    finished->fetch_add(inner.wait().status == Status::finished ? 1 : 0);
  }
};

TYPED_TEST(SharedEngine, TakesJobsFromKernels) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<std::uint32_t> finished{0};
  const ScopedJob job = engine.launch(Launching<TypeParam>{&engine, &finished}, {.max_groups = 3});
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(finished, 3U);
}

TYPED_TEST(SharedEngine, TakesManyJobsOneAfterTheOther) {
  TypeParam engine{{.capacity = 4}};
  for (std::uint32_t i = 0; i < scaled(300, 30); ++i) {
    const ScopedJob job =
        engine.launch(Brief{}, {.max_groups = 1 + i % 8, .local_size = 1 + i % 3});
    ASSERT_EQ(job.wait().status, Status::finished);
  }
}

TYPED_TEST(SharedEngine, TakesJobsFromManyThreads) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<std::uint32_t> finished{0};
  std::vector<std::thread> hosts;
  hosts.reserve(4);
  for (int host = 0; host < 4; ++host) {
    hosts.emplace_back([&] {
      for (std::uint32_t i = 0; i < scaled(50, 10); ++i) {
        const ScopedJob job = engine.launch(Brief{}, {.max_groups = 3});
        finished.fetch_add(job.wait().status == Status::finished ? 1 : 0);
      }
    });
  }
  for (auto& host : hosts) host.join();
  EXPECT_EQ(finished, 4 * scaled(50, 10));
}

}  // namespace
}  // namespace cohort::test
