// Jobs that change while they run: all groups taken out and brought back, and targets.
#include "conformance/jobs.hpp"
#include "conformance/march.hpp"

namespace cohort::test {
namespace {

using testing::Each;
using testing::Le;

// ---- suspend and resume

template <class Engine>
class Suspend : public testing::Test {};
TYPED_TEST_SUITE(Suspend, Engines, EngineNames);

TYPED_TEST(Suspend, TakesAllGroupsOutBetweenStepsAndResumeGoesOnFromThere) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    Board board;
    std::atomic<bool> stop{false};
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    const ScopedJob job = engine.launch(
        Kernel{{&board, &stop}}, {.max_groups = shape.groups, .local_size = shape.local_size});
    for (std::uint32_t i = 0; i < scaled(4, 2); ++i) {
      const std::uint32_t before = board.steps;
      ASSERT_TRUE(eventually([&] { return board.steps > before + i; }));
      ASSERT_EQ(job.suspend(), Status::suspended);
      const std::uint32_t at = board.steps;
      EXPECT_EQ(job.status(), Status::suspended);
      EXPECT_EQ(job.wait().status, Status::suspended);
      EXPECT_EQ(groups_now(job), 0U);
      std::this_thread::sleep_for(100us);
      EXPECT_EQ(board.steps, at) << "a suspended job went on";
      job.resume();
    }
    EXPECT_TRUE(eventually([&] { return board.groups == shape.groups; }));
    stop = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(board.wrong, 0U);  // no step was lost, doubled or run with another state
  });
}

/// Group 0 counts; the state of the others is worthless.
struct KeepsCount {
  struct State {
    std::uint32_t count = 0;
    std::uint32_t owner = 0;
  };
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* count;  // as of group 0's last turn
  Notes* started;                     // the counts that groups began with
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, State state) const {
    const std::uint32_t id = group.group_id();
    if (state.owner != 0) wrong->fetch_add(1);
    if (leader(group) && id == 0) started->add(state.count);
    state.owner = id;
    while (!told(group, *stop)) {
      if (id == 0) {
        ++state.count;
        if (leader(group)) count->store(state.count);
      }
      if (group.offer_kill(state)) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(Suspend, KeepsTheStateOfTheLastGroupThatOffers) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> count{0};
    std::atomic<std::uint32_t> wrong{0};
    Notes started;
    const ScopedJob job =
        engine.launch(KeepsCount{&stop, &count, &started, &wrong},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    std::vector<std::uint32_t> expected = {0};
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(eventually([&] { return count > expected.back() + 2; }));
      ASSERT_EQ(job.suspend(), Status::suspended);
      expected.push_back(count);
      job.resume();
    }
    ASSERT_TRUE(eventually([&] { return count > expected.back() + 2; }));
    stop = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(started.all(), expected);
  });
}

TYPED_TEST(Suspend, ServesKillOrderAnyAndMayAllLeave) {
  TypeParam engine{{.capacity = capacity}};
  const auto run = [&]<Traits traits>() {
    for_each_shape([&](Shape shape) {
      std::atomic<bool> stop{false};
      std::atomic<std::uint32_t> present{0};
      const ScopedJob job =
          engine.launch(With<Offering, traits>{{&stop, &present}},
                        {.max_groups = shape.groups, .local_size = shape.local_size});
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(job.suspend(), Status::suspended);
        EXPECT_EQ(present, 0U);
        job.resume();
        ASSERT_TRUE(eventually([&] { return groups_now(job) == shape.groups; }));
      }
      stop = true;
      EXPECT_EQ(job.wait().status, Status::finished);
    });
  };
  run.template operator()<Traits{.kill_order = KillOrder::any}>();
  run.template operator()<Traits{.survivors = Survivors::may_all_leave}>();
  run.template
  operator()<Traits{.kill_order = KillOrder::any, .survivors = Survivors::may_all_leave}>();
}

/// Prepared once; a resumed job finds what it prepared.
struct PreparedOnce {
  std::atomic<std::uint32_t>* preparations;
  std::atomic<std::uint32_t>* present;
  std::atomic<std::uint32_t>* not_joined;
  const std::atomic<bool>* stop;

  template <class Group>
  void setup(Group& group) const {
    if (group.group_id() == 0 && leader(group)) preparations->fetch_add(1);
  }
  template <class Group>
  void run(Group& group, Nothing state) const {
    if (leader(group)) {
      present->fetch_add(1);
      if (!group.joined()) not_joined->fetch_add(1);
    }
    while (!told(group, *stop)) {
      if (group.offer_kill(state)) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(Suspend, DoesNotRunSetupAgain) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<std::uint32_t> preparations{0};
    std::atomic<std::uint32_t> present{0};
    std::atomic<std::uint32_t> not_joined{0};
    std::atomic<bool> stop{false};
    const ScopedJob job =
        engine.launch(PreparedOnce{&preparations, &present, &not_joined, &stop},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    ASSERT_TRUE(eventually([&] { return present == shape.groups; }));
    ASSERT_EQ(job.suspend(), Status::suspended);
    job.resume();
    ASSERT_TRUE(eventually([&] { return present == 2 * shape.groups; }));
    stop = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(preparations, 1U);
    EXPECT_EQ(not_joined, shape.groups);  // those of the first run
  });
}

TYPED_TEST(Suspend, WaitsForTheEndOfSetup) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<bool> go{false};
    std::atomic<std::uint32_t> in_setup{0};
    std::atomic<bool> stop{false};
    const ScopedJob job =
        engine.launch(LongSetup{&go, &in_setup, &stop},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    ASSERT_TRUE(eventually([&] { return in_setup == shape.groups; }));
    std::thread host{[&job] { EXPECT_EQ(job.suspend(), Status::suspended); }};
    EXPECT_FALSE(job.wait_for(500us).has_value());
    go = true;
    host.join();
    job.resume();
    ASSERT_TRUE(eventually([&] { return groups_now(job) == shape.groups; }));
    stop = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(in_setup, shape.groups);  // once
  });
}

/// One group returns at once; the others offer themselves until told to stop.
struct OneHasReturned {
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* started;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t groups = group.num_groups();
    if (leader(group)) started->fetch_add(1);
    hold_until([&] { return started->load() >= groups; });
    if (group.group_id() == 0) return;
    while (!told(group, *stop)) {
      if (group.offer_kill(state)) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(Suspend, ComesTooLateOnceAGroupHasReturned) {
  TypeParam engine{{.capacity = capacity}};
  const auto run = [&]<Traits traits>() {
    for_each_shape([&](Shape shape) {
      std::atomic<bool> stop{false};
      std::atomic<std::uint32_t> started{0};
      const ScopedJob job =
          engine.launch(With<OneHasReturned, traits>{{&stop, &started}},
                        {.max_groups = shape.groups, .local_size = shape.local_size});
      ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
      std::this_thread::sleep_for(100us);
      std::thread host{[&job] { EXPECT_EQ(job.suspend(), Status::finished); }};
      std::this_thread::sleep_for(300us);
      stop = true;
      host.join();
      EXPECT_EQ(job.wait().status, Status::finished);
    });
  };
  run.template operator()<Traits{}>();
  run.template operator()<Traits{.kill_order = KillOrder::any}>();
}

TYPED_TEST(Suspend, OfAPendingJobKeepsItFromStarting) {
  TypeParam engine{{.capacity = 1}};
  std::atomic<bool> stop_first{false};
  std::atomic<bool> stop_second{false};
  std::atomic<std::uint32_t> first{0};
  std::atomic<std::uint32_t> second{0};
  const ScopedJob running = engine.launch(Offering{&stop_first, &first});
  const ScopedJob pending = engine.launch(Offering{&stop_second, &second});
  EXPECT_EQ(pending.suspend(), Status::suspended);
  stop_first = true;
  EXPECT_EQ(running.wait().status, Status::finished);
  std::this_thread::sleep_for(1ms);
  EXPECT_EQ(second, 0U);
  EXPECT_EQ(pending.status(), Status::suspended);
  pending.resume();
  EXPECT_TRUE(eventually([&] { return second == 1; }));
  stop_second = true;
  EXPECT_EQ(pending.wait().status, Status::finished);
}

TYPED_TEST(Suspend, TwiceIsAsGoodAsOnce) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  const ScopedJob job = engine.launch(Offering{&stop, &present});
  EXPECT_EQ(job.suspend(), Status::suspended);
  EXPECT_EQ(job.suspend(), Status::suspended);
  job.resume();
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
}

TYPED_TEST(Suspend, TellsHowAJobEndedThatWasFaster) {
  TypeParam engine{{.capacity = 4}};
  const ScopedJob job = engine.launch(Brief{});
  job.wait();
  EXPECT_EQ(job.suspend(), Status::finished);
  for (std::uint32_t i = 0; i < scaled(100, 20); ++i) {
    const ScopedJob brief = engine.launch(Brief{});
    EXPECT_THAT(brief.suspend(), testing::AnyOf(Status::finished, Status::suspended));
    brief.cancel();
  }
}

TYPED_TEST(Suspend, FromManyThreadsReturnsToEachOfThem) {
  TypeParam engine{{.capacity = 4}};
  for (std::uint32_t i = 0; i < scaled(20, 5); ++i) {
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> present{0};
    const ScopedJob job = engine.launch(Offering{&stop, &present});
    ASSERT_TRUE(eventually([&] { return present > 0; }));
    std::atomic<std::uint32_t> returned{0};
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&returned, &job] {
        EXPECT_EQ(job.suspend(), Status::suspended);
        returned.fetch_add(1);
        try {
          job.resume();
        } catch (const Error& error) {  // another thread was faster
          EXPECT_EQ(error.code(), Errc::bad_state);
        }
      });
    }
    EXPECT_TRUE(eventually([&] { return returned == 4; }))
        << "a suspend slept through a resume, and still waits";
    job.cancel();  // which would end the sleep
    for (auto& thread : threads) thread.join();
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(Suspend, LeavesItsUnitsToOthers) {
  TypeParam engine{{.capacity = capacity}};
  Board first;
  Board second;
  std::atomic<bool> stop{false};
  const ScopedJob one = engine.launch(Steps{&first, &stop});
  EXPECT_EQ(one.suspend(), Status::suspended);
  const ScopedJob two = engine.launch(Steps{&second, &stop});
  EXPECT_TRUE(eventually([&] { return second.groups == capacity; }));
  one.resume();
  EXPECT_TRUE(
      eventually([&] { return second.groups == capacity / 2 && first.groups == capacity / 2; }));
  stop = true;
  EXPECT_EQ(one.wait().status, Status::finished);
  EXPECT_EQ(two.wait().status, Status::finished);
  EXPECT_EQ(first.wrong + second.wrong, 0U);
}

// ---- targets

template <class Engine>
class Target : public testing::Test {};
TYPED_TEST_SUITE(Target, Engines, EngineNames);

TYPED_TEST(Target, IsFollowedWhilePinnedAndLeftToTheEngineWhenReset) {
  TypeParam engine{{.capacity = capacity}};
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob job = engine.launch(Steps{&board, &stop}, {.max_groups = 8, .target = 3});
  EXPECT_TRUE(eventually([&] { return board.groups == 3; }));
  EXPECT_EQ(job.report().start_groups, 3U);
  for (const std::uint32_t target : {8U, 1U, 5U}) {
    job.set_target(target);
    EXPECT_TRUE(eventually([&] { return board.groups == target; })) << target;
  }
  job.reset_target();
  EXPECT_TRUE(eventually([&] { return board.groups == 8; }));
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(board.wrong, 0U);
}

TYPED_TEST(Target, MayBeSetWhileTheJobIsSuspendedOrPending) {
  TypeParam engine{{.capacity = 4}};
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob job = engine.launch(Steps{&board, &stop}, {.max_groups = 4});
  ASSERT_EQ(job.suspend(), Status::suspended);
  job.set_target(2);
  job.resume();
  EXPECT_TRUE(eventually([&] { return board.groups == 2; }));
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
  job.set_target(1);  // of no consequence
  job.reset_target();
  EXPECT_EQ(job.status(), Status::finished);
}

TYPED_TEST(Target, ReachesNoFurtherThanTheMachine) {
  TypeParam engine{{.capacity = 4}};
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob job = engine.launch(Steps{&board, &stop}, {.max_groups = 64});
  for (const std::uint32_t target : {64U, 2U, 40U}) {
    job.set_target(target);
    EXPECT_TRUE(eventually([&] { return board.groups == std::min(target, 4U); })) << target;
  }
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_THAT(board.sizes, Each(Le(4U)));
  EXPECT_EQ(board.wrong, 0U);
}

}  // namespace
}  // namespace cohort::test
