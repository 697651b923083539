// What the explorer tells the authors of kernels: typical mistakes, each found, beside the kernel
// as it should be, which passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "cohort/explore.hpp"

namespace cohort::test {
namespace {

using explore::Options;
using explore::Result;
using explore::Search;
using testing::HasSubstr;

double scale() {
  const char* const text = std::getenv("COHORT_TEST_SCALE");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? 1.0 : std::atof(text);             // NOLINT(cert-err34-c)
}

constexpr std::uint32_t items = 6;

/// Explores a kernel over `items` counters that must all be `expected` in the end.
template <class Kernel>
Result explore_counters(std::uint32_t expected, Options options = {}) {
  Buffer<std::uint32_t> counters;
  Buffer<std::uint32_t> flags;
  options.schedules = std::max<std::uint64_t>(100, static_cast<std::uint64_t>(20000 * scale()));
  return explore::check(
      [&](explore::Engine& engine) {
        counters = engine.fill<std::uint32_t>(items, 0);
        flags = engine.fill<std::uint32_t>(items, 0);
        return Kernel{counters.data(), flags.data()};
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

#define COHORT_TEST_MEMORY \
  std::uint32_t* counters; \
  std::uint32_t* flags

/// Counts every item once a step, three times.
template <bool stale>
struct Count {
  COHORT_TEST_MEMORY;
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {
    std::uint32_t step = 0;
  };

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
  expect_found(explore_counters<Count<true>>(3), "");
  const Result right = explore_counters<Count<false>>(3);
  EXPECT_TRUE(right.ok) << right;
}

/// The sum of what was done is carried in a local variable, or in the State.
template <bool forgotten>
struct Carry {
  COHORT_TEST_MEMORY;
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

TEST(Kernels, StateThatIsNotKeptTheSameEverywhere) {
  expect_found(explore_counters<Carry<true>>(6), "State");
  const Result right = explore_counters<Carry<false>>(6);
  EXPECT_TRUE(right.ok) << right;
}

/// A joiner starts at step 0 again, because the step is not in the State.
template <bool forgotten>
struct Forgotten {
  COHORT_TEST_MEMORY;
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {
    std::uint32_t step = 0;
  };

  template <class Group>
  void run(Group& group, State state) const {
    for (std::uint32_t step = forgotten ? 0 : state.step; step < 3;) {
      for (const std::size_t i : group.stride(items)) ++group.view(counters)[i];
      ++step;
      if (group.resizing_global_barrier(State{step})) return;
    }
  }
};

TEST(Kernels, AVariableThatIsNotTransmitted) {
  expect_found(explore_counters<Forgotten<true>>(3), "");
  const Result right = explore_counters<Forgotten<false>>(3);
  EXPECT_TRUE(right.ok) << right;
}

/// The loop of docs/kernels.md. A for loop that advances in its head advances after the barrier,
/// so a joiner receives the iteration that the others have finished.
template <bool in_the_head>
struct BarrierLoop {
  COHORT_TEST_MEMORY;
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {
    std::uint32_t i = 0;
  };

  template <class Group>
  void run(Group& group, State state) const {
    if constexpr (in_the_head) {
      for (; state.i < 3; ++state.i) {
        work(group);
        if (group.resizing_global_barrier(state)) return;
      }
    } else {
      while (state.i < 3) {
        work(group);
        ++state.i;
        if (group.resizing_global_barrier(state)) return;
      }
    }
  }
  template <class Group>
  void work(Group& group) const {
    for (const std::size_t i : group.stride(items)) ++group.view(counters)[i];
  }
};

TEST(Kernels, ALoopThatAdvancesAfterItsResizingBarrier) {
  expect_found(explore_counters<BarrierLoop<true>>(3), "");
  const Result right = explore_counters<BarrierLoop<false>>(3);
  EXPECT_TRUE(right.ok) << right;
}

/// Takes items from a shared counter; an offer between taking and doing loses the item.
template <bool holding>
struct Queue {
  COHORT_TEST_MEMORY;
  struct State {};

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

TEST(Kernels, AKillWhileHoldingATask) {
  expect_found(explore_counters<Queue<true>>(1), "counted 0 times");
  const Result right = explore_counters<Queue<false>>(1);
  EXPECT_TRUE(right.ok) << right;
}

/// Thread 0 sets a word of local memory that all threads read.
template <bool missing>
struct LocalWord {
  COHORT_TEST_MEMORY;
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
  expect_found(explore_counters<LocalWord<true>>(2, {.capacity = 2, .local_size = 2}), "counted");
  const Result right = explore_counters<LocalWord<false>>(2, {.capacity = 2, .local_size = 2});
  EXPECT_TRUE(right.ok) << right;
}

/// Only one thread of the group offers it.
template <bool divergent>
struct Divergent {
  COHORT_TEST_MEMORY;
  struct State {};

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
  expect_found(explore_counters<Divergent<true>>(1, {.capacity = 2, .local_size = 2}),
               "different ways");
  const Result right = explore_counters<Divergent<false>>(1, {.capacity = 2, .local_size = 2});
  EXPECT_TRUE(right.ok) << right;
}

/// A group that has nothing to do returns before the barrier.
template <bool early>
struct EarlyReturn {
  COHORT_TEST_MEMORY;
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    if (early && group.group_id() >= 2) return;
    for (const std::size_t i : group.stride(items)) group.view(counters)[i] = 1;
    group.global_barrier();
  }
};

TEST(Kernels, AnEarlyReturn) {
  expect_found(explore_counters<EarlyReturn<true>>(1), "return");
  const Result right = explore_counters<EarlyReturn<false>>(1);
  EXPECT_TRUE(right.ok) << right;
}

/// One group sets a flag that another waits for: plain, or by release and acquire.
template <bool plain>
struct Flag {
  COHORT_TEST_MEMORY;
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {};

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

TEST(Kernels, AFlagThatReleasesNothing) {
  expect_found(explore_counters<Flag<true>>(1), "race on buffer 0");
  const Result right = explore_counters<Flag<false>>(1);
  EXPECT_TRUE(right.ok) << right;
}

/// Two steps in one, without the barrier in between.
template <bool missing>
struct Neighbours {
  COHORT_TEST_MEMORY;
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {};

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
  const bool race = wrong.failure.find("race on buffer 1") != std::string::npos;
  expect_found(wrong,
               race ? "race on buffer 1" : "an item was counted 0 times");  // by the schedule
  const Result right = explore_counters<Neighbours<false>>(1);
  EXPECT_TRUE(right.ok) << right;
}

/// A prologue with a barrier: joiners run it too, and wait there for nobody.
template <bool prologue>
struct Prologue {
  COHORT_TEST_MEMORY;
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {
    std::uint32_t step = 0;
  };

  template <class Group>
  void run(Group& group, State state) const {
    if (prologue) group.global_barrier();
    while (state.step < 2) {
      for (const std::size_t i : group.stride(items)) ++group.view(counters)[i];
      ++state.step;
      if (group.resizing_global_barrier(state)) return;
    }
  }
};

TEST(Kernels, APrologueThatJoinersRunToo) {
  expect_found(explore_counters<Prologue<true>>(2), "");
  const Result right = explore_counters<Prologue<false>>(2);
  EXPECT_TRUE(right.ok) << right;
}

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
  const auto seeds = static_cast<std::uint32_t>(1000 * scale());
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    explore::Engine engine{{.seed = seed, .capacity = 4, .local_size = 2}};
    auto visits = engine.fill<std::uint32_t>(5, 0);
    auto job = engine.launch(Visits{visits.data()}, {.max_groups = 4, .start_groups = 1});
    engine.before_step(2, [&] { engine.set_target(job, 4); });
    job.wait();
    ASSERT_THAT(visits.read(), testing::ElementsAre(1, 1, 4, 4, 4)) << engine.replay();
  }
}

/// Every primitive at least once, all mixed.
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

/// Random schedules with everything in them, and how many of them there are in a second of this
/// process's time.
TEST(Explore, AMixedKernelUnderRandomSchedules) {
  const auto schedules = static_cast<std::uint64_t>(20000 * scale());
  struct Case {
    const char* what;
    Options options;
  };
  const Case cases[] = {
      {"random", {.suspends = 1}},
      {"PCT", {.search = Search::pct, .suspends = 1}},
      {"asleep until notified", {.suspends = 1, .waiting = explore::Waiting::notified}},
      {"weak memory", {.suspends = 1, .weak_memory = true}},
  };
  for (const auto& [what, options] : cases) {
    Options with = options;
    with.capacity = 4;
    with.schedules = schedules;
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
