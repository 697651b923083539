// Bad use: asking for what cannot run is the documented error, and a kernel that breaks a rule of
// the model makes wait() say which one. Never a hang, never a crash.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "conformance/support.hpp"

namespace cohort::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// What `call` throws: an Error of this code, whose message contains `text`.
template <class Call>
void expect_error(Call call, Errc code, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "no error, but it should say: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

struct Brief {
  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {}
};

/// Offers itself until told to stop.
struct Offering {
  const std::atomic<bool>* stop;

  template <class Group>
  void run(Group& group, Nothing state) const {
    while (!told(group, *stop)) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
  }
};

// ---- options

template <class Engine>
class BadOptions : public testing::Test {};
TYPED_TEST_SUITE(BadOptions, Engines, EngineNames);

TYPED_TEST(BadOptions, OfAnEngineAreRefused) {
  expect_error([] { TypeParam engine{{.capacity = 0}}; }, Errc::bad_options, "capacity of 0");
  expect_error([] { TypeParam engine{{.capacity = max_groups_limit + 1}}; }, Errc::bad_options,
               "1 to 4096");
}

TYPED_TEST(BadOptions, OfALaunchAreRefused) {
  TypeParam engine{{.capacity = 4}};
  const auto refuses = [&engine](const LaunchOptions& options, const std::string& text) {
    SCOPED_TRACE(text);
    expect_error([&] { engine.launch(Brief{}, options); }, Errc::bad_options, text);
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
  refuses({.max_groups = 5, .resizable = false}, "could never start");
  refuses({.max_groups = 4, .start_groups = 2, .resizable = false}, "static launch");
  refuses({.max_groups = 4, .target = 2, .resizable = false}, "static launch");
  EXPECT_EQ(engine.launch(Brief{}).wait().status, Status::finished);  // none of it has stayed
}

TYPED_TEST(BadOptions, AKernelsOwnLimitIsKept) {
  using Small = With<Brief, Traits{.max_local_size = 4}>;
  TypeParam engine{{.capacity = 2}};
  EXPECT_EQ(engine.launch(Small{}, {.local_size = 4}).wait().status, Status::finished);
  expect_error([&] { engine.launch(Small{}, {.local_size = 5}); }, Errc::bad_options,
               "local_size = 5; it can be 1 to 4");
}

TYPED_TEST(BadOptions, LimitsThemselvesAreAllowed) {
  TypeParam engine{{.capacity = 2}};
  EXPECT_EQ(engine.launch(Brief{}, {.max_groups = max_groups_limit}).wait().status,
            Status::finished);
  EXPECT_EQ(engine.launch(Brief{}, {.max_groups = 1, .local_size = max_local_size}).wait().status,
            Status::finished);
  EXPECT_EQ(engine.launch(Brief{}, {.max_groups = 4, .start_groups = 4}).wait().status,
            Status::finished);
  EXPECT_EQ(engine.launch(Brief{}, {.max_groups = 2, .resizable = false}).wait().status,
            Status::finished);
  EXPECT_EQ(engine.launch(Brief{}, {.offer_wait = -1s}).wait().status, Status::finished);
}

// ---- calls that do not fit the job's state

template <class Engine>
class BadState : public testing::Test {};
TYPED_TEST_SUITE(BadState, Engines, EngineNames);

TYPED_TEST(BadState, ResumeOfAJobThatIsNotSuspended) {
  TypeParam engine{{.capacity = 1}};
  std::atomic<bool> stop{false};
  const ScopedJob running = engine.launch(Offering{&stop});
  const ScopedJob pending = engine.launch(Offering{&stop});
  ASSERT_TRUE(eventually([&] { return running.status() == Status::running; }));
  expect_error([&] { running.resume(); }, Errc::bad_state, "the job is running, not suspended");
  expect_error([&] { pending.resume(); }, Errc::bad_state, "the job is pending");
  pending.cancel();
  expect_error([&] { pending.resume(); }, Errc::bad_state, "the job is cancelled");
  ASSERT_EQ(running.suspend(), Status::suspended);
  running.resume();
  expect_error([&] { running.resume(); }, Errc::bad_state, "not suspended");
  stop = true;
  EXPECT_EQ(running.wait().status, Status::finished);
  expect_error([&] { running.resume(); }, Errc::bad_state, "the job is finished");
}

/// Transmits a state but does not hand it over when it offers itself.
struct NotSuspendable {
  static constexpr Traits traits{.suspendable = false};
  struct State {
    std::uint32_t number = 0;
  };
  const std::atomic<bool>* stop;

  template <class Group>
  void run(Group& group, State /*state*/) const {
    while (!told(group, *stop)) {
      if (group.offer_kill()) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(BadState, SuspendOfAJobThatCannotBe) {
  TypeParam engine{{.capacity = 2}};
  std::atomic<bool> stop{false};
  const ScopedJob declared = engine.launch(NotSuspendable{&stop}, {.max_groups = 1});
  expect_error([&] { declared.suspend(); }, Errc::not_suspendable, "suspendable = false");
  const ScopedJob fixed = engine.launch(Offering{&stop}, {.max_groups = 1, .resizable = false});
  expect_error([&] { fixed.suspend(); }, Errc::not_suspendable, "static launch");
  const ScopedJob pending = engine.launch(NotSuspendable{&stop}, {.max_groups = 1});
  expect_error([&] { pending.suspend(); }, Errc::not_suspendable, "suspendable = false");
  stop = true;
  EXPECT_EQ(declared.wait().status, Status::finished);  // untouched
  EXPECT_EQ(fixed.wait().status, Status::finished);
  EXPECT_EQ(pending.wait().status, Status::finished);
}

struct MayLeave : Offering {
  static constexpr Traits traits{.survivors = Survivors::may_all_leave};
};

/// Waits for the job that it belongs to, or suspends it.
struct WaitsForItself {
  const std::atomic<const Job*>* own;
  bool suspends;

  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {
    hold_until([this] { return own->load() != nullptr; });
    if (suspends) own->load()->suspend();
    own->load()->wait();
  }
};

/// The code of the Error that `call` throws.
template <class Call>
std::optional<Errc> refused(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

TYPED_TEST(BadState, AGroupWaitsForItsOwnJob) {
  TypeParam engine{{.capacity = 2}};
  for (const bool suspends : {false, true}) {
    std::atomic<const Job*> own{nullptr};
    const ScopedJob job = engine.launch(WaitsForItself{&own, suspends}, {.max_groups = 1});
    own = &job;
    EXPECT_EQ(refused([&] { job.wait(); }), Errc::bad_state);
  }
}

TYPED_TEST(BadState, ATaskWaitsForATaskThatNeedsItsUnit) {
  TypeParam engine{{.capacity = 1}};
  const auto with_subtask = [&engine](std::uint32_t groups) {
    return engine.submit([&engine, groups] { engine.submit([] {}, {.groups = groups}).wait(); });
  };
  EXPECT_EQ(refused([&] { with_subtask(1).wait(); }), Errc::bad_state);
  engine.set_capacity(2);
  EXPECT_EQ(with_subtask(1).wait().status, Status::finished);
  EXPECT_EQ(refused([&] { with_subtask(2).wait(); }), Errc::bad_state);
}

TYPED_TEST(BadState, TasksWaitForTasksThatNeedTheirUnits) {
  TypeParam engine{{.capacity = 2}};
  std::atomic<std::uint32_t> started{0};
  const auto task = [&] {
    ++started;
    hold_until([&] { return started == 2; });
    engine.submit([] {}).wait();
  };
  const Task tasks[] = {engine.submit(task), engine.submit(task)};
  int failures = 0;
  for (const Task& each : tasks) {
    try {
      each.wait();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_state);
      ++failures;
    }
  }
  EXPECT_EQ(failures, 1) << "the unit of the first one serves the other";
}

TYPED_TEST(BadState, AnEngineIsUsedInAForkedChild) {
  if (thread_sanitized) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  auto engine = std::make_unique<TypeParam>(cpu::EngineOptions{.capacity = 2});
  std::atomic<bool> stop{false};
  const Job job = engine->launch(Offering{&stop});
  std::thread waiting{[&job] { job.wait(); }};
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // ends a child that hangs
    bool right = refused([&] { engine->submit([] {}); }) == Errc::engine_gone;
    right = right && refused([&] { engine->launch(Brief{}); }) == Errc::engine_gone;
    right = right && refused([&] { job.wait(); }) == Errc::engine_gone;
    right = right && refused([&] { job.suspend(); }) == Errc::engine_gone;
    job.cancel();
    engine.reset();
    TypeParam another{{.capacity = 1}};
    right = right && another.submit([] {}).wait().status == Status::finished;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  stop = true;
  waiting.join();
  EXPECT_EQ(job.wait().status, Status::finished) << "the parent's goes on";
}

TYPED_TEST(BadState, TargetsThatTheJobCannotHave) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> stop{false};
  const ScopedJob job = engine.launch(Offering{&stop}, {.max_groups = 3});
  expect_error([&] { job.set_target(0); }, Errc::bad_options, "this job can have 1 to 3");
  expect_error([&] { job.set_target(4); }, Errc::bad_options, "4 groups");
  const ScopedJob leaving = engine.launch(MayLeave{{&stop}}, {.max_groups = 3});
  expect_error([&] { leaving.set_target(4); }, Errc::bad_options, "this job can have 0 to 3");
  const ScopedJob fixed = engine.launch(Offering{&stop}, {.max_groups = 1, .resizable = false});
  expect_error([&] { fixed.set_target(1); }, Errc::bad_state, "static launch");
  expect_error([&] { fixed.reset_target(); }, Errc::bad_state, "static launch");
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(leaving.wait().status, Status::finished);
  EXPECT_EQ(fixed.wait().status, Status::finished);
}

// ---- broken contracts

template <class Engine>
class BrokenContract : public testing::Test {};
TYPED_TEST_SUITE(BrokenContract, Engines, EngineNames);

constexpr const char* returned_in_barrier = "returned while others waited for it at barrier ";
constexpr const char* barrier_after_return = ", but another group has already returned";
constexpr const char* different_barriers = "groups met at different barriers";
constexpr const char* different_functions = " called different group-level functions";
constexpr const char* went_on = " after a primitive had told it to leave";
constexpr const char* where_to_look = "; run the kernel under cohort::explore";

/// The job fails as a broken contract, with one of these messages, in wait() and in the report.
template <class Matcher>
void expect_broken(const Job& job, const Matcher& message) {
  try {
    const Report report = job.wait();
    ADD_FAILURE() << "the job ended as " << cohort::to_string(report.status);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::broken_contract);
    EXPECT_THAT(error.what(), AllOf(message, HasSubstr(where_to_look)));
  }
  EXPECT_EQ(job.status(), Status::failed);
  EXPECT_THAT(job.report().error, message);
}

/// One group returns, the others go to a barrier.
struct ReturnsEarly {
  std::uint32_t early;
  bool resizing;
  std::chrono::microseconds after;  // how long it stays first

  template <class Group>
  void run(Group& group, Nothing state) const {
    if (group.group_id() == early) {
      std::this_thread::sleep_for(after);
      return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds{300} - after);
    for (;;) {
      if (resizing) {
        if (group.resizing_global_barrier(state)) return;
      } else {
        group.global_barrier();
      }
    }
  }
};

TYPED_TEST(BrokenContract, AGroupReturnsWhileOthersWaitForItOrBeforeTheyDo) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    if (shape.groups == 1) return;
    for (const bool resizable : {true, false}) {
      for (const bool resizing : {false, true}) {
        for (const std::uint32_t early : {0U, shape.groups - 1}) {
          for (const auto after : {0us, 300us}) {
            using Kernel = With<ReturnsEarly, Traits{.barrier = barrier}>;
            const ScopedJob job =
                engine.launch(Kernel{{early, resizing, after}}, {.max_groups = shape.groups,
                                                                 .local_size = shape.local_size,
                                                                 .resizable = resizable});
            expect_broken(job,
                          AnyOf(HasSubstr(returned_in_barrier), HasSubstr(barrier_after_return)));
          }
        }
      }
    }
  });
}

/// Group 1 returns before group 0 arrives at a barrier.
struct ReturnsFirst {
  const std::atomic<bool>* returned;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    for (int i = 0; i < 3; ++i) group.global_barrier();
    if (group.group_id() != 0) return;
    hold_until([&] { return returned->load(); });
    group.global_barrier();
  }
};

/// Group 1 returns after group 0 has arrived at a barrier: its offer waits for group 2, whose turn
/// it would be, and ends when a group arrives.
struct ArrivesFirst {
  const std::atomic<bool>* over;

  template <class Group>
  void run(Group& group, Nothing state) const {
    hold_until([&] { return group.query() > 0; });
    if (group.group_id() == 0) group.global_barrier();
    if (group.group_id() == 1 && group.offer_kill(state)) return;
    if (group.group_id() == 2) hold_until([&] { return over->load(); });
  }
};

TYPED_TEST(BrokenContract, TheMessageSaysWhichCameFirstAndNamesTheGroupAndTheBarrier) {
  TypeParam engine{{.capacity = capacity}};
  Lookout returned{Trace::finish};
  const ScopedJob first =
      engine.launch(ReturnsFirst{&returned.seen}, {.max_groups = 2, .tracer = &returned});
  expect_broken(
      first, HasSubstr("group 0 is at barrier 3, but another group has already returned"));
  Lookout over{Trace::fault};
  const ScopedJob second =
      engine.launch(ArrivesFirst{&over.seen}, {.max_groups = 3, .offer_wait = 1h, .tracer = &over});
  second.set_target(1);
  expect_broken(second,
                HasSubstr("group 1 returned while others waited for it at barrier 0"));
}

/// Group 0 and the others, or the last and the others, stand at different barriers.
struct Divergent {
  std::uint32_t odd_one;
  bool odd_resizes;
  std::uint32_t rounds_before;

  template <class Group>
  void run(Group& group, Nothing state) const {
    for (std::uint32_t i = 0; i < rounds_before; ++i) {
      group.global_barrier();
      if (group.resizing_global_barrier(state)) return;
    }
    if ((group.group_id() == odd_one) == odd_resizes) {
      if (group.resizing_global_barrier(state)) return;
    } else {
      group.global_barrier();
    }
  }
};

TYPED_TEST(BrokenContract, GroupsMeetAtDifferentBarriers) {
  TypeParam engine{{.capacity = capacity}};
  const auto run = [&]<Traits traits>(Shape shape, bool resizable) {
    for (const std::uint32_t odd_one : {0U, shape.groups - 1}) {
      for (const bool odd_resizes : {false, true}) {
        for (const std::uint32_t rounds : {0U, 1U, 2U}) {
          const ScopedJob job = engine.launch(
              With<Divergent, traits>{{odd_one, odd_resizes, rounds}},
              {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = resizable});
          // Who has passed its own barrier may return before the others notice.
          expect_broken(job, HasSubstr(different_barriers));
        }
      }
    }
  };
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    if (shape.groups == 1) return;
    run.template operator()<Traits{.barrier = barrier}>(shape, true);
    run.template operator()<Traits{.barrier = barrier}>(shape, false);
    run.template operator()<Traits{.resizes = Resizes::at_barriers, .barrier = barrier}>(shape,
                                                                                         true);
  });
}

/// The same with a resize on its way.
struct DivergentUnderDemand : Divergent {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  std::atomic<std::uint32_t>* started = nullptr;
  const std::atomic<bool>* go = nullptr;

  template <class Group>
  void run(Group& group, Nothing state) const {
    if (leader(group)) started->fetch_add(1);
    hold_until([&] { return go->load(); });
    Divergent::run(group, state);
  }
};

TYPED_TEST(BrokenContract, GroupsMeetAtDifferentBarriersWhileSomeAreWantedBack) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    if (shape.groups == 1) return;
    for (const std::uint32_t odd_one : {0U, shape.groups - 1}) {
      for (const bool odd_resizes : {false, true}) {
        std::atomic<std::uint32_t> started{0};
        std::atomic<bool> go{false};
        const ScopedJob job =
            engine.launch(DivergentUnderDemand{{odd_one, odd_resizes, 0}, &started, &go},
                          {.max_groups = shape.groups, .local_size = shape.local_size});
        ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
        job.set_target(1);
        go = true;
        expect_broken(job, HasSubstr(different_barriers));
      }
    }
  });
}

/// A step whose groups disagree about the barrier inside it.
struct DivergentSteps {
  template <class Group>
  Next step(Group& group, Nothing& /*state*/) const {
    if (group.group_id() == 0) group.global_barrier();
    return Next::again;
  }
};

TYPED_TEST(BrokenContract, ABarrierWithinAStepIsNotTheOneAfterIt) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    if (shape.groups == 1) return;
    for (const bool resizable : {true, false}) {
      const ScopedJob job = engine.launch(
          With<DivergentSteps, Traits{.barrier = barrier}>{},
          {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = resizable});
      expect_broken(job, HasSubstr(different_barriers));
    }
  });
}

/// The threads of one group part ways.
struct TornGroup {
  enum class Way : std::uint8_t {
    barrier_or_offer,
    barrier_or_global,
    global_or_resizing,
    reduce_or_scan,
    query_or_fork,
    kill_or_offer,
    early_return,
    late_return,
  };
  Way way;
  std::uint32_t odd_thread;
  std::uint32_t odd_group;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const bool odd = group.local_id() == odd_thread && group.group_id() == odd_group;
    const auto plus = [](int a, int b) { return a + b; };
    group.global_barrier();
    bool left = false;
    switch (way) {
      case Way::barrier_or_offer:
        if (odd) group.barrier();
        if (!odd) left = group.offer_kill(state);
        break;
      case Way::barrier_or_global:
        if (odd) group.barrier();
        group.global_barrier();
        break;
      case Way::global_or_resizing:
        if (odd) group.global_barrier();
        if (!odd) left = group.resizing_global_barrier(state);
        break;
      case Way::reduce_or_scan:
        (void)(odd ? group.reduce(1, plus) : group.inclusive_scan(1, plus));
        break;
      case Way::query_or_fork: (void)(odd ? group.query() : group.request_fork(state)); break;
      case Way::kill_or_offer: left = odd ? group.offer_kill(state) : group.offer(state); break;
      case Way::early_return:
        if (odd) return;
        break;
      case Way::late_return:
        if (!odd) return;
        break;
    }
    if (!left) group.global_barrier();
  }
};

TYPED_TEST(BrokenContract, TheThreadsOfAGroupCallDifferentFunctions) {
  TypeParam engine{{.capacity = capacity}};
  using Way = TornGroup::Way;
  for_each_barrier([&]<ResizingBarrier barrier>() {
    for (const Way way : {Way::barrier_or_offer, Way::barrier_or_global, Way::global_or_resizing,
                          Way::reduce_or_scan, Way::query_or_fork, Way::kill_or_offer,
                          Way::early_return, Way::late_return}) {
      SCOPED_TRACE(testing::Message() << "way " << static_cast<int>(way));
      for (const std::uint32_t groups : {1U, 2U, 5U}) {
        for (const std::uint32_t odd_thread : {0U, 3U}) {
          using Kernel = With<TornGroup, Traits{.barrier = barrier}>;
          const ScopedJob job = engine.launch(Kernel{{way, odd_thread, groups - 1}},
                                              {.max_groups = groups, .local_size = 4});
          expect_broken(job, HasSubstr(different_functions));
        }
      }
    }
  });
}

/// Ignores that it has been told to leave.
struct Stubborn {
  enum class Then : std::uint8_t { offers_again, asks, global_barrier, resizing_barrier };
  Then then;
  bool at_barrier;  // it is told so by a resizing barrier

  template <class Group>
  void run(Group& group, Nothing state) const {
    while (at_barrier ? !group.resizing_global_barrier(state) : !group.offer_kill(state)) {
    }
    for (;;) {
      switch (then) {
        case Then::offers_again: (void)group.offer_kill(state); break;
        case Then::asks: (void)group.query(); break;
        case Then::global_barrier: group.global_barrier(); break;
        case Then::resizing_barrier: (void)group.resizing_global_barrier(state); break;
      }
    }
  }
};

TYPED_TEST(BrokenContract, AGroupGoesOnAfterItWasToldToLeave) {
  TypeParam engine{{.capacity = capacity}};
  using Then = Stubborn::Then;
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    if (shape.groups == 1) return;
    for (const Then then :
         {Then::offers_again, Then::asks, Then::global_barrier, Then::resizing_barrier}) {
      for (const bool at_barrier : {false, true}) {
        using Kernel = With<Stubborn, Traits{.barrier = barrier}>;
        const ScopedJob job =
            engine.launch(Kernel{{then, at_barrier}},
                          {.max_groups = shape.groups, .local_size = shape.local_size});
        job.set_target(1);
        expect_broken(job, HasSubstr(went_on));
      }
    }
  });
}

TYPED_TEST(BrokenContract, LeavesTheEngineInGoodOrder) {
  TypeParam engine{{.capacity = 4}};
  for (std::uint32_t i = 0; i < scaled(50, 10); ++i) {
    const ScopedJob broken =
        engine.launch(TornGroup{TornGroup::Way::early_return, i % 4, 0}, {.local_size = 4});
    EXPECT_THROW(broken.wait(), Error);
    EXPECT_EQ(broken.suspend(), Status::failed);
    EXPECT_EQ(engine.launch(Brief{}, {.local_size = 4}).wait().status, Status::finished);
  }
}

// ---- exhaustion: last, since where it is not handled the process ends

template <class Engine>
class Exhaustion : public testing::Test {};
TYPED_TEST_SUITE(Exhaustion, Engines, EngineNames);

/// Lets this process have only so much more address space, while it lives.
class AddressLimit {
 public:
  explicit AddressLimit(std::size_t more) {
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + more;
    ::setrlimit(RLIMIT_AS, &now);
  }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;
  ~AddressLimit() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TYPED_TEST(Exhaustion, NoMemoryForTheThreadsOfAGroupFailsTheJobNotTheProcess) {
  if (sanitized) GTEST_SKIP() << "a sanitizer needs all the address space itself";
  TypeParam engine{{.capacity = 8}};
  for (const bool resizable : {true, false}) {
    const AddressLimit limit{512UL << 20U};
    const ScopedJob job =
        engine.launch(Brief{}, {.local_size = max_local_size, .resizable = resizable});
    EXPECT_ANY_THROW(job.wait());
    EXPECT_EQ(job.status(), Status::failed);
  }
  EXPECT_EQ(engine.launch(Brief{}).wait().status, Status::finished);
}

}  // namespace
}  // namespace cohort::test
