// Stress: kills, forks, resizing barriers, suspends, cancels and several jobs at once, as fast as
// the machine resizes. Every kernel checks itself: ids held by one group at a time, each item
// touched once a step, nobody lost.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "cohort/cpu.hpp"
#include "conformance/site.hpp"

namespace cohort {
namespace {

using namespace std::chrono_literals;

/// Which ids are in use. An id held twice is a protocol error that counts.
struct Ids {
  std::atomic<std::uint32_t> holders[64] = {};
  std::atomic<std::uint64_t> errors{0};
  std::uint64_t last_owner[64] =
      {};  // plain: successive holders of an id must be ordered by the protocol

  void enter(std::uint32_t id) {
    if (id >= 64 || holders[id].fetch_add(1, std::memory_order_relaxed) != 0) {
      errors.fetch_add(1, std::memory_order_relaxed);
    } else {
      ++last_owner[id];
    }
  }
  void exit(std::uint32_t id) {
    if (id < 64) holders[id].fetch_sub(1, std::memory_order_relaxed);
  }
};

/// Step style: each step touches each item once, with plain writes that only the barrier orders.
struct Steps {
  std::uint32_t* items;
  std::uint32_t count;
  const std::atomic<bool>* stop;
  Ids* ids;
  struct State {
    std::uint32_t step = 0;
  };

  template <class Group>
  Next step(Group group, State& state) const {
    ids->enter(group.group_id());
    for (auto i : group.stride(count)) {
      if (items[i]++ != state.step) ids->errors.fetch_add(1, std::memory_order_relaxed);
    }
    ids->exit(group.group_id());
    ++state.step;
    return stop->load(std::memory_order_relaxed) ? Next::halt : Next::again;
  }
};

/// Direct style, everything mixed: an offer, a fork and a barrier in each round, resizing in every
/// other one.
struct Mixed {
  std::atomic<std::uint32_t>* arrivals;  // a ring of 4 rounds
  std::uint32_t* agreed;                 // plain, same ring: what group 0 saw
  const std::atomic<bool>* stop;
  std::atomic<bool>* last_round;  // group 0's decision, one for each parity
  Ids* ids;
  struct State {
    std::uint32_t round = 0;
  };

  template <class Group>
  void run(Group group, State state) const {
    for (;;) {
      const std::uint32_t slot = state.round & 3U;
      ids->enter(group.group_id());
      ids->exit(group.group_id());
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      arrivals[slot].fetch_add(1, std::memory_order_relaxed);
      if (group.group_id() == 0) {
        arrivals[(state.round + 1) & 3U].store(0, std::memory_order_relaxed);
        // Not in a round that ends with a resizing barrier: who joins there begins with the next
        // one, and would find everybody gone.
        const bool last = state.round % 2 == 0 && stop->load(std::memory_order_relaxed);
        last_round[state.round & 1U].store(last, std::memory_order_relaxed);
      }
      const State next{state.round + 1};
      if (state.round % 2 == 0) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      // Everybody has arrived, so the count is final. Whoever joined in this round counted itself;
      // so did a group that the plain barrier took while others could still fork.
      const std::uint32_t arrived = arrivals[slot].load(std::memory_order_relaxed);
      const bool bounded = Group::traits.barrier != ResizingBarrier::plain || state.round % 2 == 0;
      if (arrived == 0 || (bounded && arrived > group.max_groups())) ids->errors.fetch_add(1);
      // Nobody is past the next barrier before this group has read what group 0 wrote.
      if (state.round > 0 && agreed[(state.round - 1) & 3U] == 0) ids->errors.fetch_add(1);
      if (group.group_id() == 0) agreed[slot] = arrived;
      const bool last = last_round[state.round & 1U].load(std::memory_order_relaxed);
      if (last) return;
      state = next;
    }
  }
};

/// Work stealing at its barest, kill order any: ids must stay unique, though not dense.
struct Steal {
  static constexpr Traits traits{.kill_order = KillOrder::any};
  std::atomic<std::uint64_t>* done;
  const std::atomic<bool>* stop;
  Ids* ids;

  template <class Group>
  void run(Group group, Nothing state) const {
    while (!stop->load(std::memory_order_relaxed)) {
      if (group.offer(state)) return;
      ids->enter(group.group_id());
      done->fetch_add(1, std::memory_order_relaxed);
      ids->exit(group.group_id());
      std::this_thread::yield();  // more groups than CPUs: let them change places as often as they
                                  // can
    }
  }
};

/// Turns the target of a job at random until `events` groups have come and gone; suspends it now
/// and then. Returns how many have. The watchdog ends it if groups stop coming and going.
std::uint64_t shake(const Job& job, std::uint32_t max_groups, std::uint64_t events, unsigned seed) {
  std::mt19937 random{seed};
  for (std::uint64_t turn = 1;; ++turn) {
    job.set_target(1 + static_cast<std::uint32_t>(random() % max_groups));
    if (turn % 64 == 0 && job.suspend() == Status::suspended) job.resume();
    if (turn % 16 == 0) {
      const Report report = job.report();
      if (report.joins + report.leaves >= events) return report.joins + report.leaves;
    }
    if (random() % 4 == 0) std::this_thread::yield();
  }
}

class Stress : public testing::Test {
 protected:
  static constexpr std::uint32_t groups = 6;

  template <class Kernel>
  void run(const Kernel& kernel, std::uint64_t events, std::uint32_t local_size = 1) {
    cpu::Engine engine{{.capacity = groups}};
    const Job job = engine.launch(kernel, {.max_groups = groups, .local_size = local_size});
    const auto wanted = static_cast<std::uint64_t>(static_cast<double>(events) * test::scale());
    shake(job, groups, wanted, 1);
    stop_ = true;
    job.reset_target();
    const Report report = job.wait();
    EXPECT_EQ(report.status, Status::finished);
    EXPECT_GT(report.joins, 0U);
    EXPECT_GT(report.leaves, 0U);
    EXPECT_EQ(ids_.errors, 0U);
  }

  template <ResizingBarrier barrier>
  void run_steps(std::uint64_t events, std::uint32_t local_size = 1) {
    std::vector<std::uint32_t> items(64);
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    run(Kernel{{items.data(), 64, &stop_, &ids_}}, events, local_size);
    for (const std::uint32_t each : items) EXPECT_EQ(each, items[0]);
  }

  template <ResizingBarrier barrier>
  void run_mixed(std::uint64_t events) {
    std::atomic<std::uint32_t> arrivals[4] = {};
    std::uint32_t agreed[4] = {1, 1, 1, 1};  // a suspend may take group 0 before it writes one
    std::atomic<bool> last_round[2] = {};
    using Kernel = With<Mixed, Traits{.barrier = barrier}>;
    run(Kernel{{arrivals, agreed, &stop_, last_round, &ids_}}, events);
  }

  std::atomic<bool> stop_{false};
  Ids ids_;
};

TEST_F(Stress, StepsOnePass) { run_steps<ResizingBarrier::one_pass>(20000); }
TEST_F(Stress, StepsOnePassWithFourThreads) { run_steps<ResizingBarrier::one_pass>(5000, 4); }
TEST_F(Stress, StepsQuery) { run_steps<ResizingBarrier::query>(10000); }
TEST_F(Stress, StepsPlain) { run_steps<ResizingBarrier::plain>(10000); }
TEST_F(Stress, StepsModelled) { run_steps<ResizingBarrier::modelled>(10000); }
TEST_F(Stress, MixedOnePass) { run_mixed<ResizingBarrier::one_pass>(20000); }
TEST_F(Stress, MixedQuery) { run_mixed<ResizingBarrier::query>(5000); }
TEST_F(Stress, MixedPlain) { run_mixed<ResizingBarrier::plain>(5000); }
TEST_F(Stress, MixedModelled) { run_mixed<ResizingBarrier::modelled>(5000); }

TEST_F(Stress, StealingInAnyOrder) {
  std::atomic<std::uint64_t> done{0};
  run(Steal{&done, &stop_, &ids_}, 20000);
  EXPECT_GT(done, 0U);
}

TEST(StressJobs, ComeAndGoTogether) {
  // Three host threads, each launching jobs of its own kind on one engine, shaking them and ending
  // them in every way.
  constexpr std::uint32_t groups = 4;
  cpu::Engine engine{{.capacity = groups}};
  std::atomic<std::uint64_t> events{0};
  std::atomic<std::uint64_t> errors{0};
  std::vector<std::thread> hosts;
  for (unsigned host = 0; host < 3; ++host) {
    hosts.emplace_back([&, host] {
      const int rounds = std::max(2, static_cast<int>(30 * test::scale()));
      for (int round = 0; round < rounds; ++round) {
        std::atomic<bool> stop{false};
        Ids ids;
        std::vector<std::uint32_t> items(64);
        std::atomic<std::uint64_t> done{0};
        const LaunchOptions options{.max_groups = groups};
        const Job job = host % 2 == 0 ? engine.launch(Steps{items.data(), 64, &stop, &ids}, options)
                                      : engine.launch(Steal{&done, &stop, &ids}, options);
        events += shake(job, groups, 150, host * 1000 + static_cast<unsigned>(round));
        Status expected = Status::finished;
        if (round % 3 == 1) {
          job.cancel();
          expected = Status::cancelled;
        } else {
          stop = true;
        }
        errors += ids.errors + (job.wait().status == expected ? 0 : 1);
        for (const std::uint32_t each : items) {
          if (expected == Status::finished && each != items[0]) ++errors;
        }
      }
    });
  }
  for (auto& host : hosts) host.join();
  EXPECT_EQ(errors, 0U);
  EXPECT_GT(events, 0U);
}

}  // namespace
}  // namespace cohort
