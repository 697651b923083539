// The pools of the apps that steal work, under the explorer with weak memory: every task is taken
// once, and whoever takes it sees what it stands for. Beside them the same pools with one thing
// forgotten, which the explorer must find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "apps/pool_memory.hpp"
#include "cohort/explore.hpp"

namespace cohort::test {
namespace {

using apps::all_done;
using apps::DequePools;
using apps::MutexPools;
using apps::no_task;
using apps::PoolEnds;
using apps::Stealing;
using explore::Options;
using explore::Result;

std::uint64_t scaled(std::uint64_t schedules) {
  const char* const text = std::getenv("COHORT_TEST_SCALE");     // NOLINT(concurrency-mt-unsafe)
  const double scale = text == nullptr ? 1.0 : std::atof(text);  // NOLINT(cert-err34-c)
  return std::max<std::uint64_t>(100, static_cast<std::uint64_t>(double(schedules) * scale));
}

/// What pools may forget.
enum class Forgets : std::uint8_t {
  nothing,
  release,  ///< stores release nothing
  acquire,  ///< loads acquire nothing
  look,     ///< a load takes the place of a read-modify-write that changes nothing
};

/// A group as the pools see it, with atomics that forget something.
template <class Group, Forgets what>
struct Forgetful {
  template <class Ref>
  struct Atomic {
    Ref word;

    auto load(Order order = Order::relaxed) const {
      return word.load(what == Forgets::acquire ? Order::relaxed : order);
    }
    template <class T>
    void store(T value, Order order = Order::relaxed) const {
      word.store(value, what == Forgets::release ? Order::relaxed : order);
    }
    template <class T>
    auto exchange(T value, Order order) const {
      return word.exchange(value, order);
    }
    template <class T>
    auto fetch_add(T value, Order order) const {
      return what == Forgets::look ? word.load(Order::acquire) : word.fetch_add(value, order);
    }
    template <class T>
    bool compare_exchange(T& expected, T desired, Order order = Order::relaxed) const {
      return word.compare_exchange(expected, desired, order);
    }
  };

  const Group& group;

  template <class T>
  auto atomic(T& word) const {
    return Atomic<decltype(group.atomic(word))>{group.atomic(word)};
  }
  template <class T>
  auto view(T* memory) const {
    return group.view(memory);
  }
};

/// How often each task was taken, and what it stands for.
struct Tasks {
  static constexpr std::uint32_t count = 5;

  std::uint32_t* meaning;  // written by who pushes the task
  std::uint32_t* taken;

  template <class Group>
  void make(const Group& group, std::uint32_t task) const {
    group.view(meaning)[task] = task + 1;
  }
  template <class Group>
  void note(const Group& group, std::uint32_t task) const {
    if (group.view(meaning)[task] != task + 1) throw std::logic_error{"a task without its meaning"};
    ++group.view(taken)[task];
  }
};

/// Group 0 pushes all tasks into a pool that has no room for all of them, the others steal.
template <class Pools, Forgets what>
struct Deal {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {};

  Pools pools;
  Tasks tasks;

  template <class Group>
  void run(Group& group, State /*state*/) const {
    const Forgetful<Group, what> view{group};
    if (group.group_id() != 0) {
      for (int tries = 0; tries < 2; ++tries) {
        const std::uint32_t task = pools.steal(view, 0);
        if (task != no_task) tasks.note(group, task);
      }
      return;
    }
    for (std::uint32_t first = 0; first < Tasks::count; first += 2) {
      const std::uint32_t second = first + 1;
      tasks.make(group, first);
      if (second < Tasks::count) tasks.make(group, second);
      std::uint32_t which = second < Tasks::count ? 3 : 1;
      while ((which = pools.push(view, 0, first, which)) != 0) pop(group, view);
    }
    while (pop(group, view)) {
    }
  }

 private:
  template <class Group, class View>
  bool pop(const Group& group, const View& view) const {
    const std::uint32_t task = pools.pop(view, 0);
    if (task != no_task) tasks.note(group, task);
    return task != no_task;
  }
};

/// A tree of tasks, each of which pushes its children, taken as the apps do while groups come and
/// go.
template <class Pools, KillOrder order>
struct Tree {
  static constexpr Traits traits{.kill_order = order};
  using State = Nothing;

  Stealing<Pools> work;
  Tasks tasks;

  template <class Group>
  void run(Group& group, State state) const {
    for (std::uint32_t victim = work.neighbour(group);;) {
      if (group.offer(state)) return;
      const std::uint32_t task = work.take(group, victim);
      if (task == all_done) return;
      if (task == no_task || group.local_id() != 0) continue;
      tasks.note(group, task);
      std::uint32_t children = 0;
      for (std::uint32_t i = 0; i < 2 && 2 * task + 1 + i < Tasks::count; ++i) {
        tasks.make(group, 2 * task + 1 + i);
        children |= 1U << i;
      }
      work.push(group, 2 * task + 1, children);
      work.done(group, 1);
    }
  }
};

/// Explores what `make(engine, tasks)` makes; each task must be taken once.
template <class Make>
Result explore_tasks(Make make, const Options& options) {
  Buffer<std::uint32_t> meaning;
  Buffer<std::uint32_t> taken;
  return explore::check(
      [&](explore::Engine& engine) {
        meaning = engine.upload<std::uint32_t>({1, 0, 0, 0, 0});  // the host's task is 0
        taken = engine.fill<std::uint32_t>(Tasks::count, 0);
        return make(engine, Tasks{meaning.data(), taken.data()});
      },
      [&] {
        for (const std::uint32_t times : taken.read()) {
          if (times != 1) return "a task was taken " + std::to_string(times) + " times";
        }
        return std::string{};
      },
      options);
}

template <class Pools, Forgets what = Forgets::nothing>
Result explore_deal(Options options = {}) {
  options.schedules = scaled(30000);
  options.start_groups = options.capacity;
  options.changes = 0;
  options.weak_memory = true;
  Buffer<PoolEnds> ends;
  Buffer<std::uint32_t> room;
  return explore_tasks(
      [&](explore::Engine& engine, const Tasks& tasks) {
        ends = engine.fill<PoolEnds>(1, {});
        room = engine.fill<std::uint32_t>(2, 0);
        return Deal<Pools, what>{{ends.data(), room.data(), 1, 2}, tasks};
      },
      options);
}

template <class Pools>
class Pool : public testing::Test {};
using BothPools = testing::Types<DequePools, MutexPools>;

class PoolNames {
 public:
  template <class Pools>
  static std::string GetName(int) {
    return Pools::anybody_pushes ? "mutex" : "deque";
  }
};
TYPED_TEST_SUITE(Pool, BothPools, PoolNames);

TYPED_TEST(Pool, GivesEachTaskOnceToItsOwnerOrAThief) {
  const Result random = explore_deal<TypeParam>();
  EXPECT_TRUE(random.ok) << random;
  if constexpr (!TypeParam::anybody_pushes) {  // a lock is waited for, by priority perhaps for ever
    const Result pct = explore_deal<TypeParam>({.search = explore::Search::pct});
    EXPECT_TRUE(pct.ok) << pct;
  }
}

template <class Pools, Forgets what>
void expect_found() {
  const Result result = explore_deal<Pools, what>();
  EXPECT_FALSE(result.ok);
  std::cout << "  found in schedule " << result.schedules << ": " << result.failure << '\n';
}

TYPED_TEST(Pool, ThatReleasesNothingIsFound) { expect_found<TypeParam, Forgets::release>(); }

TEST(Deque, ThatAcquiresNothingIsFound) { expect_found<DequePools, Forgets::acquire>(); }
TEST(Deque, WhoseOwnerMerelyLooksIsFound) { expect_found<DequePools, Forgets::look>(); }

template <class Pools, KillOrder order>
void explore_tree(Options options = {}) {
  options.schedules = scaled(4000);
  options.weak_memory = true;
  std::optional<apps::PoolMemory> memory;
  const Result result = explore_tasks(
      [&](explore::Engine& engine, const Tasks& tasks) {
        memory.emplace(engine, apps::RunOptions{}, apps::PoolOptions{.room = 2}, 2);
        memory->template put<Pools>({0});
        memory->start(Tasks::count, 0);
        return Tree<Pools, order>{memory->template view<Pools>(), tasks};
      },
      options);
  EXPECT_TRUE(result.ok) << result;
}

TYPED_TEST(Pool, GivesEachTaskOnceWhileGroupsComeAndGo) {
  explore_tree<TypeParam, KillOrder::highest_first>();
  explore_tree<TypeParam, KillOrder::any>();
}

TYPED_TEST(Pool, GivesEachTaskOnceToGroupsOfSeveralThreads) {
  explore_tree<TypeParam, KillOrder::highest_first>({.capacity = 2, .local_size = 2});
}

}  // namespace
}  // namespace cohort::test
