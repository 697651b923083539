// Recorded runs, judged by the oracle: whatever the engine does under random resizing is legal by
// appendix A.
#include <gtest/gtest.h>

#include <random>

#include "cohort/trace_check.hpp"
#include "conformance/jobs.hpp"

namespace cohort::test {
namespace {

/// Step style, until told to stop.
struct Steps {
  const std::atomic<bool>* stop;
  struct State {
    std::uint32_t step = 0;
  };

  template <class Group>
  Next step(Group& /*group*/, State& state) const {
    ++state.step;
    return stop->load(std::memory_order_relaxed) ? Next::halt : Next::again;
  }
};

/// Direct style with everything mixed, after a prologue: an offer, a fork and a barrier in each
/// round, resizing in every other one.
struct Mixed {
  const std::atomic<bool>* stop;
  std::atomic<bool>* last_round;  // group 0's decision, one for each parity
  struct State {
    std::uint32_t round = 0;
  };

  template <class Group>
  void setup(Group& group) const {
    group.global_barrier();
  }

  template <class Group>
  void run(Group& group, State state) const {
    for (;;) {
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      auto& last = last_round[state.round & 1U];
      // Not in a round that ends with a resizing barrier: who joins there begins with the next one,
      // and would find everybody gone.
      if (group.group_id() == 0)
        last.store(state.round % 2 == 0 && stop->load(std::memory_order_relaxed));
      const State next{state.round + 1};
      if (state.round % 2 == 0) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      if (last.load()) return;
      state = next;
    }
  }
};

/// Work stealing without the work.
struct Steal {
  const std::atomic<bool>* stop;

  template <class Group>
  void run(Group& group, Nothing state) const {
    while (!stop->load(std::memory_order_relaxed)) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
  }
};

template <class Engine>
class Traces : public testing::Test {
 protected:
  static constexpr std::uint32_t groups = 6;

  /// How a run is to end.
  enum class End : std::uint8_t { stop, cancel };

  /// Runs the kernel under random resizing, with suspends, and hands its log in.
  template <class Kernel>
  void judge(const Kernel& kernel, std::uint32_t events, End end = End::stop,
             std::uint32_t local_size = 1) {
    TraceLog log;
    {
      Engine engine{{.capacity = groups}};
      const ScopedJob job =
          engine.launch(kernel, {.max_groups = groups, .local_size = local_size, .tracer = &log});
      shake(job, scaled(events, 100));
      end == End::stop ? stop_.store(true) : job.cancel();
      job.reset_target();
      const auto report = job.wait_for(long_enough);
      ASSERT_TRUE(report.has_value()) << "the job did not end";
      const TraceRules rules = rules_of(Contract<Kernel>::traits, groups);
      ASSERT_EQ(log.dropped(), 0U);
      EXPECT_EQ(check_trace(log.events(), rules, report->status).value_or(""), "");
      EXPECT_EQ(report->status, end == End::stop ? Status::finished : Status::cancelled);
      EXPECT_GT(report->joins, 0U);
      EXPECT_GT(report->leaves, 0U);
      expect_modelled(log.events());
      // The oracle is not asleep: the log without one kill, shed or join is illegal.
      for (const Trace what : {Trace::kill, Trace::shed, Trace::join}) {
        std::vector<LoggedEvent> less = log.events();
        const auto gone = std::find_if(
            less.begin(), less.end(), [what](const auto& each) { return each.event.what == what; });
        if (gone == less.end()) continue;
        less.erase(gone);
        EXPECT_TRUE(check_trace(less, rules, report->status).has_value());
      }
    }
    stop_ = false;
  }

  /// What each resizing barrier made of M is among the things that the modelled one can do.
  void expect_modelled(const std::vector<LoggedEvent>& log) {
    std::array<std::vector<Resizing>, groups + 1> modelled;
    for (std::uint32_t before = 1; before <= groups; ++before) {
      modelled[before] = modelled_outcomes(before, groups);
    }
    std::uint32_t forked = 0;  // by group 0, in the barrier it stands in
    bool in_barrier = false;
    for (const auto& [event, worker] : log) {
      if (event.group == 0 && (event.what == Trace::arrive || event.what == Trace::pass)) {
        in_barrier = event.what == Trace::arrive;
        forked = 0;
      }
      if (event.group == 0 && event.what == Trace::fork && in_barrier) {
        forked = static_cast<std::uint32_t>(event.value);
      }
      if (event.what != Trace::resize || event.active == 0) continue;  // 0: a suspend
      const auto full = static_cast<std::uint32_t>(event.value);
      const std::uint32_t grown = event.active > full ? event.active - full : 0;
      const Resizing resizing{
          .before = full - forked, .after = event.active, .forked = forked + grown};
      const auto& all = modelled.at(resizing.before);
      EXPECT_TRUE(std::binary_search(all.begin(), all.end(), resizing))
          << resizing.before << " + " << resizing.forked << " -> " << resizing.after;
      if (resizing.before != resizing.after) ++resizings_;
    }
  }

  /// Turns the target at random until so many groups have come and gone; suspends now and then. The
  /// job reaches some of the targets: it may be slower than this thread.
  static void shake(const Job& job, std::uint32_t events) {
    std::mt19937 random{1};
    for (std::uint32_t turn = 1;; ++turn) {
      const auto target = 1 + static_cast<std::uint32_t>(random() % groups);
      job.set_target(target);
      if (turn % 8 == 0) {
        ASSERT_TRUE(eventually([&] { return groups_now(job) == target; }));
      }
      if (turn % 32 == 0 && job.suspend() == Status::suspended) job.resume();
      if (turn % 16 == 0) {
        const Report report = job.report();
        if (report.joins + report.leaves >= events) break;
      }
      if (random() % 4 == 0) std::this_thread::yield();
    }
  }

  std::atomic<bool> stop_{false};
  std::uint32_t resizings_ = 0;  // barriers that changed M
};
TYPED_TEST_SUITE(Traces, Engines, EngineNames);

TYPED_TEST(Traces, OfStepsAreLegalWithEachBarrier) {
  for_each_barrier([this]<ResizingBarrier barrier>() {
    this->judge(With<Steps, Traits{.barrier = barrier}>{{&this->stop_}}, 400);
    // The modelled one tells of its barriers, forks and kills instead.
    EXPECT_EQ(this->resizings_ > 0, barrier != ResizingBarrier::modelled);
    this->resizings_ = 0;
  });
}

TYPED_TEST(Traces, OfGroupsOfSeveralThreadsAreLegal) {
  this->judge(Steps{&this->stop_}, 200, TestFixture::End::stop, 3);
}

TYPED_TEST(Traces, OfKillsForksAndBarriersMixedAreLegal) {
  for_each_barrier([this]<ResizingBarrier barrier>() {
    std::atomic<bool> last_round[2] = {};
    this->judge(With<Mixed, Traits{.barrier = barrier}>{{&this->stop_, last_round}}, 400);
  });
}

TYPED_TEST(Traces, OfWorkStealingAreLegalInEachKillOrder) {
  this->judge(Steal{&this->stop_}, 400);
  this->judge(With<Steal, Traits{.kill_order = KillOrder::any}>{{&this->stop_}}, 400);
}

TYPED_TEST(Traces, OfCancelledJobsAreLegal) {
  for (std::uint32_t round = 0; round < scaled(10); ++round) {
    std::atomic<bool> last_round[2] = {};
    this->judge(Mixed{&this->stop_, last_round}, 20, TestFixture::End::cancel);
    this->judge(With<Steal, Traits{.kill_order = KillOrder::any}>{{&this->stop_}}, 20,
                TestFixture::End::cancel);
  }
}

TYPED_TEST(Traces, OfAJobThatAllGroupsLeaveAreLegal) {
  for (std::uint32_t round = 0; round < scaled(20); ++round) {
    TraceLog log;
    TypeParam engine{{.capacity = 4}};
    using Kernel = With<Steal, Traits{.survivors = Survivors::may_all_leave}>;
    const ScopedJob job = engine.launch(Kernel{{&this->stop_}}, {.max_groups = 4, .tracer = &log});
    job.set_target(0);
    const Report report = job.wait();
    EXPECT_EQ(report.status, Status::left);
    const auto said = check_trace(log.events(), rules_of(Kernel::traits, 4), report.status);
    EXPECT_EQ(said.value_or(""), "");
    // With a rule that keeps one group, it is not.
    EXPECT_TRUE(check_trace(log.events(), {.max_groups = 4}, report.status).has_value());
  }
}

TYPED_TEST(Traces, OfAStaticLaunchAreLegal) {
  TraceLog log;
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> last_round[2] = {};
  const ScopedJob job = engine.launch(Mixed{&this->stop_, last_round},
                                      {.max_groups = 4, .resizable = false, .tracer = &log});
  std::this_thread::sleep_for(1ms);
  this->stop_ = true;
  const Report report = job.wait();
  EXPECT_EQ(check_trace(log.events(), {.max_groups = 4, .start_groups = 4}, report.status),
            std::nullopt);
}

TYPED_TEST(Traces, BeyondTheLimitAreDropped) {
  TraceLog log{3};
  TypeParam engine{{.capacity = 2}};
  this->stop_ = true;
  const ScopedJob job = engine.launch(Steps{&this->stop_}, {.max_groups = 2, .tracer = &log});
  job.wait();
  EXPECT_EQ(log.events().size(), 3U);
  EXPECT_GT(log.dropped(), 0U);
}

}  // namespace
}  // namespace cohort::test
