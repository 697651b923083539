// Kernels that check themselves, for the tests of the CUDA engine.
// Invariant: every error is counted in `wrong`; no check depends on timing.
#pragma once

#include "cohort/kernel.hpp"

namespace cohort::test {

/// Each step changes each item once, with plain writes that only the barrier orders. Runs until
/// group 0 has seen `stop`, or for `steps` steps.
struct Steps {
  static constexpr const char* name = "steps";
  std::uint32_t* items;
  std::uint32_t count;
  std::uint32_t steps;
  std::uint32_t* stop;
  std::uint32_t* wrong;
  struct State {
    std::uint32_t step = 0;
  };

  template <class Visit>
  void buffers(Visit& visit) const {
    visit("items", items, count);
  }
  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    for (const std::size_t i : group.stride(count)) {
      if (items[i]++ != state.step) group.atomic(*wrong).fetch_add(1U);
    }
    if (group.group_id() >= group.num_groups()) group.atomic(*wrong).fetch_add(1U);
    ++state.step;
    if (group.global_id() != 0) return Next::halt;  // group 0 decides
    return state.step < steps && group.atomic(*stop).load() == 0 ? Next::again : Next::halt;
  }
};

/// Tracks which ids are held. An id held twice is counted as a protocol error.
struct Holders {
  std::uint32_t* held;
  std::uint32_t* wrong;

  template <class Group>
  COHORT_FN void enter(const Group& group, std::uint32_t id) const {
    if (group.local_id() != 0) return;
    const bool bad = id >= group.max_groups() || group.atomic(held[id]).fetch_add(1U) != 0;
    if (bad) group.atomic(*wrong).fetch_add(1U);
  }
  template <class Group>
  COHORT_FN void exit(const Group& group, std::uint32_t id) const {
    if (group.local_id() == 0) group.atomic(held[id]).fetch_sub(1U);
  }
};

/// A mix: an offer, a fork and a barrier in each round. In every other round it is a resizing
/// barrier.
struct Mixed {
  Holders ids;
  std::uint32_t* rounds;
  std::uint32_t* last;  // group 0's decision, by parity of the round
  std::uint32_t* stop;
  std::uint32_t wanted;
  struct State {
    std::uint32_t round = 0;
  };

  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    for (;;) {
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      ids.enter(group, group.group_id());
      if (group.global_id() == 0) {
        ++*rounds;
        last[state.round % 2] =
            state.round + 1 >= wanted || group.atomic(*stop).load() != 0 ? 1 : 0;
      }
      ids.exit(group, group.group_id());
      const State next{state.round + 1};
      if (state.round % 2 == 0) {
        group.global_barrier();
        if (last[0] != 0) return;
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      state = next;
    }
  }
};

/// Takes numbered tasks until it is told to stop. Groups may leave and join at every task.
template <KillOrder order>
struct Taking {
  static constexpr Traits traits{.kill_order = order};
  Holders ids;
  std::uint64_t* next;
  std::uint32_t* done;  // number of times each task was done, by task number modulo `count`
  std::uint32_t count;
  std::uint32_t* stop;
  long long cycles;          // duration of a task
  std::uint64_t pause_from;  // after this task, each task waits until groups are wanted back

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    for (;;) {
      if (group.offer(state)) return;
      ids.enter(group, group.group_id());
      constexpr std::uint64_t none = ~std::uint64_t{0};
      std::uint64_t task = none;
      if (group.local_id() == 0 && group.atomic(*stop).load() == 0) {
        task = group.atomic(*next).fetch_add(1U);
      }
      task = group.broadcast(task);
      ids.exit(group, group.group_id());
      if (task == none) return;
#ifdef __CUDA_ARCH__
      for (const long long until = clock64() + cycles; clock64() < until;) {
      }
#endif
      if (group.local_id() == 0) group.atomic(done[task % count]).fetch_add(1U);
      group.barrier();
      while (task >= pause_from && group.query() == 0 &&
             group.broadcast(group.atomic(*stop).load()) == 0) {
      }
    }
  }
};

/// The example of the paper's introduction: a barrier that the kernel implements itself.
struct Barriers {
  std::uint32_t rounds;
  std::uint32_t* counts;  // indexed by round
  std::uint32_t* wrong;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    for (std::uint32_t i = 0; i < rounds; ++i) {
      if (group.local_id() == 0) group.atomic(counts[i]).fetch_add(1U);
      group.global_barrier();
      if (group.local_id() == 0 && group.atomic(counts[i]).load() != group.num_groups()) {
        group.atomic(*wrong).fetch_add(1U);
      }
    }
  }
};

/// Records where each group runs in each round.
struct Places {
  std::uint32_t* sm;  // indexed by id: the SM of the last step
  std::uint32_t* groups;
  std::uint32_t* stop;

  template <class Group>
  COHORT_FN Next step(Group& group, Nothing& /*state*/) const {
#ifdef __CUDA_ARCH__
    if (group.local_id() == 0) {
      std::uint32_t id = 0;
      asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
      group.atomic(sm[group.group_id()]).store(id);
    }
#endif
    if (group.global_id() == 0) group.atomic(*groups).store(group.num_groups());
    return group.atomic(*stop).load() == 0 ? Next::again : Next::halt;
  }
};

/// Writes to memory that is not mapped.
struct Wild {
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    if (group.global_id() == 0) *reinterpret_cast<std::uint32_t*>(std::uintptr_t{16}) = 1;
  }
};

/// A task. Each group counts itself; all must run at the same time.
struct Gang {
  std::uint32_t* arrived;
  std::uint32_t* wrong;

  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    if (group.local_id() == 0) group.atomic(*arrived).fetch_add(1U);
    group.global_barrier();
    if (group.local_id() == 0 && group.atomic(*arrived).load() != group.num_groups()) {
      group.atomic(*wrong).fetch_add(1U);
    }
  }
};

}  // namespace cohort::test
