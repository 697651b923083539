// The primitives that move single groups (section 3.1 of the paper): offer_kill, request_fork,
// offer, query; and the alternatives of its appendix B.
#include "conformance/support.hpp"

namespace cohort::test {
namespace {

using testing::Each;
using testing::ElementsAreArray;
using testing::Le;

// ---- offer_kill

template <class Engine>
class OfferKill : public testing::Test {};
TYPED_TEST_SUITE(OfferKill, Engines, EngineNames);

/// Every group offers itself again and again until told to stop.
struct Offering {
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* started;
  Notes* left;
  Notes* returned;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    if (leader(group)) started->fetch_add(1);
    while (!told(group, *stop)) {
      if (group.offer_kill(state)) {
        if (!leader(group)) return;
        if (group.num_groups() != id)
          wrong->fetch_add(1);  // the highest of M + 1 has left M behind
        left->add(id);
        return;
      }
      if (group.group_id() != id) wrong->fetch_add(1);
      std::this_thread::yield();
    }
    if (leader(group)) returned->add(id);
  }
};

TYPED_TEST(OfferKill, TakesTheHighestGroupsOneByOneDownToTheTarget) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    for (std::uint32_t target = 1; target <= shape.groups; target += 3) {
      std::atomic<bool> stop{false};
      std::atomic<std::uint32_t> started{0};
      std::atomic<std::uint32_t> wrong{0};
      Notes left;
      Notes returned;
      const ScopedJob job =
          engine.launch(Offering{&stop, &started, &left, &returned, &wrong},
                        {.max_groups = shape.groups, .local_size = shape.local_size});
      ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
      job.set_target(target);
      EXPECT_TRUE(eventually([&] { return left.size() == shape.groups - target; }));
      stop = true;
      const Report report = job.wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_EQ(wrong, 0U);
      EXPECT_THAT(left.sorted(), ElementsAreArray(numbers(target, shape.groups)));
      EXPECT_THAT(returned.sorted(), ElementsAreArray(numbers(0, target)));
      EXPECT_EQ(report.leaves, shape.groups - target);
    }
  });
}

/// Offers a fixed number of times.
struct OfferingOften {
  std::uint32_t times;
  Notes* left;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    for (std::uint32_t i = 0; i < times; ++i) {
      if (group.offer_kill(state)) {
        if (leader(group)) left->add(id);
        return;
      }
    }
  }
};

TYPED_TEST(OfferKill, IsANoOpWhileNothingIsWanted) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    Notes left;
    const ScopedJob job =
        engine.launch(OfferingOften{scaled(1000), &left},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    const Report report = job.wait();
    EXPECT_EQ(report.status, Status::finished);
    EXPECT_EQ(report.leaves, 0U);
    EXPECT_EQ(left.size(), 0U);
  });
}

TYPED_TEST(OfferKill, NeverTakesGroupZero) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    Notes left;
    const ScopedJob job =
        engine.launch(OfferingOften{scaled(1000, 200), &left}, {.max_groups = shape.groups,
                                                                .start_groups = shape.groups,
                                                                .target = 1,
                                                                .local_size = shape.local_size});
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_THAT(left.all(), Each(testing::Gt(0U)));
  });
}

TYPED_TEST(OfferKill, LeavesAStaticLaunchAlone) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    Notes left;
    const ScopedJob job = engine.launch(
        OfferingOften{100, &left},
        {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = false});
    const Report report = job.wait();
    EXPECT_EQ(report.status, Status::finished);
    EXPECT_EQ(report.start_groups, shape.groups);
    EXPECT_EQ(report.leaves + left.size(), 0U);
  });
}

/// The highest group waits for a flag that the group below sets only after an offer of its own.
struct TopWaitsForLower {
  const std::atomic<bool>* go;
  std::atomic<bool>* flag;
  std::atomic<std::uint32_t>* started;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    const std::uint32_t groups = group.num_groups();
    if (leader(group)) started->fetch_add(1);
    hold_until([&] { return go->load(); });
    if (id + 1 == groups) {
      hold_until([&] { return flag->load(); });
      return;
    }
    if (group.offer_kill(state)) return;
    if (id + 2 == groups) flag->store(true);
  }
};

TYPED_TEST(OfferKill, DoesNotWaitForTheGroupsAboveForLong) {
  TypeParam engine{{.capacity = capacity}};
  for (const auto patience : {0us, 100us, 20000us}) {
    for_each_shape([&](Shape shape) {
      if (shape.groups == 1) return;
      std::atomic<bool> go{false};
      std::atomic<bool> flag{false};
      std::atomic<std::uint32_t> started{0};
      const ScopedJob job = engine.launch(
          TopWaitsForLower{&go, &flag, &started},
          {.max_groups = shape.groups, .local_size = shape.local_size, .offer_wait = patience});
      ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
      job.set_target(1);
      go = true;
      const Report report = job.wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_EQ(report.leaves, 0U);  // the highest never offered
    });
  }
}

/// Each group offers itself just once; group 0 stays until it has seen the others go.
struct OfferingOnce {
  const std::atomic<bool>* go;
  std::atomic<std::uint32_t>* started;
  Notes* left;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    const std::uint32_t groups = group.num_groups();
    if (leader(group)) started->fetch_add(1);
    hold_until([&] { return go->load(); });
    if (group.offer_kill(state)) {
      if (leader(group)) left->add(id);
      return;
    }
    hold_until([&] { return left->size() == groups - 1; });
  }
};

TYPED_TEST(OfferKill, WaitsForItsTurnSoThatOneOfferEachIsEnough) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<bool> go{false};
    std::atomic<std::uint32_t> started{0};
    Notes left;
    const ScopedJob job = engine.launch(
        OfferingOnce{&go, &started, &left},
        {.max_groups = shape.groups, .local_size = shape.local_size, .offer_wait = 1h});
    ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
    job.set_target(1);
    go = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_THAT(left.sorted(), ElementsAreArray(numbers(1, shape.groups)));
  });
}

/// All but the highest group offer themselves; the highest does something else, which must end
/// their waiting.
struct TopDoesNotOffer {
  enum class Instead : std::uint8_t { arrives, returns, stays };
  Instead instead;
  const std::atomic<bool>* go;
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* started;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const bool top = group.group_id() + 1 == group.num_groups();
    if (leader(group)) started->fetch_add(1);
    hold_until([&] { return go->load(); });
    if (!top && group.offer_kill(state)) return;
    if (top && instead == Instead::stays) hold_until([&] { return stop->load(); });
    if (instead == Instead::arrives) group.global_barrier();
  }
};

TYPED_TEST(OfferKill, StopsWaitingWhenAGroupArrivesAtABarrierOrReturns) {
  TypeParam engine{{.capacity = capacity}};
  for (const auto instead :
       {TopDoesNotOffer::Instead::arrives, TopDoesNotOffer::Instead::returns}) {
    for_each_shape([&](Shape shape) {
      std::atomic<bool> go{false};
      std::atomic<bool> stop{false};
      std::atomic<std::uint32_t> started{0};
      const ScopedJob job = engine.launch(
          TopDoesNotOffer{instead, &go, &stop, &started},
          {.max_groups = shape.groups, .local_size = shape.local_size, .offer_wait = 1h});
      ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
      job.set_target(1);
      go = true;
      const Report report = job.wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_EQ(report.leaves, 0U);
    });
  }
}

TYPED_TEST(OfferKill, StopsWaitingWhenTheTargetRisesOrTheJobIsCancelled) {
  TypeParam engine{{.capacity = capacity}};
  for (const bool cancelled : {false, true}) {
    for_each_shape([&](Shape shape) {
      if (shape.groups < 3) return;  // nobody but the highest is surplus
      std::atomic<bool> go{false};
      std::atomic<bool> stop{false};
      std::atomic<std::uint32_t> started{0};
      const ScopedJob job = engine.launch(
          TopDoesNotOffer{TopDoesNotOffer::Instead::stays, &go, &stop, &started},
          {.max_groups = shape.groups, .local_size = shape.local_size, .offer_wait = 1h});
      ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
      job.set_target(1);
      go = true;
      std::this_thread::sleep_for(1ms);  // most of them are asleep by now
      if (cancelled) {
        job.cancel();
      } else {
        job.reset_target();
      }
      stop = true;
      EXPECT_EQ(job.wait().leaves, 0U);
    });
  }
}

/// One group returns at once; the others go on offering themselves until told to stop.
struct OneReturnsEarly {
  std::uint32_t early;
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* started;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t groups = group.num_groups();
    if (leader(group)) started->fetch_add(1);
    hold_until([&] { return started->load() == groups; });
    if (group.group_id() == early) return;
    while (!told(group, *stop)) {
      if (group.offer_kill(state)) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(OfferKill, TakesNobodyBecauseAnotherHasReturned) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    for (const std::uint32_t early : {0U, shape.groups / 2, shape.groups - 1}) {
      std::atomic<bool> stop{false};
      std::atomic<std::uint32_t> started{0};
      const ScopedJob job =
          engine.launch(OneReturnsEarly{early, &stop, &started},
                        {.max_groups = shape.groups, .local_size = shape.local_size});
      ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
      std::this_thread::sleep_for(500us);  // for one that leaves though nobody wants it back
      stop = true;
      const Report report = job.wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_EQ(report.leaves, 0U);
    }
  });
}

// ---- request_fork

template <class Engine>
class RequestFork : public testing::Test {};
TYPED_TEST_SUITE(RequestFork, Engines, EngineNames);

/// Every group forks until told to stop, and transmits who it is.
struct Forking {
  struct alignas(64) State {
    std::uint32_t forker = 1000;  // nobody's id: what the first groups start with
    std::uint32_t thread = 1000;
  };
  bool only_zero;  // whether group 0 alone forks
  const std::atomic<bool>* stop;
  Ids* ids;
  Notes* first;
  Notes* joined;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, State state) const {
    const auto expect = [&](bool right) { wrong->fetch_add(right ? 0 : 1); };
    const std::uint32_t id = group.group_id();
    if (leader(group)) ids->enter(id);
    if (group.joined()) {
      expect(state.forker < group.max_groups() && state.forker != id);
      expect(!only_zero || state.forker == 0);
      expect(state.thread == 0);  // thread 0 transmits, whatever the others hold
    } else {
      expect(state.forker == 1000 && state.thread == 1000);
    }
    if (leader(group)) (group.joined() ? joined : first)->add(id);
    const State mine{.forker = id, .thread = group.local_id()};
    while (!told(group, *stop)) {
      if (id == 0 || !only_zero) {
        const std::uint32_t before = group.num_groups();
        const std::uint32_t forked = group.request_fork(mine);
        expect(!only_zero || group.num_groups() == before + forked);
        expect(group.num_groups() <= group.max_groups());
      }
      std::this_thread::yield();
    }
    expect(group.group_id() == id);
    if (leader(group)) ids->exit(id);
  }
};

/// One run of Forking, up to `target` groups.
template <class Engine>
void grow(Engine& engine, Shape shape, std::uint32_t start, std::uint32_t target, bool only_zero) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> wrong{0};
  Ids ids;
  Notes first;
  Notes joined;
  const ScopedJob job = engine.launch(Forking{only_zero, &stop, &ids, &first, &joined, &wrong},
                                      {.max_groups = shape.groups,
                                       .start_groups = start,
                                       .target = target,
                                       .local_size = shape.local_size});
  EXPECT_TRUE(eventually([&] { return first.size() + joined.size() == target; }));
  std::this_thread::sleep_for(200us);  // for one too many to come
  stop = true;
  const Report report = job.wait();
  EXPECT_EQ(report.status, Status::finished);
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(ids.clashes(), 0U);
  EXPECT_EQ(report.start_groups, start);
  EXPECT_EQ(report.joins, target - start);
  EXPECT_THAT(first.sorted(), ElementsAreArray(numbers(0, start)));
  EXPECT_THAT(joined.sorted(), ElementsAreArray(numbers(start, target)));
}

TYPED_TEST(RequestFork, JoinersStartWithTheForkersStateAndTheNextIds) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) { grow(engine, shape, 1, shape.groups, true); });
}

TYPED_TEST(RequestFork, AnyGroupMayForkJoinersToo) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape(
      [&](Shape shape) { grow(engine, shape, (shape.groups + 1) / 2, shape.groups, false); });
}

TYPED_TEST(RequestFork, NeverGoesAboveTheTarget) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) { grow(engine, shape, 1, (shape.groups + 1) / 2, false); });
}

/// Forks a fixed number of times.
struct ForkingOften {
  std::uint32_t times;
  std::atomic<std::uint32_t>* forked;

  template <class Group>
  void run(Group& group, Nothing state) const {
    for (std::uint32_t i = 0; i < times; ++i) {
      const std::uint32_t added = group.request_fork(state);
      if (leader(group)) forked->fetch_add(added);
    }
  }
};

TYPED_TEST(RequestFork, AddsNobodyWhereThereIsNoRoom) {
  for (const std::uint32_t local_size : {1U, 4U}) {
    TypeParam engine{{.capacity = 1}};
    std::atomic<std::uint32_t> forked{0};
    const ScopedJob job =
        engine.launch(ForkingOften{100, &forked}, {.max_groups = 4, .local_size = local_size});
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(forked, 0U);
  }
}

TYPED_TEST(RequestFork, ReturnsHowManyJoined) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<std::uint32_t> forked{0};
    const ScopedJob job = engine.launch(
        ForkingOften{scaled(2000), &forked},
        {.max_groups = shape.groups, .start_groups = 1, .local_size = shape.local_size});
    EXPECT_EQ(job.wait().joins, forked);
    EXPECT_THAT(forked.load(), Le(shape.groups - 1));
  });
}

TYPED_TEST(RequestFork, AddsNobodyToAStaticLaunch) {
  TypeParam engine{{.capacity = capacity}};
  std::atomic<std::uint32_t> forked{0};
  const ScopedJob job =
      engine.launch(ForkingOften{100, &forked}, {.max_groups = 4, .resizable = false});
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(forked, 0U);
}

/// Group 0 forks once more after another group has returned.
struct ForkingAfterAReturn {
  const std::atomic<bool>* others_wait;  // groups wait in the lobby
  std::atomic<bool>* returned;
  std::atomic<std::uint32_t>* forked;

  template <class Group>
  void run(Group& group, Nothing state) const {
    if (group.group_id() != 0) return;
    hold_until([&] { return others_wait->load(); });
    hold_until([&] { return returned->load(); });
    for (int i = 0; i < 1000; ++i) forked->fetch_add(group.request_fork(state));
  }
};

TYPED_TEST(RequestFork, AddsNobodyOnceAGroupHasReturned) {
  TypeParam engine{{.capacity = 4}};
  Lookout lookout{Trace::finish};
  std::atomic<bool> others_wait{false};
  std::atomic<std::uint32_t> forked{0};
  const ScopedJob job = engine.launch(ForkingAfterAReturn{&others_wait, &lookout.seen, &forked},
                                      {.max_groups = 4, .start_groups = 2, .tracer = &lookout});
  std::this_thread::sleep_for(2ms);  // two more reach the lobby, unless the return comes first
  others_wait = true;
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(forked, 0U);
}

// ---- offer: both in one

template <class Engine>
class Offer : public testing::Test {};
TYPED_TEST_SUITE(Offer, Engines, EngineNames);

/// Work stealing at its barest: groups come and go at one offer, and count themselves.
struct ComingAndGoing {
  struct State {
    std::uint32_t transmitted = 0;
  };
  const std::atomic<bool>* stop;
  Ids* ids;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, State state) const {
    const std::uint32_t id = group.group_id();
    if (group.joined() && state.transmitted != 7) wrong->fetch_add(1);
    state.transmitted = 7;
    for (;;) {
      if (leader(group)) ids->enter(id);
      std::this_thread::yield();
      if (group.group_id() != id) wrong->fetch_add(1);
      const bool last = told(group, *stop);
      if (leader(group)) ids->exit(id);
      if (last || group.offer(state)) return;
    }
  }
};

template <class Kernel, class Engine>
void follow_targets(Engine& engine, Shape shape) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> wrong{0};
  Ids ids;
  const ScopedJob job = engine.launch(Kernel{&stop, &ids, &wrong},
                                      {.max_groups = shape.groups, .local_size = shape.local_size});
  const auto sizes = [&job] { return job.report().sizes; };
  const std::uint32_t half = (shape.groups + 1) / 2;
  for (std::uint32_t i = 0; i < scaled(3); ++i) {
    for (const std::uint32_t target : {1U, shape.groups, half, 1U, half, shape.groups}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] {
        const auto now = sizes();
        return !now.empty() && now.back().groups == target;
      })) << "target "
          << target;
    }
  }
  stop = true;
  const Report report = job.wait();
  EXPECT_EQ(report.status, Status::finished);
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(ids.clashes(), 0U);
  EXPECT_THAT(ids.most_inside(), Le(shape.groups));
  EXPECT_EQ(report.start_groups + report.joins - report.leaves, shape.groups);
}

TYPED_TEST(Offer, FollowsTheTargetDownAndUp) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) { follow_targets<ComingAndGoing>(engine, shape); });
}

// ---- query

template <class Engine>
class Query : public testing::Test {};
TYPED_TEST_SUITE(Query, Engines, EngineNames);

/// Waits until query() gives what the host says, and says so.
struct Asking {
  const std::atomic<std::uint32_t>* expected;
  std::atomic<std::uint32_t>* agreed;  // groups that have got each answer so far
  std::uint32_t questions;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    for (std::uint32_t i = 0; i < questions; ++i) {
      hold_until(
          [&] { return agreed->load() >= i * group.num_groups() && group.query() == expected[i]; });
      if (leader(group)) agreed->fetch_add(1);
    }
  }
};

TYPED_TEST(Query, TellsHowManyGroupsTheSchedulerWantsBack) {
  TypeParam engine{{.capacity = capacity}};
  for (const std::uint32_t groups : {1U, 2U, 5U, 16U}) {
    const std::uint32_t half = (groups + 1) / 2;
    std::atomic<std::uint32_t> expected[] = {0, groups - 1, groups - half, 0};
    std::atomic<std::uint32_t> agreed{0};
    const ScopedJob job = engine.launch(Asking{expected, &agreed, 4}, {.max_groups = groups});
    EXPECT_TRUE(eventually([&] { return agreed >= groups; }));
    job.set_target(1);
    EXPECT_TRUE(eventually([&] { return agreed >= 2 * groups; }));
    job.set_target(half);
    EXPECT_TRUE(eventually([&] { return agreed >= 3 * groups; }));
    job.set_target(groups);
    EXPECT_EQ(job.wait().leaves, 0U);
  }
}

/// Each thread notes the answer it got.
struct AskingTogether {
  Notes* answers;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    answers->add(group.query());
  }
};

TYPED_TEST(Query, GivesAllThreadsOfAGroupTheSameAnswer) {
  TypeParam engine{{.capacity = 1}};
  Notes answers;
  engine.launch(AskingTogether{&answers}, {.local_size = 4}).wait();
  EXPECT_THAT(answers.all(), testing::ElementsAre(0U, 0U, 0U, 0U));
}

TYPED_TEST(Query, WantsNothingFromAStaticLaunch) {
  TypeParam engine{{.capacity = 2}};
  Notes answers;
  engine.launch(AskingTogether{&answers}, {.max_groups = 2, .resizable = false}).wait();
  EXPECT_THAT(answers.all(), testing::ElementsAre(0U, 0U));
}

// ---- kill order any

template <class Engine>
class KillOrderAny : public testing::Test {};
TYPED_TEST_SUITE(KillOrderAny, Engines, EngineNames);

struct ComingAndGoingInAnyOrder : ComingAndGoing {
  static constexpr Traits traits{.kill_order = KillOrder::any};
};

TYPED_TEST(KillOrderAny, IdsAreUniqueBelowNAndUsedAgain) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) { follow_targets<ComingAndGoingInAnyOrder>(engine, shape); });
}

/// Only the groups below `offering` offer themselves; the others wait for the end.
struct SomeOffer {
  static constexpr Traits traits{.kill_order = KillOrder::any};
  std::uint32_t offering;
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* started;
  Notes* left;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    if (group.global_size() != std::size_t{group.max_groups()} * group.local_size())
      wrong->fetch_add(1);
    if (group.global_id() != std::size_t{id} * group.local_size() + group.local_id())
      wrong->fetch_add(1);
    if (leader(group)) started->fetch_add(1);
    while (!told(group, *stop)) {
      if (id < offering && group.offer_kill(state)) {
        if (leader(group)) left->add(id);
        return;
      }
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(KillOrderAny, WhoeverOffersFirstLeavesGroupZeroToo) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    if (shape.groups == 1) return;
    for (const std::uint32_t offering : {1U, shape.groups - 1}) {
      std::atomic<bool> stop{false};
      std::atomic<std::uint32_t> started{0};
      std::atomic<std::uint32_t> wrong{0};
      Notes left;
      const ScopedJob job =
          engine.launch(SomeOffer{offering, &stop, &started, &left, &wrong},
                        {.max_groups = shape.groups, .local_size = shape.local_size});
      ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
      job.set_target(shape.groups - offering);
      EXPECT_TRUE(eventually([&] { return left.size() == offering; }));
      stop = true;
      EXPECT_EQ(job.wait().status, Status::finished);
      EXPECT_THAT(left.sorted(), ElementsAreArray(numbers(0, offering)));
      EXPECT_EQ(wrong, 0U);
    }
  });
}

/// Offers until its M is what it should become.
struct Counting {
  static constexpr Traits traits{.kill_order = KillOrder::any};
  const std::atomic<std::uint32_t>* expected;
  Notes* seen;

  template <class Group>
  void run(Group& group, Nothing state) const {
    do {
      if (group.offer(state)) return;
      std::this_thread::yield();
    } while (group.num_groups() != expected->load());
    if (leader(group)) seen->add(group.num_groups());
    hold_until([&] { return seen->size() == expected->load(); });
  }
};

TYPED_TEST(KillOrderAny, NumGroupsIsACount) {
  TypeParam engine{{.capacity = capacity}};
  for (const std::uint32_t groups : {2U, 5U, 16U}) {
    for (const std::uint32_t target : {1U, groups - 1}) {
      std::atomic<std::uint32_t> expected{target};
      Notes seen;
      const ScopedJob job = engine.launch(Counting{&expected, &seen}, {.max_groups = groups});
      job.set_target(target);
      EXPECT_EQ(job.wait().status, Status::finished);
      EXPECT_EQ(seen.size(), target);
    }
  }
}

TYPED_TEST(KillOrderAny, KeepsTheLastGroupWhicheverItIs) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    Notes left;
    using Kernel = With<OfferingOften, Traits{.kill_order = KillOrder::any}>;
    const ScopedJob job =
        engine.launch(Kernel{{scaled(500, 100), &left}},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    job.set_target(1);
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_THAT(left.size(), Le(shape.groups - 1));
  });
}

// ---- survivors

template <class Engine>
class MayAllLeave : public testing::Test {};
TYPED_TEST_SUITE(MayAllLeave, Engines, EngineNames);

struct OfferingForever {
  Notes* left;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    while (!group.offer_kill(state)) std::this_thread::yield();
    if (leader(group)) left->add(id);
  }
};

TYPED_TEST(MayAllLeave, TheJobEndsAsLeft) {
  TypeParam engine{{.capacity = capacity}};
  const auto run = [&]<KillOrder order>() {
    for_each_shape([&](Shape shape) {
      Notes left;
      using Kernel =
          With<OfferingForever, Traits{.kill_order = order, .survivors = Survivors::may_all_leave}>;
      const ScopedJob job = engine.launch(Kernel{{&left}}, {.max_groups = shape.groups,
                                                            .start_groups = shape.groups,
                                                            .local_size = shape.local_size});
      job.set_target(0);
      const Report report = job.wait();
      EXPECT_EQ(report.status, Status::left);
      EXPECT_EQ(report.leaves, shape.groups);
      EXPECT_THAT(left.sorted(), ElementsAreArray(numbers(0, shape.groups)));
    });
  };
  run.template operator()<KillOrder::highest_first>();
  run.template operator()<KillOrder::any>();
}

struct SteppingForever {
  static constexpr Traits traits{.survivors = Survivors::may_all_leave};

  template <class Group>
  Next step(Group& /*group*/, Nothing& /*state*/) const {
    return Next::again;
  }
};

TYPED_TEST(MayAllLeave, AtAResizingBarrierToo) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    const ScopedJob job = engine.launch(
        SteppingForever{}, {.max_groups = shape.groups, .local_size = shape.local_size});
    job.set_target(0);
    EXPECT_EQ(job.wait().status, Status::left);
  });
}

TYPED_TEST(MayAllLeave, OneStaysWhileTheTargetIsNotZero) {
  TypeParam engine{{.capacity = capacity}};
  Notes left;
  using Kernel = With<OfferingForever, Traits{.survivors = Survivors::may_all_leave}>;
  const ScopedJob job = engine.launch(Kernel{{&left}}, {.max_groups = 4, .target = 1});
  EXPECT_FALSE(job.wait_for(10ms).has_value());
  EXPECT_EQ(job.status(), Status::running);
  job.set_target(0);
  EXPECT_EQ(job.wait().status, Status::left);
}

}  // namespace
}  // namespace cohort::test
