// What the threads of one group do together: barrier, local memory, broadcast, reduce and the
// scans.
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <numeric>
#include <vector>

#include "conformance/support.hpp"

namespace cohort::test {
namespace {

template <class Engine>
class Collectives : public testing::Test {};
TYPED_TEST_SUITE(Collectives, Engines, EngineNames);

constexpr std::uint32_t rounds = 3;

/// Calls `test(local_size)` for groups of one thread up to the largest.
template <class Test>
void for_each_local_size(Test test) {
  for (const std::uint32_t local_size : {1U, 2U, 4U, 33U, 256U, 1024U}) {
    if (thread_sanitized && local_size > 256) continue;  // a fibre costs it a millisecond
    SCOPED_TRACE(testing::Message() << local_size << " threads");
    test(local_size);
  }
}

/// Launches the kernel with two groups and expects that it found nothing wrong.
template <class Kernel, class Engine>
void expect_right(Engine& engine, std::uint32_t local_size) {
  for (const bool resizable : {true, false}) {
    std::atomic<std::uint32_t> wrong{0};
    const ScopedJob job = engine.launch(
        Kernel{&wrong}, {.max_groups = 2, .local_size = local_size, .resizable = resizable});
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(wrong, 0U);
  }
}

/// A kernel that checks itself.
struct Checking {
  std::atomic<std::uint32_t>* wrong;

  void expect(bool right) const { wrong->fetch_add(right ? 0 : 1, std::memory_order_relaxed); }
};

struct Broadcasting : Checking {
  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    const std::uint32_t size = group.local_size();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (const std::uint32_t from : {0U, size / 2, size - 1}) {
        expect(group.broadcast(group.local_id() * 10 + round, from) == from * 10 + round);
      }
      struct Pair {
        double a;
        std::uint64_t b;
      };
      const Pair got = group.broadcast(Pair{group.local_id() + 0.5, group.local_id()}, size - 1);
      expect(got.a == size - 0.5 && got.b == size - 1);
      expect(group.broadcast(group.local_id()) == 0);  // from thread 0 unless told otherwise
    }
  }
};

TYPED_TEST(Collectives, BroadcastGivesEveryThreadOneThreadsValue) {
  TypeParam engine{{.capacity = 2}};
  for_each_local_size([&](std::uint32_t size) { expect_right<Broadcasting>(engine, size); });
}

struct Reducing : Checking {
  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    const std::uint64_t size = group.local_size();
    const std::uint64_t id = group.local_id();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      expect(group.reduce(id + round, std::plus<>{}) == size * (size - 1) / 2 + round * size);
      expect(group.reduce(id, [](auto a, auto b) { return std::max(a, b); }) == size - 1);
      expect(group.reduce(size - id, [](auto a, auto b) { return std::min(a, b); }) == 1);
      // Associative but not commutative: the threads' order counts. Last of the threads that have
      // something.
      const auto last = [](std::int64_t a, std::int64_t b) { return b >= 0 ? b : a; };
      const auto mine = static_cast<std::int64_t>(id);
      expect(group.reduce(id <= size / 2 ? mine : -1, last) == static_cast<std::int64_t>(size / 2));
    }
  }
};

TYPED_TEST(Collectives, ReduceCombinesTheValuesOfAllThreads) {
  TypeParam engine{{.capacity = 2}};
  for_each_local_size([&](std::uint32_t size) { expect_right<Reducing>(engine, size); });
}

struct Scanning : Checking {
  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    const std::uint64_t id = group.local_id();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t before = id * (id - 1) / 2;  // 0 + 1 + ... + (id - 1), also for id 0
      expect(group.inclusive_scan(id, std::plus<>{}) == before + id);
      expect(group.exclusive_scan(id, std::uint64_t{0}, std::plus<>{}) == before);
      expect(group.exclusive_scan(id, round + 7, std::plus<>{}) == before + round + 7);
      const auto greatest = [](auto a, auto b) { return std::max(a, b); };
      expect(group.inclusive_scan(id, greatest) == id);
      expect(group.exclusive_scan(id, std::uint64_t{0}, greatest) == (id == 0 ? 0 : id - 1));
    }
  }
};

TYPED_TEST(Collectives, ScansCombineTheValuesOfTheThreadsBefore) {
  TypeParam engine{{.capacity = 2}};
  for_each_local_size([&](std::uint32_t size) { expect_right<Scanning>(engine, size); });
}

struct UsingLocalMemory : Checking {
  struct Local {
    std::uint32_t cells[max_local_size];
  };

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    const std::uint32_t size = group.local_size();
    const std::uint32_t id = group.local_id();
    auto& cells = group.local().cells;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      cells[id] = group.group_id() * 100'000 + id + round;
      group.barrier();
      const std::uint32_t other = (id + 1) % size;
      expect(cells[other] == group.group_id() * 100'000 + other + round);
      std::this_thread::yield();  // time for the other group to disturb
      expect(cells[id] == group.group_id() * 100'000 + id + round);
      group.barrier();
    }
  }
};

TYPED_TEST(Collectives, LocalMemoryIsSharedWithinAGroupAndNotBetweenGroups) {
  TypeParam engine{{.capacity = 2}};
  for_each_local_size([&](std::uint32_t size) { expect_right<UsingLocalMemory>(engine, size); });
}

/// Threads take turns: each adds to a plain number of its group, between barriers.
struct TakingTurns : Checking {
  struct Local {
    std::uint32_t sum;
  };

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    const std::uint32_t turns = std::min(group.local_size(), 40U);
    if (group.local_id() == 0) group.local().sum = 0;
    group.barrier();
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      if (group.local_id() == turn) group.local().sum += turn;
      group.barrier();
      expect(group.local().sum == turn * (turn + 1) / 2);
      group.barrier();
    }
  }
};

TYPED_TEST(Collectives, BarrierOrdersTheThreadsOfAGroup) {
  TypeParam engine{{.capacity = 2}};
  for_each_local_size([&](std::uint32_t size) { expect_right<TakingTurns>(engine, size); });
}

/// All of it in the steps of a kernel that is resized meanwhile, in each group by itself.
struct InSteps : Checking {
  struct State {
    std::uint32_t step = 0;
  };
  struct Local {
    std::uint64_t sum;
  };
  std::uint32_t steps = 0;

  template <class Group>
  Next step(Group& group, State& state) const {
    const std::uint64_t size = group.local_size();
    const std::uint64_t mine = group.global_id();
    const std::uint64_t first = std::uint64_t{group.group_id()} * size;
    if (group.local_id() == 0) group.local().sum = group.group_id() + state.step;
    const std::uint64_t sum = group.reduce(mine, std::plus<>{});
    expect(sum == first * size + size * (size - 1) / 2);
    expect(group.local().sum == group.group_id() + state.step);
    expect(group.exclusive_scan(mine, std::uint64_t{0}, std::plus<>{}) ==
           first * group.local_id() + std::uint64_t{group.local_id()} * (group.local_id() - 1) / 2);
    group.global_barrier();
    expect(group.local().sum == group.group_id() + state.step);
    return ++state.step < steps ? Next::again : Next::halt;
  }
};

TYPED_TEST(Collectives, WorkInEveryGroupOfAJobThatIsResized) {
  TypeParam engine{{.capacity = 4}};
  for (const std::uint32_t local_size : {1U, 4U, 33U}) {
    std::atomic<std::uint32_t> wrong{0};
    InSteps kernel{{&wrong}};
    kernel.steps = scaled(100, 20);
    const ScopedJob job = engine.launch(kernel, {.max_groups = 4, .local_size = local_size});
    for (std::uint32_t i = 0; job.status() == Status::running; ++i) {
      job.set_target(1 + i % 4);
      std::this_thread::yield();
    }
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(wrong, 0U);
  }
}

/// Goes as deep as a kernel that calls into libraries may.
struct Deep : Checking {
  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    expect(descend(group, 64) == 64 * 65 / 2);
  }
  template <class Group>
  std::uint32_t descend(Group& group, std::uint32_t depth) const {
    if (depth == 0) return 0;
    volatile std::uint8_t frame[1024];
    for (volatile std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(depth);
    group.barrier();
    return descend(group, depth - 1) + frame[depth];
  }
};

TYPED_TEST(Collectives, ThreadsHaveRoomForDeepCalls) {
  TypeParam engine{{.capacity = 2}};
  for (const std::uint32_t local_size : {1U, 4U, 33U}) expect_right<Deep>(engine, local_size);
}

TEST(Stacks, ThreadsMayBeginWhereOthersEnded) {
  // A page that stays lets the next engine's stacks lie elsewhere in the same memory.
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<void*> pages;
  for (std::uint32_t i = 0; i < 8; ++i) {
    {
      cpu::Engine engine{{.capacity = 2}};
      expect_right<Deep>(engine, 33);
    }
    pages.push_back(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages.back(), MAP_FAILED);
  }
  for (void* page : pages) munmap(page, bytes);
}

}  // namespace
}  // namespace cohort::test
