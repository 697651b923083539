// The pools of the apps with work stealing, under the explorer with weak memory. Every task must be
// taken once, and the group that takes it must see what its pusher wrote. The explorer must also
// find a mistake in a deque that omits one of its memory orders. Three orders cannot be tested in
// this way: push's acquire, the acquire half of pop's read-modify-write, and the release of a
// thief's swap. They only keep a load from reading a value that is stored later. The explorer runs
// one access after another, so this never happens there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "apps/pool_memory.hpp"
#include "cohort/explore.hpp"
#include "conformance/scale.hpp"

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

/// Memory orders that a deque may omit in a test.
enum class Forgets : std::uint8_t {
  nothing,
  release_in_push,
  release_in_pop,     ///< omits the release of the store that lowers `bottom`
  release_of_look,    ///< omits the release of the load of `top`
  change_by_look,     ///< pop loads `top` without a read-modify-write
  acquire_of_top,     ///< omits the acquire of the load of `top` in steal
  acquire_of_bottom,  ///< omits the acquire of the load of `bottom` in steal
};

/// A group as the pools see it, whose atomics omit one order.
template <class Group>
struct Forgetful {
  template <class T, class Ref>
  struct Atomic {
    Ref word;
    Forgets what;
    bool is_top;

    T load(Order order = Order::relaxed) const {
      const Forgets this_one = is_top ? Forgets::acquire_of_top : Forgets::acquire_of_bottom;
      return word.load(what == this_one ? Order::relaxed : order);
    }
    void store(T value, Order order = Order::relaxed) const {
      const bool forgets = what == Forgets::release_in_push || what == Forgets::release_in_pop;
      word.store(value, forgets ? Order::relaxed : order);
    }
    T exchange(T value, Order order) const { return word.exchange(value, order); }
    T fetch_add(T value, Order order) const {
      if (what == Forgets::change_by_look) return word.load(Order::acquire);
      return word.fetch_add(value, what == Forgets::release_of_look ? Order::acquire : order);
    }
    bool compare_exchange(T& expected, T desired, Order order = Order::relaxed) const {
      return word.compare_exchange(expected, desired, order);
    }
  };

  const Group& group;
  Forgets what;
  const void* top;

  template <class T>
  auto atomic(T& word) const {
    return Atomic<T, decltype(group.atomic(word))>{group.atomic(word), what, &word == top};
  }
  template <class T>
  auto view(T* memory) const {
    return group.view(memory);
  }
};

/// The number of times each task was taken, and a word that its pusher writes and its taker reads.
struct Tasks {
  static constexpr std::uint32_t count = 5;

  std::uint32_t* meaning;  // written by the group that pushes the task
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

/// Group 0 pushes all tasks into a pool without room for all of them; the other groups steal.
template <class Pools>
struct Deal {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State {};

  Pools pools;
  Tasks tasks;
  Forgets what;

  template <class Group>
  void run(Group& group, State /*state*/) const {
    if (group.group_id() == 0) {
      for (std::uint32_t first = 0; first < Tasks::count; first += 2) {
        std::uint32_t which = 0;
        for (std::uint32_t i = 0; i < 2 && first + i < Tasks::count; ++i) {
          tasks.make(group, first + i);
          which |= 1U << i;
        }
        while ((which = pools.push(view(group, Forgets::release_in_push), 0, first, which)) != 0)
          pop(group);
      }
      while (pop(group)) {
      }
    } else {
      const auto thief = view(group, Forgets::acquire_of_top, Forgets::acquire_of_bottom);
      for (int tries = 0; tries < 2; ++tries) {
        const std::uint32_t task = pools.steal(thief, 0);
        if (task != no_task) tasks.note(group, task);
      }
    }
  }

 private:
  /// Omits `what` if it is one of `those`; otherwise omits nothing.
  template <class Group, class... Those>
  Forgetful<Group> view(const Group& group, Those... those) const {
    return {group, ((what == those) || ...) ? what : Forgets::nothing, &pools.ends[0].top};
  }
  template <class Group>
  bool pop(const Group& group) const {
    const std::uint32_t task = pools.pop(
        view(group, Forgets::release_in_pop, Forgets::release_of_look, Forgets::change_by_look), 0);
    if (task != no_task) tasks.note(group, task);
    return task != no_task;
  }
};

/// Tasks form a tree: every task pushes its children. Groups take tasks as in the apps, and join
/// and leave.
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

/// Group 1 only pushes tasks. The group that gets its id later pops them, unless group 0 has stolen
/// them all.
template <class Pools>
struct Inheritance {
  using State = Nothing;

  Stealing<Pools> work;
  Tasks tasks;
  std::uint64_t* inherited;  // summed over all schedules

  template <class Group>
  void run(Group& group, State state) const {
    const std::uint32_t id = group.group_id();
    const bool leaves_some = id == 1 && !group.joined();
    if (leaves_some) {
      for (std::uint32_t task = 1; task < Tasks::count; ++task) tasks.make(group, task);
      work.pools.push(group, 1, 1, (1U << (Tasks::count - 1)) - 1U);
    }
    for (int round = 0; group.atomic(work.progress->left).load(Order::acquire) != 0; ++round) {
      if (group.offer(state)) return;
      if (leaves_some) continue;
      std::uint32_t task = work.pools.pop(group, id);
      if (task == no_task && id == 0 && round > 1) task = work.pools.steal(group, 1);
      if (task == no_task) continue;
      tasks.note(group, task);
      work.done(group, 1);
      if (id == 1) ++*inherited;
    }
  }
};

/// Explores the kernel that `make(engine, tasks)` returns. Each task must be taken once.
template <class P = explore::Platform, class Make>
Result explore_tasks(Make make, const Options& options) {
  Buffer<std::uint32_t> meaning;
  Buffer<std::uint32_t> taken;
  return explore::check<P>(
      [&](explore::Engine& engine) {
        meaning = engine.upload<std::uint32_t>({1, 0, 0, 0, 0});  // task 0 is written by the host
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

template <class Pools>
Result explore_deal(Options options, Forgets what = Forgets::nothing) {
  options.schedules = scaled(30000, 100);
  options.start_groups = options.capacity;
  options.changes = 0;
  options.weak_memory = true;
  Buffer<PoolEnds> ends;
  Buffer<std::uint32_t> room;
  return explore_tasks(
      [&](explore::Engine& engine, const Tasks& tasks) {
        ends = engine.fill<PoolEnds>(1, {});
        room = engine.fill<std::uint32_t>(2, 0);
        return Deal<Pools>{{ends.data(), room.data(), 1, 2}, tasks, what};
      },
      options);
}

/// Explores the kernel that `make(work, tasks)` returns, over pools like an app's.
template <class P, class Pools, class Make>
void explore_stealing(Make make, std::uint32_t room, Options options) {
  options.schedules = scaled(4000, 100);
  options.weak_memory = true;
  std::optional<apps::PoolMemory> memory;
  const Result result = explore_tasks<P>(
      [&](explore::Engine& engine, const Tasks& tasks) {
        memory.emplace(engine, apps::RunOptions{}, apps::PoolOptions{}, room);
        memory->template put<Pools>({0});
        memory->start(Tasks::count, 0);
        return make(memory->template view<Pools>(), tasks);
      },
      options);
  EXPECT_TRUE(result.ok) << result;
}

template <class Pools, KillOrder order>
void explore_tree(const Options& options = {}) {
  const auto make = [](const Stealing<Pools>& work, const Tasks& tasks) {
    return Tree<Pools, order>{work, tasks};
  };
  explore_stealing<explore::Platform, Pools>(make, 2, options);
  explore_stealing<explore::FencedPlatform, Pools>(make, 2, options);
}

template <class P, class Pools>
void explore_inheritance() {
  std::uint64_t inherited = 0;
  explore_stealing<P, Pools>(
      [&](const Stealing<Pools>& work, const Tasks& tasks) {
        return Inheritance<Pools>{work, tasks, &inherited};
      },
      Tasks::count - 1,
      {.capacity = 3, .max_groups = 2, .start_groups = 2, .visits = 4, .changes = 4});
  EXPECT_GT(inherited, 0U);
}

template <class Pools>
class Pool : public testing::Test {};
using BothPools = testing::Types<DequePools, MutexPools>;

class PoolNames {
 public:
  template <class Pools>
  // NOLINTNEXTLINE(readability-identifier-naming): the name that gtest looks for
  static std::string GetName(int /*index*/) {
    return Pools::anybody_pushes ? "mutex" : "deque";
  }
};
TYPED_TEST_SUITE(Pool, BothPools, PoolNames);

TYPED_TEST(Pool, GivesEachTaskOnceToItsOwnerOrAThief) {
  const Result random = explore_deal<TypeParam>({});
  EXPECT_TRUE(random.ok) << random;
  // With priorities, a group may wait for the lock for ever.
  if constexpr (!TypeParam::anybody_pushes) {
    const Result pct = explore_deal<TypeParam>({.search = explore::Search::pct});
    EXPECT_TRUE(pct.ok) << pct;
  }
}

TYPED_TEST(Pool, GivesEachTaskOnceWhileGroupsComeAndGo) {
  explore_tree<TypeParam, KillOrder::highest_first>();
  explore_tree<TypeParam, KillOrder::any>();
}

TYPED_TEST(Pool, GivesEachTaskOnceToGroupsOfSeveralThreads) {
  explore_tree<TypeParam, KillOrder::highest_first>({.capacity = 2, .local_size = 2});
}

TYPED_TEST(Pool, PassesToWhoeverGetsTheIdOfItsOwner) {
  explore_inheritance<explore::Platform, TypeParam>();
  explore_inheritance<explore::FencedPlatform, TypeParam>();
}

class ForgetfulDeque : public testing::TestWithParam<Forgets> {};
INSTANTIATE_TEST_SUITE_P(Each, ForgetfulDeque,
                         testing::Values(Forgets::release_in_push, Forgets::release_in_pop,
                                         Forgets::release_of_look, Forgets::change_by_look,
                                         Forgets::acquire_of_top, Forgets::acquire_of_bottom));

TEST_P(ForgetfulDeque, IsFound) {
  const Result result = explore_deal<DequePools>({}, GetParam());
  EXPECT_FALSE(result.ok);
  std::cout << "  found in schedule " << result.schedules << ": " << result.failure << '\n';
}

}  // namespace
}  // namespace cohort::test
