// Kernels of collectives_test. They check themselves: operations of all threads of a group
// together, and atomic accesses.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// A kernel that counts its mistakes.
struct Checking {
  static constexpr std::uint32_t rounds = 3;
  std::uint32_t* wrong;
};

struct Plus {
  template <class T>
  COHORT_FN T operator()(T a, T b) const {
    return a + b;
  }
};
struct Greater {
  template <class T>
  COHORT_FN T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Lesser {
  template <class T>
  COHORT_FN T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
/// An associative but not commutative operation: the last of the nonzero values.
struct Last {
  COHORT_FN std::int64_t operator()(std::int64_t a, std::int64_t b) const { return b >= 0 ? b : a; }
};

struct Broadcasting : Checking {
  struct Pair {
    double a;
    std::uint64_t b;
  };

  auto twin() const { return twin_of("collectives/broadcasting", wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    const std::uint32_t size = group.local_size();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (const std::uint32_t from : {0U, size / 2, size - 1}) {
        expect(group, wrong,
               group.broadcast(group.local_id() * 10 + round, from) == from * 10 + round);
      }
      const Pair got = group.broadcast(Pair{group.local_id() + 0.5, group.local_id()}, size - 1);
      expect(group, wrong, got.a == size - 0.5 && got.b == size - 1);
      // Broadcasts from thread 0 by default.
      expect(group, wrong, group.broadcast(group.local_id()) == 0);
    }
  }
};

struct Reducing : Checking {
  auto twin() const { return twin_of("collectives/reducing", wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    const std::uint64_t size = group.local_size();
    const std::uint64_t id = group.local_id();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      expect(group, wrong,
             group.reduce(id + round, Plus{}) == size * (size - 1) / 2 + round * size);
      expect(group, wrong, group.reduce(id, Greater{}) == size - 1);
      expect(group, wrong, group.reduce(size - id, Lesser{}) == 1);
      const auto mine = static_cast<std::int64_t>(id);
      expect(group, wrong,
             group.reduce(id <= size / 2 ? mine : -1, Last{}) ==
                 static_cast<std::int64_t>(size == 1 ? 0 : size / 2));
    }
  }
};

struct Scanning : Checking {
  auto twin() const { return twin_of("collectives/scanning", wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    const std::uint64_t id = group.local_id();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      // 0 + 1 + ... + (id - 1), correct for id 0 too.
      const std::uint64_t before = id * (id - 1) / 2;
      expect(group, wrong, group.inclusive_scan(id, Plus{}) == before + id);
      expect(group, wrong, group.exclusive_scan(id, std::uint64_t{0}, Plus{}) == before);
      expect(group, wrong, group.exclusive_scan(id, round + 7, Plus{}) == before + round + 7);
      expect(group, wrong, group.inclusive_scan(id, Greater{}) == id);
      expect(group, wrong,
             group.exclusive_scan(id, std::uint64_t{0}, Greater{}) == (id == 0 ? 0 : id - 1));
    }
  }
};

/// Even and odd threads count themselves in two counters of local memory.
struct Claiming : Checking {
  struct Local {
    std::uint32_t counts[2];
  };

  auto twin() const { return twin_of("collectives/claiming", wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    const std::uint64_t id = group.local_id();
    const std::uint64_t even = (group.local_size() + 1) / 2;
    const std::uint64_t odd = group.local_size() / 2;
    auto& counts = group.local().counts;
    if (id == 0) counts[0] = counts[1] = 0;
    group.barrier();
    const std::uint64_t claimed = group.claim(counts[id % 2]);
    group.barrier();
    expect(group, wrong, claimed < (id % 2 == 0 ? even : odd));
    expect(group, wrong, counts[0] == even && counts[1] == odd);
    const std::uint64_t odd_sum = odd == 0 ? 0 : odd * (odd - 1) / 2;
    expect(group, wrong, group.reduce(claimed, Plus{}) == even * (even - 1) / 2 + odd_sum);
  }
};

struct UsingLocalMemory : Checking {
  struct Local {
    std::uint32_t cells[max_local_size];
  };

  auto twin() const { return twin_of("collectives/using_local_memory", wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    const std::uint32_t size = group.local_size();
    const std::uint32_t id = group.local_id();
    auto& cells = group.local().cells;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      cells[id] = group.group_id() * 100'000 + id + round;
      group.barrier();
      const std::uint32_t other = (id + 1) % size;
      expect(group, wrong, cells[other] == group.group_id() * 100'000 + other + round);
      pause(group);  // lets the other group interfere, if it can
      expect(group, wrong, cells[id] == group.group_id() * 100'000 + id + round);
      group.barrier();
    }
  }
};

/// Threads take turns: each adds to a plain number of its group, between barriers.
struct TakingTurns : Checking {
  struct Local {
    std::uint32_t sum;
  };

  auto twin() const { return twin_of("collectives/taking_turns", wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    const std::uint32_t turns = group.local_size() < 40 ? group.local_size() : 40;
    if (leader(group)) group.local().sum = 0;
    group.barrier();
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      if (group.local_id() == turn) group.local().sum += turn;
      group.barrier();
      expect(group, wrong, group.local().sum == turn * (turn + 1) / 2);
      group.barrier();
    }
  }
};

/// Several collective operations per step, while the job is resized.
struct InSteps {
  struct State {
    std::uint32_t step = 0;
  };
  struct Local {
    std::uint64_t sum;
  };
  std::uint32_t steps;
  std::uint32_t* wrong;

  auto twin() const { return twin_of("collectives/in_steps", steps, wrong); }
  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const std::uint64_t size = group.local_size();
    const std::uint64_t id = group.local_id();
    const std::uint64_t mine = group.global_id();
    const std::uint64_t first = std::uint64_t{group.group_id()} * size;
    if (leader(group)) group.local().sum = group.group_id() + state.step;
    expect(group, wrong, group.reduce(mine, Plus{}) == first * size + size * (size - 1) / 2);
    expect(group, wrong, group.local().sum == group.group_id() + state.step);
    expect(group, wrong,
           group.exclusive_scan(mine, std::uint64_t{0}, Plus{}) == first * id + id * (id - 1) / 2);
    group.global_barrier();
    expect(group, wrong, group.local().sum == group.group_id() + state.step);
    return ++state.step < steps ? Next::again : Next::halt;
  }
};

/// Makes calls as deeply nested as a kernel that uses libraries may.
struct Deep : Checking {
  static constexpr bool cpu_only = true;
  static constexpr const char* no_twin = "the dialect has no recursion";

  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    expect(group, wrong, descend(group, 64) == 64 * 65 / 2);
  }
  template <class Group>
  COHORT_FN std::uint32_t descend(Group& group, std::uint32_t depth) const {
    if (depth == 0) return 0;
    volatile std::uint8_t frame[1024];
    for (volatile std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(depth);
    group.barrier();
    return descend(group, depth - 1) + frame[depth];
  }
};

/// Makes every kind of relaxed access to words of all types, in global and in local memory.
struct Accessing {
  struct Local {
    std::int32_t number;
    std::uint32_t count;
    std::int64_t large_number;
    std::uint64_t large_count;
  };
  Local* words;
  std::uint32_t* right;  // the eight words of this type

  auto twin() const {
    return twin_of("collectives/accessing", reinterpret_cast<std::uint32_t*>(words), right);
  }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    if (group.global_id() != 0) return;
    for (Local* const all : {words, &group.local()}) {
      const std::uint32_t good = (behaves(group, all->number) ? 1U : 0U) +
                                 (behaves(group, all->count) ? 1U : 0U) +
                                 (behaves(group, all->large_number) ? 1U : 0U) +
                                 (behaves(group, all->large_count) ? 1U : 0U);
      add(group, right, good);
    }
  }

 private:
  template <class Group, class T>
  COHORT_FN static bool behaves(const Group& group, T& word) {
    // -2 for a signed type; otherwise larger than all other values here.
    constexpr T below = static_cast<T>(-2);
    constexpr T lesser = below < 1 ? below : 1;
    constexpr T greater = below < 1 ? 1 : below;
    constexpr T large = T{1} << (8 * sizeof(T) - 2);  // does not fit in half the bits
    const auto it = group.atomic(word);
    it.store(5);
    bool good = it.load() == 5;
    good = good && it.fetch_add(large) == 5 && it.fetch_sub(large + 7) == large + 5;
    good = good && it.load() == below && it.fetch_min(1) == below && it.exchange(below) == lesser;
    good = good && it.fetch_max(1) == below && it.exchange(large + 7) == greater;
    T expected = 7;
    good = good && !it.compare_exchange(expected, 9) && expected == large + 7;
    good = good && it.compare_exchange(expected, large + 9) && it.fetch_or(6) == large + 9;
    return good && it.fetch_and(large + 12) == large + 15 && it.load() == large + 12;
  }
};

using collectives_kernels = KernelList<Broadcasting, Reducing, Scanning, Claiming, UsingLocalMemory,
                                       TakingTurns, InSteps, Deep, Accessing>;

}  // namespace cohort::test
