// The kernel-level primitives: the global barrier, and the resizing barrier in each of its four
// forms (sections 3.1 and 4.2 of the paper). Plain, non-atomic data crosses every barrier here, so
// that a thread sanitizer judges them too.
#include "conformance/march.hpp"
#include "conformance/support.hpp"

namespace cohort::test {
namespace {

using testing::Each;
using testing::Ge;
using testing::Le;

// ---- global_barrier

template <class Engine>
class GlobalBarrier : public testing::Test {};
TYPED_TEST_SUITE(GlobalBarrier, Engines, EngineNames);

/// In every round each thread writes its cell, and after the barrier reads all cells.
struct Exchange {
  std::uint32_t rounds;
  std::uint32_t* cells;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      cells[group.global_id()] = round;
      group.global_barrier();
      for (std::size_t i = 0; i < group.global_size(); ++i) {
        if (cells[i] != round) wrong->fetch_add(1);
      }
      group.global_barrier();
    }
  }
};

template <Traits traits, class Engine>
void exchange(Engine& engine, Shape shape, bool resizable) {
  std::vector<std::uint32_t> cells(std::size_t{shape.groups} * shape.local_size);
  std::atomic<std::uint32_t> wrong{0};
  const ScopedJob job = engine.launch(
      With<Exchange, traits>{{scaled(20, 5), cells.data(), &wrong}},
      {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = resizable});
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(wrong, 0U);
}

TYPED_TEST(GlobalBarrier, WhatWasWrittenBeforeIsVisibleAfter) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) { exchange<Traits{}>(engine, shape, true); });
}

TYPED_TEST(GlobalBarrier, AlsoWhereMStandsStill) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    constexpr Traits traits{.resizes = Resizes::at_barriers, .barrier = barrier};
    exchange<traits>(engine, shape, true);
  });
}

TYPED_TEST(GlobalBarrier, AlsoInAStaticLaunch) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    constexpr Traits traits{.barrier = barrier};
    exchange<traits>(engine, shape, false);
  });
}

/// Groups leave and join between barriers: whoever is there when a barrier is released has written
/// its cell.
struct ExchangeOnTheMove {
  struct Board {
    std::vector<std::uint32_t> cells = std::vector<std::uint32_t>(capacity);  // plain
    std::atomic<std::uint32_t> arrivals[4] = {};                              // a ring of rounds
    bool last[2] = {};  // plain: group 0's word
  };
  struct State {
    std::uint32_t round = 0;
  };
  const std::atomic<bool>* stop;
  Board* board;
  Ids* ids;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, State state) const {
    const auto expect = [&](bool right) { wrong->fetch_add(right ? 0 : 1); };
    for (;; ++state.round) {
      if (leader(group)) ids->enter(group.group_id());
      const std::uint32_t slot = state.round % 4;
      if (leader(group)) {
        board->cells[group.group_id()] = state.round;
        board->arrivals[slot].fetch_add(1, std::memory_order_relaxed);
        if (group.group_id() == 0) {
          board->arrivals[(slot + 1) % 4].store(0, std::memory_order_relaxed);
          board->last[state.round % 2] = stop->load();
        }
      }
      group.global_barrier();
      expect(board->cells[0] == state.round);
      expect(board->cells[group.group_id()] == state.round);
      expect(board->arrivals[slot].load(std::memory_order_relaxed) <= group.max_groups());
      if (leader(group)) ids->exit(group.group_id());
      if (board->last[state.round % 2]) return;
      group.global_barrier();  // nobody forks or leaves before all have read
      if (group.offer(State{state.round + 1})) return;
    }
  }
};

TYPED_TEST(GlobalBarrier, CountsExactlyTheGroupsThatAreActive) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> wrong{0};
    ExchangeOnTheMove::Board board;
    Ids ids;
    const ScopedJob job =
        engine.launch(ExchangeOnTheMove{&stop, &board, &ids, &wrong},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    for (std::uint32_t i = 0; i < scaled(6, 2); ++i) {
      for (const std::uint32_t target : {1U, shape.groups}) {
        job.set_target(target);
        ASSERT_TRUE(eventually([&] {
          const auto sizes = job.report().sizes;
          return !sizes.empty() && sizes.back().groups == target;
        }));
      }
    }
    stop = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(ids.clashes(), 0U);
  });
}

// ---- the resizing barrier

template <class Engine>
class ResizingGlobalBarrier : public testing::Test {};
TYPED_TEST_SUITE(ResizingGlobalBarrier, Engines, EngineNames);

/// The march in steps with global barriers inside, which no resize may disturb.
struct StepsWithBarriers {
  using State = MarchState;
  Board* board;
  const std::atomic<bool>* stop;

  template <class Group>
  Next step(Group& group, State& state) const {
    march(group, state, *board, *stop);
    const std::uint32_t groups = group.num_groups();
    for (int i = 0; i < 3; ++i) {
      group.global_barrier();
      board->expect(group.num_groups() == groups);
      for (std::uint32_t j = 0; j < groups; ++j) {
        board->expect(board->cells[state.step % 2][j].step == state.step);
      }
    }
    const bool last = board->last[state.step % 2];
    state = state.next(groups);
    return last ? Next::halt : Next::again;
  }
};

/// The march in direct style: the kernel owns the loop. Group 0 says a step ahead which one is the
/// last.
struct Direct {
  using State = MarchState;
  Board* board;
  const std::atomic<bool>* stop;

  template <class Group>
  void run(Group& group, State state) const {
    for (;;) {
      march(group, state, *board, *stop);
      const std::uint32_t groups = group.num_groups();
      group.global_barrier();
      board->expect(group.num_groups() == groups);
      if (board->last[state.step % 2]) return;
      const State next = state.next(groups);
      if (group.resizing_global_barrier(next)) return;
      state = next;
    }
  }
};

/// Sends a march through targets, each of which it has to reach, and checks what it wrote down.
template <class Kernel, class Engine>
void march_through(Engine& engine, Shape shape, const std::vector<std::uint32_t>& targets,
                   std::uint32_t start) {
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob job = engine.launch(
      Kernel{{&board, &stop}},
      {.max_groups = shape.groups, .start_groups = start, .local_size = shape.local_size});
  for (const std::uint32_t target : targets) {
    job.set_target(target);
    EXPECT_TRUE(eventually([&] { return board.groups == target; }))
        << "target " << target << ", has " << board.groups << " at step " << board.steps;
  }
  stop = true;
  const Report report = job.wait();
  EXPECT_EQ(report.status, Status::finished);
  EXPECT_EQ(board.wrong, 0U);
  EXPECT_THAT(board.sizes, Each(testing::AllOf(Ge(1U), Le(shape.groups))));
  // M over the steps accounts for every join and every leave.
  std::uint64_t joins = 0;
  std::uint64_t leaves = 0;
  for (std::size_t i = 1; i < board.sizes.size(); ++i) {
    if (board.sizes[i] > board.sizes[i - 1]) joins += board.sizes[i] - board.sizes[i - 1];
    if (board.sizes[i] < board.sizes[i - 1]) leaves += board.sizes[i - 1] - board.sizes[i];
  }
  EXPECT_EQ(board.sizes.front(), report.start_groups);
  EXPECT_EQ(report.start_groups + report.joins - report.leaves, board.sizes.back());
  EXPECT_GE(report.joins, joins);  // a group may join and leave within one barrier of the paper
  EXPECT_EQ(report.joins - joins, report.leaves - leaves);
}

std::vector<std::uint32_t> there_and_back(std::uint32_t groups) {
  const std::uint32_t half = (groups + 1) / 2;
  std::vector<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < scaled(3); ++i) {
    for (const std::uint32_t each : {1U, groups, half, 1U, half, groups}) targets.push_back(each);
  }
  return targets;
}

TYPED_TEST(ResizingGlobalBarrier, ShrinksAndGrowsAKernelBetweenItsSteps) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    march_through<Kernel>(engine, shape, there_and_back(shape.groups), shape.groups);
  });
}

TYPED_TEST(ResizingGlobalBarrier, LetsJoinersInAtTheSameStepWithGroupZerosState) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    march_through<Kernel>(engine, shape, {shape.groups}, 1);
  });
}

TYPED_TEST(ResizingGlobalBarrier, LeavesTheGlobalBarriersWithinAStepAlone) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    using Kernel = With<StepsWithBarriers, Traits{.barrier = barrier}>;
    march_through<Kernel>(engine, shape, {1, shape.groups}, shape.groups);
  });
}

TYPED_TEST(ResizingGlobalBarrier, KeepsMStableInBetweenInDirectStyleToo) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    using AtBarriers = With<Direct, Traits{.resizes = Resizes::at_barriers, .barrier = barrier}>;
    march_through<AtBarriers>(engine, shape, {1, shape.groups}, shape.groups);
    using Anywhere = With<Direct, Traits{.barrier = barrier}>;  // may offer, but does not
    march_through<Anywhere>(engine, shape, {1, shape.groups}, shape.groups);
  });
}

TYPED_TEST(ResizingGlobalBarrier, IsAGlobalBarrierInAStaticLaunch) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    Board board;
    std::atomic<bool> stop{false};
    using Kernel = With<StepsWithBarriers, Traits{.barrier = barrier}>;
    const ScopedJob job = engine.launch(
        Kernel{{&board, &stop}},
        {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = false});
    EXPECT_TRUE(eventually([&] { return board.steps >= 10; }));
    stop = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(board.wrong, 0U);
    EXPECT_THAT(board.sizes, Each(shape.groups));
  });
}

/// Each step divides all items among the groups there are: none is left out, none is done twice.
struct Strided {
  struct State {
    std::uint32_t step = 0;
  };
  std::uint32_t* items;
  std::uint32_t count;
  std::uint32_t steps;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  Next step(Group& group, State& state) const {
    for (const std::size_t i : group.stride(count)) {
      if (items[i]++ != state.step) wrong->fetch_add(1);
    }
    return ++state.step < steps ? Next::again : Next::halt;
  }
};

TYPED_TEST(ResizingGlobalBarrier, RedistributesStridedWorkAmongWhoeverIsThere) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    std::vector<std::uint32_t> items(61);
    std::atomic<std::uint32_t> wrong{0};
    const std::uint32_t steps = scaled(60, 20);
    using Kernel = With<Strided, Traits{.barrier = barrier}>;
    const ScopedJob job =
        engine.launch(Kernel{{items.data(), 61, steps, &wrong}},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    for (std::uint32_t i = 0; job.status() == Status::running; ++i) {
      job.set_target(1 + i * 7 % shape.groups);
      std::this_thread::yield();
    }
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_THAT(items, Each(steps));
    EXPECT_EQ(wrong, 0U);
  });
}

// ---- votes

template <class Engine>
class Votes : public testing::Test {};
TYPED_TEST_SUITE(Votes, Engines, EngineNames);

/// One thread of one group votes for another step, `steps` times; all others always vote to halt.
struct OneWantsMore {
  struct State {
    std::uint32_t step = 0;
  };
  std::uint32_t steps;
  std::uint32_t group_wanting;  // counted from the top if `from_top`
  bool from_top;
  std::uint32_t thread_wanting;
  std::atomic<std::uint32_t>* visits;  // one for each step, and one more

  template <class Group>
  Next step(Group& group, State& state) const {
    const std::uint32_t rank =
        from_top ? group.num_groups() - 1 - group.group_id() : group.group_id();
    if (leader(group)) visits[std::min(state.step, steps + 1)].fetch_add(1);
    const bool wants = rank == group_wanting && group.local_id() == thread_wanting;
    return state.step++ < steps && wants ? Next::again : Next::halt;
  }
};

TYPED_TEST(Votes, AnyThreadOfAnyGroupCanKeepTheKernelGoing) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    for (const bool resizable : {true, false}) {
      for (const bool from_top : {true, false}) {
        constexpr std::uint32_t steps = 5;
        std::vector<std::atomic<std::uint32_t>> visits(steps + 2);
        using Kernel = With<OneWantsMore, Traits{.barrier = barrier}>;
        const ScopedJob job = engine.launch(
            Kernel{{steps, 0, from_top, shape.local_size - 1, visits.data()}},
            {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = resizable});
        EXPECT_EQ(job.wait().status, Status::finished);
        for (std::uint32_t i = 0; i <= steps; ++i) EXPECT_EQ(visits[i], shape.groups) << i;
        EXPECT_EQ(visits[steps + 1], 0U);
      }
    }
  });
}

TYPED_TEST(Votes, NobodyJoinsAfterTheLastStep) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    for (std::uint32_t steps = 0; steps < 4; ++steps) {
      std::vector<std::atomic<std::uint32_t>> visits(steps + 2);
      using Kernel = With<OneWantsMore, Traits{.barrier = barrier}>;
      const ScopedJob job = engine.launch(
          Kernel{{steps, 0, false, 0, visits.data()}},
          {.max_groups = shape.groups, .start_groups = 1, .local_size = shape.local_size});
      const Report report = job.wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_EQ(visits[steps + 1], 0U) << "a step too many";
      EXPECT_EQ(visits[steps], 1 + report.joins);
      EXPECT_TRUE(steps > 0 || report.joins == 0);
    }
  });
}

// ---- everything in one kernel

template <class Engine>
class Mixed : public testing::Test {};
TYPED_TEST_SUITE(Mixed, Engines, EngineNames);

/// Offers, forks, global and resizing barriers in one loop. What group 0 transmits must be where
/// everybody is.
struct Everything {
  struct State {
    std::uint32_t round = 0;
  };
  struct Board {
    std::uint32_t round[2] = {};  // plain, by group 0: the round after the next barrier
    bool last[2] = {};
    std::atomic<std::uint32_t> rounds{0};
    std::atomic<std::uint32_t> wrong{0};
    void expect(bool right) { wrong.fetch_add(right ? 0 : 1, std::memory_order_relaxed); }
  };
  Board* board;
  const std::atomic<bool>* stop;
  Ids* ids;

  template <class Group>
  void run(Group& group, State state) const {
    for (;;) {
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      if (leader(group)) ids->enter(group.group_id());
      if (group.group_id() == 0 && leader(group)) {
        board->round[state.round % 2] = state.round;
        board->last[state.round % 2] = stop->load();
        board->rounds.fetch_add(1);
      }
      if (leader(group)) ids->exit(group.group_id());
      const State next{state.round + 1};
      if (state.round % 2 == 0) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      if (state.round % 2 == 0) {
        board->expect(board->round[state.round % 2] == state.round);
        board->expect(group.group_id() < group.num_groups());
        if (board->last[0]) return;
      }
      state = next;
      group.request_fork(state);
    }
  }
};

TYPED_TEST(Mixed, KillsForksAndBarriersGoTogether) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    Everything::Board board;
    std::atomic<bool> stop{false};
    Ids ids;
    using Kernel = With<Everything, Traits{.barrier = barrier}>;
    const ScopedJob job =
        engine.launch(Kernel{{&board, &stop, &ids}},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    std::uint32_t seed = 1;
    while (board.rounds < scaled(100, 20)) {
      seed = seed * 1664525U + 1013904223U;
      job.set_target(1 + (seed >> 16U) % shape.groups);
      const std::uint32_t at = board.rounds;
      ASSERT_TRUE(eventually([&] { return board.rounds > at + seed % 3; })) << "stuck";
    }
    stop = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(board.wrong, 0U);
    EXPECT_EQ(ids.clashes(), 0U);
  });
}

/// The groups below the highest wait in a barrier of either kind; the highest leaves instead of
/// coming.
struct TopLeaves {
  bool resizing;
  const std::atomic<bool>* go;
  std::atomic<std::uint32_t>* started;
  std::atomic<std::uint32_t>* passed;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const bool top = group.group_id() + 1 == group.num_groups();
    if (leader(group)) started->fetch_add(1);
    if (top) {
      hold_until([&] { return go->load(); });
      std::this_thread::sleep_for(500us);  // the others have arrived by now
      if (group.offer_kill(state)) return;
    }
    if (resizing) {
      if (group.resizing_global_barrier(state)) return;
    } else {
      group.global_barrier();
    }
    if (leader(group)) passed->fetch_add(1);
  }
};

TYPED_TEST(Mixed, AKillReleasesTheBarrierThatWaitsForThatGroupOnly) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    if (shape.groups == 1) return;
    for (const bool resizing : {false, true}) {
      std::atomic<bool> go{false};
      std::atomic<std::uint32_t> started{0};
      std::atomic<std::uint32_t> passed{0};
      using Kernel = With<TopLeaves, Traits{.barrier = barrier}>;
      const ScopedJob job =
          engine.launch(Kernel{{resizing, &go, &started, &passed}},
                        {.max_groups = shape.groups, .local_size = shape.local_size});
      ASSERT_TRUE(eventually([&] { return started == shape.groups; }));
      job.set_target(shape.groups - 1);
      go = true;
      const Report report = job.wait();
      EXPECT_EQ(report.status, Status::finished);
      EXPECT_EQ(report.leaves, 1U);
      EXPECT_EQ(passed, shape.groups - 1);
    }
  });
}

/// Group 0 forks while the others wait in a barrier: the joiners have to be waited for too.
struct ForkUnderABarrier {
  struct State {
    bool forked = false;
  };
  std::uint32_t wanted;
  std::atomic<std::uint32_t>* arrived;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, State state) const {
    if (group.group_id() == 0 && !state.forked) {
      std::this_thread::sleep_for(200us);  // the first groups have arrived by now
      hold_until([&] {
        group.request_fork(State{true});
        return group.num_groups() == wanted;
      });
    }
    if (leader(group)) arrived->fetch_add(1, std::memory_order_relaxed);
    group.global_barrier();
    if (arrived->load(std::memory_order_relaxed) != wanted) wrong->fetch_add(1);
    if (group.num_groups() != wanted) wrong->fetch_add(1);
  }
};

TYPED_TEST(Mixed, ABarrierWaitsForGroupsThatJoinMeanwhile) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    if (shape.local_size > 1) return;  // group 0's loop is its leader's own
    std::atomic<std::uint32_t> arrived{0};
    std::atomic<std::uint32_t> wrong{0};
    const ScopedJob job =
        engine.launch(ForkUnderABarrier{shape.groups, &arrived, &wrong},
                      {.max_groups = shape.groups, .start_groups = (shape.groups + 1) / 2});
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(wrong, 0U);
  });
}

/// Groups come and go at offers, and between two global barriers divide items among those who are
/// there.
struct DividedBetweenBarriers {
  struct State {
    std::uint32_t round = 0;
  };
  std::uint32_t* items;  // plain
  std::uint32_t count;
  std::atomic<std::uint32_t>* rounds;
  const std::atomic<bool>* stop;
  bool* last;  // plain, one for each parity of the round: group 0's word
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, State state) const {
    for (;;) {
      if (group.offer(state)) return;
      if (group.group_id() == 0 && leader(group)) {
        last[state.round % 2] = stop->load();
        rounds->fetch_add(1);
      }
      group.global_barrier();
      for (const std::size_t i : group.stride(count)) {
        if (items[i]++ != state.round) wrong->fetch_add(1);
      }
      group.global_barrier();
      if (last[state.round % 2]) return;
      ++state.round;
    }
  }
};

TYPED_TEST(Mixed, GroupsBetweenTwoBarriersAgreeOnM) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    std::vector<std::uint32_t> items(97);
    std::atomic<std::uint32_t> rounds{0};
    std::atomic<bool> stop{false};
    bool last[2] = {};
    std::atomic<std::uint32_t> wrong{0};
    using Kernel = With<DividedBetweenBarriers, Traits{.barrier = barrier}>;
    const ScopedJob job =
        engine.launch(Kernel{{items.data(), 97, &rounds, &stop, last, &wrong}},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    for (std::uint32_t i = 0; i < scaled(10, 4); ++i) {
      for (const std::uint32_t target : {1U, shape.groups}) {
        job.set_target(target);
        const std::uint32_t at = rounds;
        ASSERT_TRUE(eventually([&] { return rounds > at + 3; })) << "stuck";
      }
    }
    stop = true;
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(wrong, 0U);
    EXPECT_THAT(items, Each(rounds.load()));
  });
}

/// Forks right after a resizing barrier that lets groups in. The State is large, so that this takes
/// its time, and group 0 arrives first, so that it can be quick afterwards.
struct ForkingAfterABarrier {
  struct State {
    std::uint32_t round = 0;
    std::uint32_t filler[1U << 16U] = {};
  };
  const std::atomic<bool>* stop;
  bool* last;  // plain, one for each parity of the round: group 0's word
  std::atomic<std::uint32_t>* rounds;
  Ids* ids;

  template <class Group>
  void run(Group& group, State state) const {
    for (;;) {
      if (state.round > 0 && last[(state.round + 1) % 2]) return;  // also who joined just now
      const std::uint32_t id = group.group_id();
      for (int i = 0; i < 60 && id == 0; ++i) {
        if (i < 4) group.request_fork(state);  // then leave some for the barrier
        std::this_thread::yield();
      }
      ids->enter(id);
      if (id == 0) {
        last[state.round % 2] = stop->load();
        rounds->store(state.round + 1);
      }
      ids->exit(id);
      ++state.round;
      if (id != 0) {
        hold_until([&] { return rounds->load() >= state.round; });
        for (std::uint32_t i = state.round * 7919 % 20; i > 0; --i) std::this_thread::yield();
      }
      if (group.resizing_global_barrier(state)) return;
    }
  }
};

TYPED_TEST(Mixed, AForkMayFollowAResizingBarrierClosely) {
  TypeParam engine{{.capacity = 8}};
  for_each_barrier([&]<ResizingBarrier barrier>() {
    std::atomic<bool> stop{false};
    bool last[2] = {};
    std::atomic<std::uint32_t> rounds{0};
    Ids ids;
    using Kernel = With<ForkingAfterABarrier, Traits{.barrier = barrier}>;
    const ScopedJob job = engine.launch(Kernel{{&stop, last, &rounds, &ids}}, {.max_groups = 8});
    for (std::uint32_t i = 0; i < scaled(40, 10); ++i) {
      for (std::uint32_t target = 2; target <= 8; ++target) {  // one by one they come to the lobby
        job.set_target(target);
        std::this_thread::sleep_for(std::chrono::microseconds{i * 13 % 100});
      }
      const std::uint32_t at = rounds;
      ASSERT_TRUE(eventually([&] { return rounds > at; })) << "a group was lost";
    }
    stop = true;
    ASSERT_TRUE(job.wait_for(long_enough).has_value()) << "a group was lost";
    EXPECT_EQ(job.status(), Status::finished);
    EXPECT_EQ(ids.clashes(), 0U);
  });
}

}  // namespace
}  // namespace cohort::test
