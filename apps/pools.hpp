// Work stealing with one pool of tasks per group slot. A group takes tasks from its own pool, or
// else steals from the others. Tasks of groups that have left remain there to be stolen. A task is
// a number chosen by the app. Invariant: every pushed task is taken once. A full pool is an error,
// never a lost task.
#pragma once

#include <string>

#include "cohort/kernel.hpp"

namespace cohort::apps {

/// The words of one pool, in lines of their own.
struct alignas(64) PoolEnds {
  std::uint64_t top = 0;                 ///< end at which thieves take tasks
  alignas(64) std::uint64_t bottom = 0;  ///< end at which the owner pushes and pops
  alignas(64) std::uint32_t lock = 0;    ///< used by MutexPools
};

inline constexpr std::uint32_t no_task = ~0U;
inline constexpr std::uint32_t all_done = ~0U - 1;  ///< no more tasks will come
inline constexpr std::uint32_t most_pushed = 8;     ///< maximum number of tasks per push

/// Lock-free: the deque of Chase and Lev (2005), with a fixed size. The order in which `top`
/// changes settles its races; no fence is needed. The owner lowers `bottom`, then reads `top` by a
/// read-modify-write, and so sees all earlier thieves. A later thief sees the lower `bottom` before
/// it gets to the last task, or loses its swap.
struct DequePools {
  static constexpr bool anybody_pushes = false;

  PoolEnds* ends;
  std::uint32_t* tasks;  ///< `room` entries per pool
  std::uint32_t pools;
  std::uint32_t room;  ///< a power of two

  /// Owner only: pushes the tasks `first` + i for each bit i of `which`, such that the lowest is
  /// popped first. Returns the bits for which there was no room.
  template <class Group>
  COHORT_FN std::uint32_t push(const Group& group, std::uint32_t pool, std::uint32_t first,
                               std::uint32_t which) const {
    const auto bottom = group.atomic(ends[pool].bottom);
    std::uint64_t at = bottom.load();  // only the owner writes it
    // Acquire: pairs with the thief that freed the place.
    const std::uint64_t end = group.atomic(ends[pool].top).load(Order::acquire) + room;
    for (std::uint32_t i = most_pushed; i-- > 0 && at != end;) {
      if ((which >> i & 1U) == 0) continue;
      group.atomic(place(pool, at++)).store(first + i);
      which -= 1U << i;
    }
    // Release: pairs with the thief's load of `bottom`, for the tasks and the memory they refer to.
    bottom.store(at, Order::release);
    return which;
  }

  /// Owner only: takes the task pushed last.
  template <class Group>
  COHORT_FN std::uint32_t pop(const Group& group, std::uint32_t pool) const {
    const auto top = group.atomic(ends[pool].top);
    const auto bottom = group.atomic(ends[pool].bottom);
    const std::uint64_t end = bottom.load();
    if (top.load() >= end) return no_task;
    const std::uint64_t last = end - 1;
    bottom.store(last, Order::release);  // pairs with steal, as in push
    // Release: pairs with steal's load of `top`. Acquire: with the thieves' swaps.
    std::uint64_t first = top.fetch_add(0, Order::acq_rel);
    if (first > last) {   // thieves were quicker
      bottom.store(end);  // no task is left below
      return no_task;
    }
    const std::uint32_t task = group.atomic(place(pool, last)).load();
    if (first < last) return task;
    const bool ours = top.compare_exchange(first, end);  // the last task: thieves may be taking it
    // Release as in push. If a thief won, this store may formally be ordered before the read of the
    // task.
    bottom.store(end, ours ? Order::relaxed : Order::release);
    return ours ? task : no_task;
  }

  /// Whether the pool seems to have a task. This is only a hint. Any group may call it.
  template <class Group>
  [[nodiscard]] COHORT_FN bool some(const Group& group, std::uint32_t pool) const {
    return group.atomic(ends[pool].top).load() < group.atomic(ends[pool].bottom).load();
  }
  template <class Group>
  COHORT_FN std::uint32_t steal(const Group& group, std::uint32_t pool) const {
    const auto top = group.atomic(ends[pool].top);
    const auto bottom = group.atomic(ends[pool].bottom);
    std::uint64_t first =
        top.load(Order::acquire);  // pairs with pop's read-modify-write, and the swaps
    if (bottom.load(Order::acquire) <= first) return no_task;  // pairs with push and pop
    const std::uint32_t task = group.atomic(place(pool, first)).load();
    // Release: pairs with the loads of `top` in pop, in steal, and in push, which reuses the place.
    return top.compare_exchange(first, first + 1, Order::release) ? task : no_task;
  }

 private:
  COHORT_FN std::uint32_t& place(std::uint32_t pool, std::uint64_t at) const {
    return tasks[std::size_t{pool} * room + (at & (room - 1))];
  }
};

/// The paper's pools: each has a lock.
struct MutexPools {
  static constexpr bool anybody_pushes = true;

  PoolEnds* ends;
  std::uint32_t* tasks;  ///< `room` entries per pool
  std::uint32_t pools;
  std::uint32_t room;

  template <class Group>
  COHORT_FN std::uint32_t push(const Group& group, std::uint32_t pool, std::uint32_t first,
                               std::uint32_t which) const {
    lock(group, pool);
    std::uint64_t size = group.view(&ends[pool].bottom)[0];
    for (std::uint32_t i = most_pushed; i-- > 0 && size < room;) {
      if ((which >> i & 1U) == 0) continue;
      group.view(tasks)[std::size_t{pool} * room + size++] = first + i;
      which -= 1U << i;
    }
    group.view(&ends[pool].bottom)[0] = size;
    group.atomic(ends[pool].top).store(size);  // a hint for some(), which takes no lock
    unlock(group, pool);
    return which;
  }

  template <class Group>
  [[nodiscard]] COHORT_FN bool some(const Group& group, std::uint32_t pool) const {
    return group.atomic(ends[pool].top).load() > 0;
  }
  template <class Group>
  COHORT_FN std::uint32_t pop(const Group& group, std::uint32_t pool) const {
    if (!some(group, pool)) return no_task;
    lock(group, pool);
    return last_of_locked(group, pool);
  }
  /// Does not wait for the lock: its owner is about to change the pool, and the caller can retry
  /// afterwards.
  template <class Group>
  COHORT_FN std::uint32_t steal(const Group& group, std::uint32_t pool) const {
    return some(group, pool) && try_lock(group, pool) ? last_of_locked(group, pool) : no_task;
  }

 private:
  template <class Group>
  COHORT_FN std::uint32_t last_of_locked(const Group& group, std::uint32_t pool) const {
    const std::uint64_t size = group.view(&ends[pool].bottom)[0];
    std::uint32_t task = no_task;
    if (size > 0) {
      task = group.view(tasks)[std::size_t{pool} * room + size - 1];
      group.view(&ends[pool].bottom)[0] = size - 1;
      group.atomic(ends[pool].top).store(size - 1);
    }
    unlock(group, pool);
    return task;
  }

  template <class Group>
  COHORT_FN bool try_lock(const Group& group, std::uint32_t pool) const {
    return group.atomic(ends[pool].lock).exchange(1, Order::acquire) == 0;  // pairs with unlock
  }
  template <class Group>
  COHORT_FN void lock(const Group& group, std::uint32_t pool) const {
    while (!try_lock(group, pool)) {
    }
  }
  template <class Group>
  COHORT_FN void unlock(const Group& group, std::uint32_t pool) const {
    group.atomic(ends[pool].lock).store(0, Order::release);  // pairs with try_lock
  }
};

/// Words shared by an app's groups, in addition to their pools.
struct alignas(64) Progress {
  std::uint64_t left = 0;               ///< amount of work to be done; 0: finished
  alignas(64) std::uint32_t error = 0;  ///< a Stop: why the job ends early
  alignas(64) std::uint32_t next_place =
      0;  ///< number of used places of the app's own memory, which it allocates in order
};

/// Values of Progress::error.
enum class Stop : std::uint32_t { none, pools_full, memory_full };

/// The pools and the progress of a work-stealing kernel.
template <class Pools>
struct Stealing {
  Pools pools;
  MutexPools overflow;  ///< shared by all groups, if full pools cannot pass tasks on; else empty
  Progress* progress;

  /// For a checkpoint. There is one pool per group, so the layout depends on the number of groups.
  template <class Visit>
  void buffers(Visit& visit) const {
    const std::string groups = " of " + std::to_string(pools.pools) + " groups";
    // One more: the overflow pool.
    visit(("pools" + groups).c_str(), pools.ends, std::size_t{pools.pools} + 1);
    visit(("tasks" + groups).c_str(), pools.tasks, (std::size_t{pools.pools} + 1) * pools.room);
    visit("progress", progress, 1);
  }

  /// The pool from which a group steals first.
  template <class Group>
  [[nodiscard]] COHORT_FN std::uint32_t neighbour(const Group& group) const {
    return (group.group_id() + 1) % pools.pools;
  }

  /// Returns a task for the whole group, no_task, or all_done. All threads of the group call it.
  /// `victim` is the pool from which this group stole last; it is tried first. Searching all pools
  /// for each task of a group that has left would take long.
  template <class Group>
  [[nodiscard]] COHORT_FN std::uint32_t take(const Group& group, std::uint32_t& victim) const {
    std::uint32_t task = no_task;
    if (group.local_id() == 0) {
      const std::uint32_t error = group.atomic(progress->error).load();
      task = pools.pop(group, group.group_id() % pools.pools);
      if (task == no_task) task = pools.steal(group, victim);
      // Acquire: pairs with done(), so that all_done makes the results visible.
      const auto left = group.atomic(progress->left);
      if (error != 0 || (task == no_task && left.load(Order::acquire) == 0)) task = all_done;
    }
    task = group.broadcast(task);
    if (task != no_task) return task;
    const std::uint32_t steps = steps_to_some(group, victim);
    if (steps < pools.pools) victim = (victim + steps) % pools.pools;
    if (group.local_id() == 0) {
      if (steps < pools.pools) {
        task = pools.steal(group, victim);
      } else if (overflow.pools > 0) {
        task = overflow.steal(group, 0);
      }
    }
    return group.broadcast(task);
  }

  /// One thread only: pushes the tasks `first` + i for each bit i of `which` into the group's pool,
  /// or into the next pool that has room.
  template <class Group>
  COHORT_FN void push(const Group& group, std::uint32_t first, std::uint32_t which) const {
    const std::uint32_t mine = group.group_id() % pools.pools;
    const std::uint32_t reachable = Pools::anybody_pushes ? pools.pools : 1;
    for (std::uint32_t i = 0; i < reachable && which != 0; ++i)
      which = pools.push(group, (mine + i) % pools.pools, first, which);
    if (overflow.pools > 0 && which != 0) which = overflow.push(group, 0, first, which);
    if (which != 0) fail(group, Stop::pools_full);
  }

  template <class Group>
  COHORT_FN void fail(const Group& group, Stop why) const {
    group.atomic(progress->error).store(static_cast<std::uint32_t>(why));
  }

  /// One thread only: reports that `work` units of work are done.
  template <class Group>
  COHORT_FN void done(const Group& group, std::uint64_t work) const {
    group.atomic(progress->left).fetch_sub(work, Order::acq_rel);  // pairs with take()
  }

 private:
  /// Distance from `from` to the next pool that seems to have a task; at least `pools` if none has.
  /// Each thread tests one pool, because a hundred tests in turn take a GPU 90 µs.
  template <class Group>
  [[nodiscard]] COHORT_FN std::uint32_t steps_to_some(const Group& group,
                                                      std::uint32_t from) const {
    std::uint32_t steps = group.local_id();
    while (steps < pools.pools && !pools.some(group, (from + steps) % pools.pools))
      steps += group.local_size();
    return group.reduce(steps, [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; });
  }
};

}  // namespace cohort::apps
