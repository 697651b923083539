// The life of a job as its host sees it: waiting, cancelling, suspending, targets, reports, sharing
// an engine, failing, and the engine's end.
#include <map>
#include <memory>
#include <stdexcept>

#include "conformance/march.hpp"
#include "conformance/support.hpp"

namespace cohort::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

/// Returns at once.
struct Brief {
  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {}
};

/// Runs until told to stop, cancelled or taken away; at every turn it offers itself.
struct Offering {
  struct State {
    std::uint32_t turn = 0;
  };
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* present;  // groups inside now

  template <class Group>
  void run(Group& group, State state) const {
    if (leader(group)) present->fetch_add(1);
    while (!group.broadcast(stop->load())) {
      ++state.turn;
      if (leave(group, state)) return;
      std::this_thread::yield();
    }
    if (leader(group)) present->fetch_sub(1);
  }

 private:
  template <class Group>
  bool leave(Group& group, const State& state) const {
    if (leader(group)) present->fetch_sub(1);
    if (group.offer(state)) return true;
    if (leader(group)) present->fetch_add(1);
    return false;
  }
};

/// M as the report tells it.
std::uint32_t groups_now(const Job& job) {
  const Report report = job.report();
  return report.sizes.empty() ? 0 : report.sizes.back().groups;
}

// ---- wait

template <class Engine>
class Wait : public testing::Test {};
TYPED_TEST_SUITE(Wait, Engines, EngineNames);

TYPED_TEST(Wait, ReturnsTheReportOfAFinishedJob) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    const ScopedJob job =
        engine.launch(Brief{}, {.max_groups = shape.groups, .local_size = shape.local_size});
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(job.wait().status, Status::finished);  // as often as one likes
    EXPECT_EQ(job.status(), Status::finished);
    EXPECT_TRUE(job.wait_for(0s).has_value());
  });
}

TYPED_TEST(Wait, ForALimitedTimeReturnsNothingWhileTheJobRuns) {
  TypeParam engine{{.capacity = capacity}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  const ScopedJob job = engine.launch(Offering{&stop, &present}, {.max_groups = 2});
  EXPECT_FALSE(job.wait_for(0s).has_value());
  EXPECT_FALSE(job.wait_for(2ms).has_value());
  EXPECT_FALSE(job.wait_until(std::chrono::steady_clock::now() - 1h).has_value());
  EXPECT_EQ(job.status(), Status::running);
  stop = true;
  const auto report = job.wait_for(20s);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->status, Status::finished);
}

TYPED_TEST(Wait, ForAVeryLongTimeDoesNotOverflow) {
  TypeParam engine{{.capacity = 1}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  const ScopedJob job = engine.launch(Offering{&stop, &present});
  std::thread stopper{[&] {
    std::this_thread::sleep_for(5ms);
    stop = true;
  }};
  EXPECT_TRUE(job.wait_for(std::chrono::nanoseconds::max()).has_value());
  stopper.join();
}

TYPED_TEST(Wait, ServesManyThreadsAtOnce) {
  TypeParam engine{{.capacity = capacity}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  const ScopedJob job = engine.launch(Offering{&stop, &present}, {.max_groups = 4});
  std::atomic<std::uint32_t> finished{0};
  std::vector<std::thread> waiters;
  waiters.reserve(8);
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back(
        [&finished, &job] { finished.fetch_add(job.wait().status == Status::finished ? 1 : 0); });
  }
  stop = true;
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(finished, 8U);
}

TYPED_TEST(Wait, IsNotNeeded) {
  std::atomic<std::uint32_t> present{0};
  std::atomic<bool> stop{false};
  {
    TypeParam engine{{.capacity = 4}};
    (void)engine.launch(Offering{&stop, &present});  // dropping the handle does not end the job
    EXPECT_TRUE(eventually([&] { return present == 4; }));
    stop = true;
    EXPECT_TRUE(eventually([&] { return present == 0; }));
  }
}

// ---- cancel

template <class Engine>
class Cancel : public testing::Test {};
TYPED_TEST_SUITE(Cancel, Engines, EngineNames);

/// Waits for ever in one primitive or another.
struct Endless {
  enum class At : std::uint8_t {
    offer,
    offer_kill,
    global_barrier,
    resizing_barrier,
    others_in_barrier,
    request_fork,
    query,
  };
  At at;
  const std::atomic<bool>* stop;  // only for what does not end by itself
  std::atomic<std::uint32_t>* started;

  template <class Group>
  void run(Group& group, Nothing state) const {
    if (leader(group)) started->fetch_add(1);
    while (!group.broadcast(stop->load())) {
      switch (at) {
        case At::offer:
          if (group.offer(state)) return;
          break;
        case At::offer_kill:
          if (group.offer_kill(state)) return;
          break;
        case At::global_barrier: group.global_barrier(); break;
        case At::resizing_barrier:
          if (group.resizing_global_barrier(state)) return;
          break;
        case At::others_in_barrier:  // where they wait for group 0, which is still busy
          if (group.group_id() != 0) {
            group.global_barrier();
          } else if (group.offer_kill(state)) {
            return;
          }
          break;
        case At::request_fork: group.request_fork(state); break;
        case At::query: (void)group.query(); break;
      }
      std::this_thread::yield();
    }
  }
};

template <class Kernel, class Engine>
void cancel_in(Engine& engine, Shape shape, Endless::At at, bool resizable) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> started{0};
  const ScopedJob job = engine.launch(
      Kernel{{at, &stop, &started}},
      {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = resizable});
  ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
  job.cancel();
  const bool ended = job.wait_for(20s).has_value();
  stop = true;
  EXPECT_TRUE(ended) << "not cancelled in primitive " << static_cast<int>(at);
  EXPECT_EQ(job.wait().status, Status::cancelled);
}

TYPED_TEST(Cancel, EndsAJobInOffersAndBarriers) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    using Kernel = With<Endless, Traits{.barrier = barrier}>;
    using At = Endless::At;
    for (const At at : {At::offer, At::offer_kill, At::global_barrier, At::resizing_barrier,
                        At::others_in_barrier}) {
      cancel_in<Kernel>(engine, shape, at, true);
    }
  });
}

TYPED_TEST(Cancel, EndsAJobThatOnlyForksOrAsks) {
  TypeParam engine{{.capacity = capacity}};
  using Kernel = With<Endless, Traits{}>;
  cancel_in<Kernel>(engine, {.groups = 4, .local_size = 1}, Endless::At::request_fork, true);
  cancel_in<Kernel>(engine, {.groups = 4, .local_size = 1}, Endless::At::query, true);
}

TYPED_TEST(Cancel, EndsAStaticLaunch) {
  TypeParam engine{{.capacity = capacity}};
  using Kernel = With<Endless, Traits{}>;
  for_each_shape([&](Shape shape) {
    cancel_in<Kernel>(engine, shape, Endless::At::global_barrier, false);
    cancel_in<Kernel>(engine, shape, Endless::At::resizing_barrier, false);
  });
}

/// Offers in a static launch are compiled out, so that they cannot tell of a cancel: its barriers
/// do.
struct OfferingThenMeeting {
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* started;

  template <class Group>
  void run(Group& group, Nothing state) const {
    if (leader(group)) started->fetch_add(1);
    while (!group.broadcast(stop->load())) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
    group.global_barrier();
  }
};

TYPED_TEST(Cancel, ReachesAStaticLaunchAtItsBarriersOnly) {
  TypeParam engine{{.capacity = capacity}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> started{0};
  const ScopedJob job =
      engine.launch(OfferingThenMeeting{&stop, &started}, {.max_groups = 4, .resizable = false});
  ASSERT_TRUE(eventually([&] { return started == 4; }));
  job.cancel();
  EXPECT_FALSE(job.wait_for(2ms).has_value());
  stop = true;
  EXPECT_EQ(job.wait().status, Status::cancelled);
}

TYPED_TEST(Cancel, EndsStepsInEveryShape) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    Board board;
    std::atomic<bool> stop{false};
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    const ScopedJob job = engine.launch(
        Kernel{{&board, &stop}}, {.max_groups = shape.groups, .local_size = shape.local_size});
    EXPECT_TRUE(eventually([&] { return board.steps >= 3; }));
    job.cancel();
    EXPECT_EQ(job.wait().status, Status::cancelled);
    EXPECT_EQ(board.wrong, 0U);
  });
}

TYPED_TEST(Cancel, OfAPendingJobMeansThatItNeverRuns) {
  TypeParam engine{{.capacity = 1}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> first{0};
  std::atomic<std::uint32_t> second{0};
  const ScopedJob running = engine.launch(Offering{&stop, &first});
  const ScopedJob pending = engine.launch(Offering{&stop, &second});
  EXPECT_EQ(pending.status(), Status::pending);
  EXPECT_FALSE(pending.wait_for(1ms).has_value());
  pending.cancel();
  EXPECT_EQ(pending.wait().status, Status::cancelled);
  stop = true;
  EXPECT_EQ(running.wait().status, Status::finished);
  EXPECT_EQ(pending.report().start_groups, 0U);
}

TYPED_TEST(Cancel, EndsASuspendedJob) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  const ScopedJob job = engine.launch(Offering{&stop, &present});
  EXPECT_EQ(job.suspend(), Status::suspended);
  job.cancel();
  EXPECT_EQ(job.wait().status, Status::cancelled);
  EXPECT_THROW(job.resume(), Error);
}

TYPED_TEST(Cancel, DoesNothingToAJobThatHasEnded) {
  TypeParam engine{{.capacity = 4}};
  const ScopedJob job = engine.launch(Brief{});
  job.wait();
  job.cancel();
  EXPECT_EQ(job.wait().status, Status::finished);
}

TYPED_TEST(Cancel, MayComeFromManyThreads) {
  TypeParam engine{{.capacity = capacity}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  const ScopedJob job = engine.launch(Offering{&stop, &present}, {.max_groups = 8});
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back([&job] { job.cancel(); });
  EXPECT_EQ(job.wait().status, Status::cancelled);
  for (auto& thread : threads) thread.join();
}

TYPED_TEST(Cancel, FollowsAStopTokenThatIsAlreadyStopped) {
  TypeParam engine{{.capacity = 4}};
  std::stop_source source;
  source.request_stop();
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  const ScopedJob job = engine.launch(Offering{&stop, &present}, {.stop = source.get_token()});
  EXPECT_EQ(job.wait().status, Status::cancelled);
}

TYPED_TEST(Cancel, FollowsAStopTokenAfterTheLaunch) {
  TypeParam engine{{.capacity = 4}};
  for_each_shape([&](Shape shape) {
    std::stop_source source;
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> present{0};
    const ScopedJob job = engine.launch(
        Offering{&stop, &present},
        {.max_groups = shape.groups, .local_size = shape.local_size, .stop = source.get_token()});
    EXPECT_FALSE(job.wait_for(100us).has_value());
    source.request_stop();
    EXPECT_EQ(job.wait().status, Status::cancelled);
  });
}

TYPED_TEST(Cancel, IgnoresAStopTokenOnceAllIsOver) {
  std::stop_source source;
  {
    TypeParam engine{{.capacity = 4}};
    (void)engine.launch(Brief{}, {.stop = source.get_token()});
    const ScopedJob job = engine.launch(Brief{}, {.stop = source.get_token()});
    job.wait();
    source.request_stop();
    EXPECT_EQ(job.wait().status, Status::finished);
  }
}

TYPED_TEST(Cancel, ByAStopTokenMayMeetTheEndOfTheJob) {
  TypeParam engine{{.capacity = 4}};
  for (std::uint32_t i = 0; i < scaled(200, 20); ++i) {
    std::stop_source source;
    std::thread stopper{[&source] { source.request_stop(); }};
    const ScopedJob job = engine.launch(Brief{}, {.max_groups = 2, .stop = source.get_token()});
    EXPECT_THAT(job.wait().status, testing::AnyOf(Status::finished, Status::cancelled));
    stopper.join();
  }
}

/// Spends its time in setup: all groups but group 0 in a barrier there.
struct LongSetup {
  const std::atomic<bool>* go;
  std::atomic<std::uint32_t>* in_setup;
  const std::atomic<bool>* stop;

  template <class Group>
  void setup(Group& group) const {
    if (leader(group)) in_setup->fetch_add(1);
    if (group.group_id() == 0) hold_until([&] { return go->load(); });
    group.global_barrier();
  }
  template <class Group>
  void run(Group& group, Nothing state) const {
    while (!group.broadcast(stop->load())) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(Cancel, ReachesGroupsInSetup) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<bool> go{false};
    std::atomic<std::uint32_t> in_setup{0};
    const std::atomic<bool> stop{false};
    const ScopedJob job =
        engine.launch(LongSetup{&go, &in_setup, &stop},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    ASSERT_TRUE(eventually([&] { return in_setup == shape.groups; }));
    job.cancel();
    go = true;
    EXPECT_EQ(job.wait().status, Status::cancelled);
  });
}

/// Checks after every offer that it still is who it was.
struct KnowsItsId {
  std::atomic<std::uint32_t>* wrong;
  std::atomic<std::uint32_t>* started;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    if (leader(group)) started->fetch_add(1);
    for (;;) {
      if (group.offer(state)) return;
      if (group.group_id() != id) wrong->fetch_add(1);
      group.request_fork(state);
      if (group.group_id() != id) wrong->fetch_add(1);
    }
  }
};

TYPED_TEST(Cancel, LetsNoGroupGoOnWithoutItsId) {
  TypeParam engine{{.capacity = 4}};
  for (std::uint32_t i = 0; i < scaled(1000, 100); ++i) {
    std::atomic<std::uint32_t> wrong{0};
    std::atomic<std::uint32_t> started{0};
    const ScopedJob job = engine.launch(KnowsItsId{&wrong, &started}, {.max_groups = 2 + i % 2});
    hold_until([&] { return started > 0; });
    job.cancel();
    EXPECT_EQ(job.wait().status, Status::cancelled);
    ASSERT_EQ(wrong, 0U);
  }
}

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
    while (!group.broadcast(stop->load())) {
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
    while (!group.broadcast(stop->load())) {
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
    while (!group.broadcast(stop->load())) {
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

// ---- reports

template <class Engine>
class Reports : public testing::Test {};
TYPED_TEST_SUITE(Reports, Engines, EngineNames);

/// Offers until told to stop, and counts who returns of his own accord.
struct Returning {
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* returned;
  std::atomic<std::uint32_t>* offered;

  template <class Group>
  void run(Group& group, Nothing state) const {
    while (!group.broadcast(stop->load())) {
      if (group.offer(state)) return;
      if (leader(group) && group.group_id() == 0) offered->fetch_add(1);
      std::this_thread::yield();
    }
    if (leader(group)) returned->fetch_add(1);
  }
};

/// What holds of a report at any time.
void expect_consistent_so_far(const Report& report, std::uint32_t max_groups) {
  EXPECT_LE(report.start_groups, max_groups);
  for (std::size_t i = 1; i < report.sizes.size(); ++i) {
    EXPECT_GE(report.sizes[i].nanoseconds, report.sizes[i - 1].nanoseconds);
  }
  for (const Report::Size& size : report.sizes) EXPECT_LE(size.groups, max_groups);
  for (const Summary& summary : {report.gather, report.offers}) {
    EXPECT_LE(summary.p50, summary.p99);
    EXPECT_LE(summary.p99, summary.max);
  }
}

/// What holds of the report of a job that has started.
void expect_consistent(const Report& report, std::uint32_t max_groups) {
  EXPECT_GE(report.start_groups, 1U);
  EXPECT_FALSE(report.sizes.empty());
  EXPECT_GT(report.run_time.count(), 0);
  expect_consistent_so_far(report, max_groups);
}

TYPED_TEST(Reports, CountGroupsThatCameAndWent) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> returned{0};
    std::atomic<std::uint32_t> offered{0};
    const auto begin = std::chrono::steady_clock::now();
    const ScopedJob job =
        engine.launch(Returning{&stop, &returned, &offered},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    ASSERT_TRUE(eventually([&] { return groups_now(job) == shape.groups; }));
    for (const std::uint32_t target : {1U, shape.groups, 1U}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] { return groups_now(job) == target; }));
      const Report report = job.report();
      EXPECT_EQ(report.status, Status::running);
      expect_consistent(report, shape.groups);
    }
    ASSERT_TRUE(eventually([&] { return offered > 5; }));
    stop = true;
    const Report report = job.wait();
    expect_consistent(report, shape.groups);
    EXPECT_LE(report.run_time, std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(report.sizes.back().groups, 0U);
    EXPECT_EQ(report.start_groups + report.joins - report.leaves, returned);
    EXPECT_EQ(report.joins, shape.groups - 1);
    EXPECT_EQ(report.leaves, 2 * (shape.groups - 1));
    EXPECT_EQ(report.gather.count > 0, shape.groups > 1);
    EXPECT_GT(report.offers.count, 0U);
    EXPECT_EQ(report.error, "");
  });
}

TYPED_TEST(Reports, CountResumedGroupsAsJoins) {
  TypeParam engine{{.capacity = capacity}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> returned{0};
  std::atomic<std::uint32_t> offered{0};
  const ScopedJob job = engine.launch(Returning{&stop, &returned, &offered}, {.max_groups = 4});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] { return groups_now(job) == 4; }));
    ASSERT_EQ(job.suspend(), Status::suspended);
    job.resume();
  }
  ASSERT_TRUE(eventually([&] { return groups_now(job) == 4; }));
  stop = true;
  const Report report = job.wait();
  EXPECT_EQ(report.leaves, 12U);
  EXPECT_EQ(report.start_groups + report.joins - report.leaves, returned);
}

TYPED_TEST(Reports, DoNotCountTheTimeOfASuspend) {
  TypeParam engine{{.capacity = 2}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> returned{0};
  std::atomic<std::uint32_t> offered{0};
  const ScopedJob job = engine.launch(Returning{&stop, &returned, &offered});
  ASSERT_EQ(job.suspend(), Status::suspended);
  const auto before = job.report().run_time;
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(job.report().run_time, before);
  job.resume();
  stop = true;
  EXPECT_GE(job.wait().run_time, before);
}

/// Does not offer itself while it is busy.
struct Busy {
  const std::atomic<bool>* stop;
  const std::atomic<bool>* busy;

  template <class Group>
  void run(Group& group, Nothing state) const {
    hold_until([&] { return !busy->load(); });
    while (!stop->load()) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(Reports, MeasureGatheringFromTheFirstUnmetDemand) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> stop{false};
  std::atomic<bool> busy{true};
  const ScopedJob job = engine.launch(Busy{&stop, &busy}, {.max_groups = 4});
  job.set_target(3);
  std::this_thread::sleep_for(5ms);  // nobody offers yet
  job.set_target(2);
  busy = false;
  EXPECT_TRUE(eventually([&] { return job.report().gather.count > 0; }));
  EXPECT_GE(job.report().gather.max, 5'000'000U);
  stop = true;
  job.wait();
}

TYPED_TEST(Reports, MayBeAskedForAtAnyTime) {
  TypeParam engine{{.capacity = capacity}};
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob job = engine.launch(Steps{&board, &stop}, {.max_groups = 8});
  std::thread curious{[&] {
    while (!stop) expect_consistent_so_far(job.report(), 8);
  }};
  for (std::uint32_t i = 0; i < scaled(200, 20); ++i) {
    job.set_target(1 + i * 5 % 8);
    if (i % 20 == 19 && job.suspend() == Status::suspended) job.resume();
    std::this_thread::yield();
  }
  stop = true;
  curious.join();
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(board.wrong, 0U);
}

// ---- the tracer

template <class Engine>
class Tracing : public testing::Test {};
TYPED_TEST_SUITE(Tracing, Engines, EngineNames);

/// Keeps all events, in order, for each thread that reports them.
class Journal : public Tracer {
 public:
  void record(const TraceEvent& event) noexcept override {
    const std::lock_guard lock{mutex_};
    events_[std::this_thread::get_id()].push_back(event);
  }
  [[nodiscard]] const auto& by_thread() const { return events_; }
  [[nodiscard]] std::vector<TraceEvent> of(Trace what) const {
    std::vector<TraceEvent> result;
    for (const auto& [thread, events] : events_) {
      for (const TraceEvent& event : events) {
        if (event.what == what) result.push_back(event);
      }
    }
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.nanoseconds < b.nanoseconds; });
    return result;
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, std::vector<TraceEvent>> events_;
};

/// A unit's events are stays: each begins with start or join, ends with kill, shed or finish, and
/// is of one group.
void expect_stays(const Journal& journal) {
  for (const auto& [thread, events] : journal.by_thread()) {
    bool inside = false;
    std::uint32_t id = 0;
    std::uint64_t last = 0;
    for (const TraceEvent& event : events) {
      EXPECT_GE(event.nanoseconds, last);
      last = event.nanoseconds;
      const bool begins = event.what == Trace::start || event.what == Trace::join;
      ASSERT_EQ(begins, !inside);
      if (begins) id = event.group;
      inside = true;
      ASSERT_EQ(event.group, id);
      if (event.what == Trace::kill || event.what == Trace::shed || event.what == Trace::finish) {
        inside = false;
      }
    }
    EXPECT_FALSE(inside);
  }
}

TYPED_TEST(Tracing, SeesEveryStayOfEveryGroup) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    Journal journal;
    Board board;
    std::atomic<bool> stop{false};
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    const ScopedJob job = engine.launch(
        Kernel{{&board, &stop}},
        {.max_groups = shape.groups, .local_size = shape.local_size, .tracer = &journal});
    for (const std::uint32_t target : {1U, shape.groups}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] { return board.groups == target; }));
    }
    stop = true;
    const Report report = job.wait();
    expect_stays(journal);
    EXPECT_EQ(journal.of(Trace::start).size(), report.start_groups);
    EXPECT_EQ(journal.of(Trace::join).size(), report.joins);
    EXPECT_EQ(journal.of(Trace::kill).size() + journal.of(Trace::shed).size(), report.leaves);
    EXPECT_EQ(journal.of(Trace::finish).size(), report.start_groups + report.joins - report.leaves);
    EXPECT_TRUE(journal.of(Trace::fault).empty());
  });
}

TYPED_TEST(Tracing, SeesOneArrivalAndOnePassageForEachBarrier) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    Journal journal;
    Board board;
    std::atomic<bool> stop{false};
    const ScopedJob job = engine.launch(
        Steps{&board, &stop},
        {.max_groups = shape.groups, .local_size = shape.local_size, .tracer = &journal});
    for (const std::uint32_t target : {1U, shape.groups}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] { return board.groups == target; }));
    }
    stop = true;
    const Report report = job.wait();
    for (const auto& [thread, events] : journal.by_thread()) {
      std::uint64_t arrived = ~std::uint64_t{0};  // the generation, while in a barrier
      for (const TraceEvent& event : events) {
        if (event.what == Trace::arrive) {
          EXPECT_EQ(arrived, ~std::uint64_t{0});
          arrived = event.value;
        } else if (event.what == Trace::pass) {
          EXPECT_EQ(event.value, arrived + 1);
          arrived = ~std::uint64_t{0};
        } else if (event.what == Trace::shed) {
          EXPECT_NE(arrived, ~std::uint64_t{0});
          arrived = ~std::uint64_t{0};
        }
      }
      EXPECT_EQ(arrived, ~std::uint64_t{0});
    }
    // The releases that change M are a chain from the first M to the last.
    std::uint64_t groups = report.start_groups;
    for (const TraceEvent& event : journal.of(Trace::resize)) {
      EXPECT_EQ(event.value, groups);
      groups = event.active;
    }
    EXPECT_EQ(groups, report.start_groups + report.joins - report.leaves);
  });
}

TYPED_TEST(Tracing, SeesOffersKillsAndForks) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    Journal journal;
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> returned{0};
    std::atomic<std::uint32_t> offered{0};
    const ScopedJob job = engine.launch(
        Returning{&stop, &returned, &offered},
        {.max_groups = shape.groups, .local_size = shape.local_size, .tracer = &journal});
    for (const std::uint32_t target : {1U, shape.groups, 1U, shape.groups}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] { return groups_now(job) == target; }));
    }
    ASSERT_TRUE(eventually([&] { return offered > 5; }));
    stop = true;
    const Report report = job.wait();
    expect_stays(journal);
    std::uint64_t forked = 0;
    for (const TraceEvent& event : journal.of(Trace::fork)) forked += event.value;
    EXPECT_EQ(forked, report.joins);
    EXPECT_EQ(journal.of(Trace::kill).size(), report.leaves);
    for (const TraceEvent& event : journal.of(Trace::kill)) {
      EXPECT_EQ(event.group, event.active);  // the highest id has gone
    }
    EXPECT_FALSE(journal.of(Trace::offer).empty());
  });
}

TYPED_TEST(Tracing, SeesTheEndOfEveryGroupThatACancelReaches) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    Journal journal;
    Board board;
    std::atomic<bool> stop{false};
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    const ScopedJob job = engine.launch(
        Kernel{{&board, &stop}},
        {.max_groups = shape.groups, .local_size = shape.local_size, .tracer = &journal});
    ASSERT_TRUE(eventually([&] { return board.steps > 2; }));
    job.cancel();
    const Report report = job.wait();
    EXPECT_EQ(journal.of(Trace::start).size(), report.start_groups);
    EXPECT_EQ(journal.of(Trace::fault).size(), report.start_groups + report.joins - report.leaves);
  });
}

// ---- several jobs on one engine

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

// ---- exceptions

template <class Engine>
class Exceptions : public testing::Test {};
TYPED_TEST_SUITE(Exceptions, Engines, EngineNames);

struct Oops : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One thread throws; all others wait for its group in one way or another.
struct Throwing {
  std::uint32_t group_throwing;
  std::uint32_t thread_throwing;
  bool resizing;

  template <class Group>
  void run(Group& group, Nothing state) const {
    for (int round = 0;; ++round) {
      if (round == 3 && group.group_id() == group_throwing && group.local_id() == thread_throwing) {
        throw Oops{"thrown on purpose"};
      }
      if (resizing) {
        if (group.resizing_global_barrier(state)) return;
      } else {
        group.global_barrier();
      }
    }
  }
};

TYPED_TEST(Exceptions, ReachWaitWhileTheOthersAreInBarriers) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    for (const bool resizing : {false, true}) {
      for (const std::uint32_t group : {0U, shape.groups - 1}) {
        using Kernel = With<Throwing, Traits{.barrier = barrier}>;
        const ScopedJob job =
            engine.launch(Kernel{{group, shape.local_size - 1, resizing}},
                          {.max_groups = shape.groups, .local_size = shape.local_size});
        EXPECT_THROW(job.wait(), Oops);
        EXPECT_THROW(job.wait_for(1s), Oops);  // and stays so
        EXPECT_EQ(job.status(), Status::failed);
        EXPECT_THAT(job.report().error, HasSubstr("thrown on purpose"));
      }
    }
  });
}

/// Throws where a kernel can, one place after the other.
struct ThrowingIn {
  enum class Place : std::uint8_t { setup, run, operation, after_leaving };
  Place place;

  template <class Group>
  void setup(Group& /*group*/) const {
    if (place == Place::setup) throw Oops{"setup"};
  }
  template <class Group>
  void run(Group& group, Nothing state) const {
    if (place == Place::run) throw 42;  // NOLINT: not a std::exception, on purpose
    if (place == Place::operation) {
      (void)group.reduce(1, [](int, int) -> int { throw Oops{"operation"}; });
    }
    while (!group.offer_kill(state)) std::this_thread::yield();
    if (place == Place::after_leaving) throw Oops{"after leaving"};
  }
};

TYPED_TEST(Exceptions, MayComeFromAnywhereInAKernel) {
  TypeParam engine{{.capacity = capacity}};
  using Place = ThrowingIn::Place;
  for_each_shape([&](Shape shape) {
    const LaunchOptions options{.max_groups = shape.groups, .local_size = shape.local_size};
    EXPECT_THROW(engine.launch(ThrowingIn{Place::setup}, options).wait(), Oops);
    const ScopedJob odd = engine.launch(ThrowingIn{Place::run}, options);
    EXPECT_THROW(odd.wait(), int);
    EXPECT_THAT(odd.report().error, HasSubstr("exception"));
    if (shape.local_size > 1) {
      EXPECT_THROW(engine.launch(ThrowingIn{Place::operation}, options).wait(), Oops);
    }
    if (shape.groups > 1) {
      const ScopedJob job = engine.launch(ThrowingIn{Place::after_leaving}, options);
      job.set_target(1);
      EXPECT_THROW(job.wait(), Oops);
    }
  });
}

/// Handles its own exceptions, and meets the other threads meanwhile.
struct Handling {
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    for (std::uint32_t round = 0; round < 3; ++round) {
      const std::uint32_t mine = group.local_id() * 10 + round;
      try {
        throw mine;  // NOLINT
      } catch (const std::uint32_t& caught) {
        group.barrier();
        if (caught != mine) wrong->fetch_add(1);
        try {
          throw;
        } catch (const std::uint32_t& again) {
          group.barrier();
          if (again != mine) wrong->fetch_add(1);
        }
      }
      if (std::current_exception()) wrong->fetch_add(1);
    }
  }
};

TYPED_TEST(Exceptions, HandledByOneThreadAreNoBusinessOfTheOthers) {
  TypeParam engine{{.capacity = 4}};
  for (const std::uint32_t local_size : {1U, 4U}) {
    std::atomic<std::uint32_t> wrong{0};
    const ScopedJob job =
        engine.launch(Handling{&wrong}, {.max_groups = 4, .local_size = local_size});
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(wrong, 0U);
  }
}

TYPED_TEST(Exceptions, LeaveTheEngineAndOtherJobsAlone) {
  TypeParam engine{{.capacity = capacity}};
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob other = engine.launch(Steps{&board, &stop});
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(engine.launch(Throwing{0, 0, true}, {.max_groups = 4}).wait(), Oops);
  }
  EXPECT_TRUE(eventually([&] { return board.groups == capacity; }));
  stop = true;
  EXPECT_EQ(other.wait().status, Status::finished);
  EXPECT_EQ(board.wrong, 0U);
}

TYPED_TEST(Exceptions, AreWhatSuspendFindsToo) {
  TypeParam engine{{.capacity = 4}};
  const ScopedJob job = engine.launch(Throwing{0, 0, true}, {.max_groups = 2});
  EXPECT_THROW(job.wait(), Oops);
  EXPECT_EQ(job.suspend(), Status::failed);
  EXPECT_THROW(job.resume(), Error);
}

// ---- the engine's end

template <class Engine>
class EngineEnd : public testing::Test {};
TYPED_TEST_SUITE(EngineEnd, Engines, EngineNames);

TYPED_TEST(EngineEnd, CancelsWhatRunsWaitsOrIsSuspended) {
  for_each_shape([](Shape shape) {
    std::vector<Job> jobs;
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> present{0};
    Board board;
    {
      TypeParam engine{{.capacity = 2}};
      const LaunchOptions options{.max_groups = shape.groups, .local_size = shape.local_size};
      jobs.push_back(engine.launch(Steps{&board, &stop}, options));
      ASSERT_EQ(jobs[0].suspend(), Status::suspended);
      jobs.push_back(engine.launch(Steps{&board, &stop}, options));
      jobs.push_back(engine.launch(Offering{&stop, &present}, options));
      jobs.push_back(engine.launch(Offering{&stop, &present}, options));
      EXPECT_EQ(jobs[3].status(), Status::pending);
    }
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
  });
}

TYPED_TEST(EngineEnd, MayComeAtAnyMoment) {
  for (std::uint32_t i = 0; i < scaled(60, 10); ++i) {
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> present{0};
    Board board;
    TypeParam engine{{.capacity = 4}};
    const Job one = engine.launch(Steps{&board, &stop});
    const Job two = engine.launch(Offering{&stop, &present}, {.local_size = 1 + i % 2 * 3});
    one.set_target(1 + i % 4);
    if (i % 3 != 0) std::this_thread::sleep_for(std::chrono::microseconds{i * 7 % 200});
  }
}

TYPED_TEST(EngineEnd, WakesThoseWhoWait) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  auto engine = std::make_unique<TypeParam>(cpu::EngineOptions{.capacity = 2});
  const Job job = engine->launch(Offering{&stop, &present});
  const Job pending =
      engine->launch(Offering{&stop, &present}, {.max_groups = 2, .resizable = false});
  std::vector<std::thread> waiters;
  for (const Job& each : {job, pending}) {
    waiters.emplace_back([each] { EXPECT_EQ(each.wait().status, Status::cancelled); });
  }
  std::this_thread::sleep_for(1ms);
  engine.reset();
  for (auto& waiter : waiters) waiter.join();
}

TYPED_TEST(EngineEnd, LeavesFinishedJobsAsTheyWere) {
  std::vector<Job> jobs;
  {
    TypeParam engine{{.capacity = 4}};
    jobs.push_back(engine.launch(Brief{}));
    jobs.push_back(engine.launch(Throwing{0, 0, false}));
    jobs[0].wait();
    EXPECT_THROW(jobs[1].wait(), Oops);
  }
  EXPECT_EQ(jobs[0].wait().status, Status::finished);
  EXPECT_THROW(jobs[1].wait(), Oops);
}

/// Destroyed with its job, wherever the engine does that; asks another job how it is.
struct Curious {
  struct Question {
    Job other;
    std::atomic<bool>* asked;
    Question(Job whom, std::atomic<bool>* flag) : other(std::move(whom)), asked(flag) {}
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    ~Question() {
      (void)other.status();
      asked->store(true);
    }
  };
  std::shared_ptr<Question> question;

  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {
    std::this_thread::sleep_for(1ms);
  }
};

TYPED_TEST(EngineEnd, AKernelMayUseTheEngineWhenItIsDestroyed) {
  auto engine = std::make_unique<TypeParam>(cpu::EngineOptions{.capacity = 2});
  const Job other = engine->launch(Brief{});
  std::atomic<bool> asked{false};
  (void)engine->launch(Curious{std::make_shared<Curious::Question>(other, &asked)});
  const bool answered = eventually([&] { return asked.load(); });
  EXPECT_TRUE(answered) << "the kernel was destroyed while the engine held its lock";
  if (!answered) (void)engine.release();  // its end would hang
}

}  // namespace
}  // namespace cohort::test
