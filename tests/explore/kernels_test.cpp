// The explorer's reports for authors of kernels. Each typical mistake is found, and the kernel
// without it passes. docs/explorer.md lists the tests named Kernels.*.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <iostream>

#include "cohort/explore.hpp"
#include "cohort/grid.hpp"
#include "conformance/scale.hpp"

namespace cohort::test {
namespace {

using explore::Options;
using explore::Result;
using explore::Search;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr std::uint32_t items = 6;

/// Explores a kernel over `items` counters. Each counter must be `expected` at the end.
template <class Kernel>
Result explore_counters(std::uint32_t expected, Options options = {}) {
  Buffer<std::uint32_t> counters;
  Buffer<std::uint32_t> flags;
  options.schedules = scaled(20000, 100);
  return explore::check(
      [&](explore::Engine& engine) {
        counters = engine.fill<std::uint32_t>(items, 0, "counters");
        flags = engine.fill<std::uint32_t>(items, 0, "flags");
        Kernel kernel{};
        kernel.counters = counters.data();
        kernel.flags = flags.data();
        return kernel;
      },
      [&] {
        for (const std::uint32_t count : counters.read()) {
          if (count != expected) {
            return "an item was counted " + std::to_string(count) + " times instead of " +
                   std::to_string(expected);
          }
        }
        return std::string{};
      },
      options);
}

void expect_found(const Result& result, const char* sentence) {
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.failure, HasSubstr(sentence));
  EXPECT_FALSE(result.replay.empty());
  EXPECT_FALSE(result.timeline.empty());
  std::cout << "  found in schedule " << result.schedules << ": " << result.failure << '\n';
}

/// Checks that the mistake of Kernel<true> is found and described by `sentence`, and that
/// Kernel<false> passes.
template <template <bool mistaken> class Kernel>
void expect_found_and_mended(std::uint32_t expected, const char* sentence,
                             const Options& options = {}) {
  expect_found(explore_counters<Kernel<true>>(expected, options), sentence);
  const Result right = explore_counters<Kernel<false>>(expected, options);
  EXPECT_TRUE(right.ok) << right;
}

struct Counting {
  struct State {};
  std::uint32_t* counters;
  std::uint32_t* flags;
};
struct CountingAtBarriers : Counting {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
};
struct CountingRounds : CountingAtBarriers {
  struct State {
    std::uint32_t step = 0;
  };

  /// This group's part of one step: counts each of its items once.
  template <class Group>
  void count_items(Group& group) const {
    for (const std::size_t i : group.stride(items)) ++group.view(counters)[i];
  }
};

/// Counts every item once in each of three steps.
template <bool stale>
struct Count : CountingRounds {
  template <class Group>
  void run(Group& group, State state) const {
    Stride mine = group.stride(items);
    while (state.step < 3) {
      if (!stale) mine = group.stride(items);
      for (const std::size_t i : mine) ++group.view(counters)[i];
      ++state.step;
      if (group.resizing_global_barrier(state)) return;
    }
  }
};

TEST(Kernels, AStrideTakenBeforeAResizingPointIsStaleAfterIt) {
  expect_found_and_mended<Count>(3, "");
}

/// Carries a sum from step to step, in a local variable or in the State.
template <bool forgotten>
struct Carry : Counting {
  struct State {
    std::uint32_t step = 0;
    std::uint32_t sum = 0;
  };

  template <class Group>
  Next step(Group& group, State& state) const {
    const std::uint32_t weight = state.step + 1;
    if (!forgotten || !group.joined()) state.sum += weight;  // a joiner cannot know
    for (const std::size_t i : group.stride(items)) group.view(counters)[i] = state.sum;
    return ++state.step < 3 ? Next::again : Next::halt;
  }
};

TEST(Kernels, StateThatIsNotKeptTheSameEverywhere) { expect_found_and_mended<Carry>(6, "State"); }

/// A joining group starts at step 0 again, because the step is not in the State.
template <bool forgotten>
struct Forgotten : CountingRounds {
  template <class Group>
  void run(Group& group, State state) const {
    for (std::uint32_t step = forgotten ? 0 : state.step; step < 3;) {
      count_items(group);
      ++step;
      if (group.resizing_global_barrier(State{step})) return;
    }
  }
};

TEST(Kernels, AVariableThatIsNotTransmitted) { expect_found_and_mended<Forgotten>(3, ""); }

/// The loop of docs/kernels.md. A for loop with the increment in its head increments after the
/// barrier. So a joining group would receive the iteration that the others have finished.
template <bool in_the_head>
struct BarrierLoop : CountingRounds {
  template <class Group>
  void run(Group& group, State state) const {
    while (state.step < 3) {
      count_items(group);
      if (!in_the_head) ++state.step;
      if (group.resizing_global_barrier(state)) return;
      if (in_the_head) ++state.step;
    }
  }
};

TEST(Kernels, ALoopThatAdvancesAfterItsResizingBarrier) {
  expect_found_and_mended<BarrierLoop>(3, "");
}

/// Takes items from a shared counter. An offer between taking an item and doing it loses the item.
template <bool holding>
struct Queue : Counting {
  template <class Group>
  void run(Group& group, State state) const {
    for (;;) {
      if (!holding && group.offer(state)) return;
      const std::uint32_t task = group.atomic(flags[0]).fetch_add(1);
      if (task >= items) return;
      if (holding && group.offer(state)) return;
      ++group.view(counters)[task];
    }
  }
};

TEST(Kernels, AKillWhileHoldingATask) { expect_found_and_mended<Queue>(1, "counted 0 times"); }

/// Thread 0 sets a word of local memory that all threads read; the mistake omits the barrier.
template <bool missing>
struct LocalWord : Counting {
  struct State {
    std::uint32_t step = 0;
  };
  struct Local {
    std::uint32_t base;
  };

  template <class Group>
  Next step(Group& group, State& state) const {
    if (group.local_id() == 0) group.local().base = state.step;
    if (!missing) group.barrier();
    const std::uint32_t base = group.local().base;
    group.barrier();
    for (const std::size_t i : group.stride(items)) group.view(counters)[i] = base + 1;
    return ++state.step < 2 ? Next::again : Next::halt;
  }
};

TEST(Kernels, AMissingGroupBarrier) {
  expect_found_and_mended<LocalWord>(2, "counted", {.capacity = 2, .local_size = 2});
}

/// Only one thread of the group calls offer_kill().
template <bool divergent>
struct Divergent : Counting {
  template <class Group>
  void run(Group& group, State state) const {
    if (!divergent || group.local_id() == 0) {
      if (group.offer_kill(state)) return;
    }
    group.barrier();
    for (const std::size_t i : group.local_stride(items)) group.atomic(counters[i]).store(1);
  }
};

TEST(Kernels, AnOfferThatOnlySomeThreadsReach) {
  expect_found_and_mended<Divergent>(1, "different ways", {.capacity = 2, .local_size = 2});
}

/// A group without work returns before the barrier.
template <bool early>
struct EarlyReturn : CountingAtBarriers {
  template <class Group>
  void run(Group& group, State /*state*/) const {
    if (early && group.group_id() >= 2) return;
    for (const std::size_t i : group.stride(items)) group.view(counters)[i] = 1;
    group.global_barrier();
  }
};

TEST(Kernels, AnEarlyReturn) { expect_found_and_mended<EarlyReturn>(1, "return"); }

/// One group sets a flag that another waits for: by plain accesses, or with release and acquire.
template <bool plain>
struct Flag : CountingAtBarriers {
  template <class Group>
  void run(Group& group, State /*state*/) const {
    if (group.group_id() == 0) {
      for (std::uint32_t i = 0; i < items; ++i) group.view(counters)[i] = 1;
      group.atomic(flags[0]).store(1, plain ? Order::relaxed : Order::release);
    } else if (group.atomic(flags[0]).load(Order::acquire) == 1) {
      if (group.view(counters)[items - 1] != 1) throw std::logic_error{"too early"};
    }
  }
};

TEST(Kernels, AFlagThatReleasesNothing) { expect_found_and_mended<Flag>(1, "race on counters["); }

/// Two steps in one, with or without a barrier in between.
template <bool missing>
struct Neighbours : CountingAtBarriers {
  template <class Group>
  void run(Group& group, State /*state*/) const {
    for (const std::size_t i : group.stride(items)) group.view(flags)[i] = 1;
    if (!missing) group.global_barrier();
    for (const std::size_t i : group.stride(items)) {
      group.view(counters)[i] = group.view(flags)[(i + 1) % items];
    }
  }
};

TEST(Kernels, AMissingGlobalBarrier) {
  const Result wrong = explore_counters<Neighbours<true>>(1);
  // Which of the two mistakes is found depends on the schedule.
  const bool race = wrong.failure.find("race on flags[") != std::string::npos;
  expect_found(wrong, race ? "race on flags[" : "an item was counted 0 times");
  const Result right = explore_counters<Neighbours<false>>(1);
  EXPECT_TRUE(right.ok) << right;
}

/// A prologue with a barrier. If joining groups run it too, they wait for groups that never come.
template <bool prologue>
struct Prologue : CountingRounds {
  template <class Group>
  void run(Group& group, State state) const {
    if (prologue) group.global_barrier();
    while (state.step < 2) {
      count_items(group);
      ++state.step;
      if (group.resizing_global_barrier(state)) return;
    }
  }
};

TEST(Kernels, APrologueThatJoinersRunToo) { expect_found_and_mended<Prologue>(2, ""); }

TEST(Reports, ReplayWhatTheyReport) {
  const Result first = explore_counters<Queue<true>>(1);
  ASSERT_FALSE(first.ok);
  const Result again = explore_counters<Queue<true>>(1, {.replay = first.replay});
  EXPECT_FALSE(again.ok);
  EXPECT_EQ(again.schedules, 1U);
  EXPECT_EQ(again.failure, first.failure);
  EXPECT_EQ(again.replay, first.replay);
  EXPECT_EQ(again.timeline, first.timeline);
}

TEST(Reports, NameTheBuffersTheGroupsAndTheLines) {
  const Result race = explore_counters<Flag<true>>(1);
  const std::string line = " \\(kernels_test\\.cpp:[0-9]+\\)";
  EXPECT_THAT(race.failure, MatchesRegex("race on counters\\[5\\]: group [0-9] (reads|writes)" +
                                         line + ", group [0-9] (reads|writes)" + line + ", .*"));
  EXPECT_THAT(race.timeline, ContainsRegex("group [0-9] +starts \\([0-9] active\\)"));
  EXPECT_THAT(race.timeline, ContainsRegex("writes counters\\[0\\]" + line));
  EXPECT_THAT(race.timeline, ContainsRegex("sets flags\\[0\\]: 1" + line));
}

TEST(Reports, ShowTheProtocolsWordsAndUnitsOnRequest) {
  const Result usual = explore_counters<Queue<true>>(1);
  const Result verbose = explore_counters<Queue<true>>(1, {.verbose = true});
  EXPECT_EQ(usual.replay, verbose.replay);
  for (const char* const internal : {"roster", "settled", "unit 0", "polls", "** "}) {
    EXPECT_THAT(usual.text(), Not(HasSubstr(internal)));
  }
  for (const char* const internal : {"roster: M ", "settled", "unit 0", "** group 0"}) {
    EXPECT_THAT(verbose.text(), HasSubstr(internal));
  }
  EXPECT_THAT(verbose.text(), Not(ContainsRegex("word [0-9]")));
}

TEST(Reports, SayHowManyGroupsAreActiveOnlyWhereThatIsKnown) {
  const Result result = explore_counters<Queue<true>>(1, {.verbose = true});
  EXPECT_THAT(result.timeline, ContainsRegex("offers itself\n"));
  EXPECT_THAT(result.timeline, Not(HasSubstr("(0 active)")));
}

/// Group 0 never arrives at the barrier.
struct Spins : CountingAtBarriers {
  template <class Group>
  void run(Group& group, State /*state*/) const {
    while (group.group_id() == 0 && group.atomic(flags[0]).load() == 0) {
    }
    group.global_barrier();
  }
};

TEST(Reports, SayInWhichBarrierAGroupWaits) {
  const Result result = explore_counters<Spins>(0, {.capacity = 2, .start_groups = 2});
  EXPECT_THAT(result.failure, HasSubstr("group 1 waits in barrier 0"));
  EXPECT_THAT(result.failure, Not(HasSubstr("unit")));
}

struct Throws : Counting {
  template <class Group>
  void run(Group& group, State /*state*/) const {
    if (group.group_id() == 1) throw std::logic_error{"no more"};
  }
};

TEST(Reports, NameTheGroupThatThrew) {
  const Result result = explore_counters<Throws>(0, {.capacity = 2, .start_groups = 2});
  EXPECT_EQ(result.failure, "the kernel threw an exception in group 1: no more");
}

TEST(Reports, NumberTheBuffersThatHaveNoName) {
  Buffer<std::uint32_t> unnamed;
  Buffer<std::uint32_t> also;
  const Result result = explore::check(
      [&](explore::Engine& engine) {
        unnamed = engine.fill<std::uint32_t>(items, 0);
        also = engine.fill<std::uint32_t>(items, 0);
        Neighbours<true> kernel{};
        kernel.counters = unnamed.data();
        kernel.flags = also.data();
        return kernel;
      },
      [] { return true; });
  EXPECT_THAT(result.failure, HasSubstr("race on buffer 1["));
}

TEST(Reports, TheSameSeedFindsTheSame) {
  const Result first = explore_counters<Count<true>>(3, {.seed = 7});
  const Result again = explore_counters<Count<true>>(3, {.seed = 7});
  EXPECT_EQ(first.text(), again.text());
}

TEST(Reports, AScheduleThatIsNoneIsRefused) {
  EXPECT_THROW(explore_counters<Queue<true>>(1, {.replay = "x!"}), Error);
}

struct Visits {
  std::uint32_t* visits;
  struct State {
    std::uint32_t step = 0;
  };
  template <class Group>
  Next step(Group& group, State& state) const {
    if (group.local_id() == 0) group.atomic(visits[state.step]).fetch_add(1);
    return ++state.step < 5 ? Next::again : Next::halt;
  }
};

TEST(ResizingBarrier, JoinersEnterAtTheSameStep) {
  for (std::uint32_t seed = 1; seed <= scaled(1000); ++seed) {
    explore::Engine engine{{.seed = seed, .capacity = 4, .local_size = 2}};
    auto visits = engine.fill<std::uint32_t>(5, 0);
    auto job = engine.launch(Visits{visits.data()}, {.max_groups = 4, .start_groups = 1});
    engine.before_step(2, [&] { engine.set_target(job, 4); });
    job.wait();
    ASSERT_THAT(visits.read(), testing::ElementsAre(1, 1, 4, 4, 4)) << engine.replay();
  }
}

/// Uses every primitive at least once.
struct Mixed {
  std::uint32_t* rounds;
  struct State {
    std::uint32_t turn = 0;
  };
  template <class Group>
  void run(Group group, State state) const {
    while (state.turn < 4) {
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      if (group.global_id() == 0) ++group.view(rounds)[0];
      const State next{state.turn + 1};
      if (state.turn % 2 == 0) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      state = next;
    }
  }
};

// ---- bodies of __global__ functions

struct Rounds {
  std::uint32_t round = 0;
};

/// Three rounds. The mistake: the stride is not recomputed after a barrier.
template <bool mistaken, class Grid>
void count_rounds(const Grid& grid, std::uint32_t* counters) {
  const std::size_t at_first = grid.num_threads();
  for (Rounds state = grid.state(); state.round < 3;) {
    const std::size_t step = mistaken ? at_first : grid.num_threads();
    for (std::size_t i = grid.thread_rank(); i < items; i += step) ++grid.view(counters)[i];
    ++state.round;
    if (grid.sync(state)) return;
  }
}

/// The prologue is for the first blocks only. A plain barrier ends it.
template <class Grid>
void fill_and_count(const Grid& grid, std::uint32_t* counters) {
  if (!grid.joined()) {
    for (auto i : grid.stride(items)) grid.view(counters)[i] = 10;
    grid.sync();
  }
  count_rounds<false>(grid, counters);
}

template <class Body>
Result explore_body(std::uint32_t expected, Body body) {
  Buffer<std::uint32_t> counters;
  return explore::check(
      [&](explore::Engine& engine) {
        counters = engine.fill<std::uint32_t>(items, 0, "counters");
        return on_grid<Rounds>([=, at = counters.data()](const auto& grid) { body(grid, at); });
      },
      [&] { return counters.read() == std::vector<std::uint32_t>(items, expected); },
      {.schedules = scaled(5000, 100)});
}

TEST(OnGrid, AStrideThatIsKeptAcrossSyncIsFound) {
  const Result wrong = explore_body(
      3, [](const auto& grid, std::uint32_t* counters) { count_rounds<true>(grid, counters); });
  EXPECT_FALSE(wrong.ok);
  const Result right = explore_body(
      3, [](const auto& grid, std::uint32_t* counters) { count_rounds<false>(grid, counters); });
  EXPECT_TRUE(right.ok) << right;
}

TEST(OnGrid, JoiningBlocksSkipThePrologue) {
  const Result result = explore_body(
      13, [](const auto& grid, std::uint32_t* counters) { fill_and_count(grid, counters); });
  EXPECT_TRUE(result.ok) << result;
}

/// Measures how many schedules the explorer runs per second of CPU time, as stated in
/// docs/explorer.md.
TEST(Explore, AMixedKernelUnderRandomSchedules) {
  struct Case {
    const char* what;
    Options options;
  };
  const Case cases[] = {
      {"random", {}},
      {"PCT", {.search = Search::pct}},
      {"asleep until notified", {.waiting = explore::Waiting::notified}},
      {"weak memory", {.weak_memory = true}},
  };
  for (const auto& [what, options] : cases) {
    Options with = options;
    with.capacity = 4;
    with.schedules = scaled(20000);
    with.suspends = 1;
    const std::clock_t begun = std::clock();
    Buffer<std::uint32_t> rounds;
    const Result result = explore::check(
        [&](explore::Engine& engine) {
          rounds = engine.fill<std::uint32_t>(1, 0);
          return Mixed{rounds.data()};
        },
        [&] { return rounds.read()[0] >= 4; }, with);
    const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    EXPECT_TRUE(result.ok) << what << ": " << result;
    std::cout << "  " << what << ": " << static_cast<double>(result.schedules) / seconds
              << " schedules a second, 4 groups, "
              << static_cast<double>(result.steps) / static_cast<double>(result.schedules)
              << " accesses each\n";
  }
}

}  // namespace
}  // namespace cohort::test
