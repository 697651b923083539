// Stress tests: kills, forks, resizing barriers, suspends, cancels and several jobs at once, as
// fast as the machine resizes. Every kernel checks itself: one group at a time holds an id, all
// groups are at the same step, and no group is lost.
#include <thread>

#include "cohort/cpu.hpp"
#include "conformance/kernels/primitives.hpp"
#include "conformance/shake.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

/// Everything mixed in direct style: an offer, a fork and a barrier in each round. Every other
/// barrier is a resizing one.
struct Mixed {
  enum : std::uint32_t {
    wrong,
    arrivals,               // number of arrivals in each of the last four rounds
    agreed = arrivals + 4,  // plain; the arrivals that group 0 saw, for the same rounds
    last = agreed + 4,      // group 0's decision to end, by parity
    size = last + 2,
  };
  struct State {
    std::uint32_t round = 0;
  };
  std::uint32_t* words;
  std::uint32_t* stop;
  Ids ids;

  template <class Group>
  void run(Group& group, State state) const {
    const auto plain = group.view(words);
    for (;;) {
      const std::uint32_t slot = state.round % 4;
      const std::uint32_t parity = state.round % 2;
      ids.enter(group, group.group_id());
      ids.exit(group, group.group_id());
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      add(group, words + arrivals + slot);
      if (group.group_id() == 0) {
        group.atomic(words[arrivals + (state.round + 1) % 4]).store(0);
        // Group 0 does not end the run in a round with a resizing barrier: a group that joins there
        // begins with the next round, and would find the others gone.
        group.atomic(words[last + parity]).store(parity == 0 ? load(group, stop) : 0);
      }
      const State next{state.round + 1};
      if (parity == 0) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      // All groups have arrived, so the count is final. It includes the groups that joined in this
      // round. It also includes groups that the plain barrier admitted while others could still
      // fork.
      const std::uint32_t arrived = load(group, words + arrivals + slot);
      const bool bounded = Group::traits.barrier != ResizingBarrier::plain || parity == 0;
      expect(group, words + wrong, arrived > 0 && (!bounded || arrived <= group.max_groups()));
      // No group can pass the next barrier before this group has read what group 0 wrote.
      expect(group, words + wrong, state.round == 0 || plain[agreed + (state.round - 1) % 4] != 0);
      if (group.group_id() == 0) plain[agreed + slot] = arrived;
      if (load(group, words + last + parity) != 0) return;
      state = next;
    }
  }
};

class Stress : public testing::Test {
 protected:
  static constexpr std::uint32_t groups = 6;

  /// Resizes a job until `events` groups have joined or left, then lets it finish.
  static void shake_and_finish(const ScopedJob& job, const Word& stop, double events) {
    shake(job, groups, static_cast<std::uint64_t>(events * scale()), {.seed = 1});
    job.reset_target();
    const Report report = finish(job, stop);
    EXPECT_GT(report.joins, 0U);
    EXPECT_GT(report.leaves, 0U);
  }

  template <ResizingBarrier barrier>
  void run_steps(double events, std::uint32_t local_size = 1) {
    const March march{site};
    const Meeting<Steps, barrier> kernel = march.kernel<Meeting<Steps, barrier>>();
    shake_and_finish(start(engine, kernel, {.max_groups = groups, .local_size = local_size}),
                     march.stop, events);
  }

  template <ResizingBarrier barrier>
  void run_mixed(double events) {
    const Words words{site, Mixed::size};
    // Initial values, because a suspend may remove group 0 before it has written any.
    for (std::uint32_t i = 0; i < 4; ++i) words.set(Mixed::agreed + i, 1);
    const Word stop{site};
    const IdBook ids{site};
    const Mixed kernel{words.data(), stop.data(), ids.ids()};
    shake_and_finish(engine.launch(as<Meeting<Mixed, barrier>>(kernel), {.max_groups = groups}),
                     stop, events);
    EXPECT_EQ(words[Mixed::wrong], 0U);
  }

  Site site{EngineKind::cpu};
  cpu::Engine engine{{.capacity = groups}};
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
  const ComingWords words{site};
  shake_and_finish(start(engine, words.kernel<ComingAndGoingInAnyOrder>(), {.max_groups = groups}),
                   words.stop, 20000);
}

TEST_F(Stress, JobsOfSeveralHostsComeAndGoTogether) {
  std::vector<std::thread> hosts;
  for (std::uint32_t host = 0; host < 3; ++host) {
    hosts.emplace_back([this, host] {
      for (std::uint32_t round = 0; round < scaled(30, 2); ++round) {
        const March march{site};
        const ComingWords words{site};
        const bool steps = host % 2 == 0;
        const LaunchOptions options{.max_groups = 4};
        const ScopedJob job =
            steps ? start(engine, march.kernel(), options)
                  : start(engine, words.kernel<ComingAndGoingInAnyOrder>(), options);
        shake(job, 4, 150, {.seed = host * 1000 + round});
        if (round % 3 == 1) {
          job.cancel();
          EXPECT_EQ(job.wait().status, Status::cancelled);
        } else {
          finish(job, steps ? march.stop : words.stop);
        }
      }
    });
  }
  for (auto& host : hosts) host.join();
}

}  // namespace
}  // namespace cohort::test
