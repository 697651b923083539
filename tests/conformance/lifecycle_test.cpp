// How jobs end: waiting for them, cancelling them, exceptions, and the end of the engine.
#include <memory>
#include <stdexcept>

#include "conformance/jobs.hpp"
#include "conformance/march.hpp"

namespace cohort::test {
namespace {

using testing::HasSubstr;

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
  const auto report = job.wait_for(long_enough);
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
    while (!told(group, *stop)) {
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
  const bool ended = job.wait_for(long_enough).has_value();
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
    while (!told(group, *stop)) {
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
