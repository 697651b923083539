// Kernels of misuse_test. Each breaks a rule of the model, or is launched in a way that the engine
// must refuse.
#pragma once

#include "conformance/kernels/jobs.hpp"

namespace cohort::test {

using BriefInSmallGroups = With<Brief, Traits{.max_local_size = 4}>;

/// One group returns while the others go to a barrier.
struct ReturnsEarly {
  std::uint32_t early;
  bool resizing;
  bool late;  // if set, the others most likely arrive first; otherwise it returns first

  auto twin() const { return twin_of("misuse/returns_early", early, resizing, late); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const bool returns = group.group_id() == early;
    for (int i = 0; i < 5 && returns == late; ++i) pause(group);
    if (returns) return;
    for (;;) {
      if (resizing) {
        if (group.resizing_global_barrier(state)) return;
      } else {
        group.global_barrier();
      }
    }
  }
};

/// Group 1 returns before group 0 arrives at a barrier.
struct ReturnsFirst {
  static constexpr const char* no_twin =
      "only events tell its host when to go on, and the OpenCL engine reports them at the end";
  std::uint32_t* returned;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    for (int i = 0; i < 3; ++i) group.global_barrier();
    if (group.group_id() != 0) return;
    hold(group, returned);
    group.global_barrier();
  }
};

/// Group 1 returns after group 0 has arrived at a barrier. Its offer waits for its turn, which
/// comes after that of group 2, and ends when a group arrives.
struct ArrivesFirst {
  static constexpr const char* no_twin =
      "only events tell its host when to go on, and the OpenCL engine reports them at the end";
  std::uint32_t* over;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    while (group.query() == 0) pause(group);
    if (group.group_id() == 0) group.global_barrier();
    if (group.group_id() == 1 && group.offer_kill(state)) return;
    if (group.group_id() == 2) hold(group, over);
  }
};

/// One group is at a different barrier from the others.
struct Divergent {
  std::uint32_t odd_one;
  bool odd_resizes;
  std::uint32_t rounds_before;

  auto twin() const { return twin_of("misuse/divergent", odd_one, odd_resizes, rounds_before); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    for (std::uint32_t i = 0; i < rounds_before; ++i) {
      group.global_barrier();
      if (group.resizing_global_barrier(state)) return;
    }
    if ((group.group_id() == odd_one) == odd_resizes) {
      if (group.resizing_global_barrier(state)) return;
    } else {
      group.global_barrier();
    }
  }
};
struct DivergentAtBarriers : Divergent {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
};

/// The same, while a resize is in progress.
struct DivergentUnderDemand {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  Divergent divergent;
  std::uint32_t* started;
  std::uint32_t* go;

  auto twin() const {
    return twin_of("misuse/divergent_under_demand", divergent.odd_one, divergent.odd_resizes,
                   started, go);
  }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    count(group, started);
    hold(group, go);
    divergent.run(group, state);
  }
};

/// A step whose groups disagree about the barrier inside it.
struct DivergentSteps {
  auto twin() const { return twin_of("misuse/divergent_steps"); }
  template <class Group>
  COHORT_FN Next step(Group& group, Nothing& /*state*/) const {
    if (group.group_id() == 0) group.global_barrier();
    return Next::again;
  }
};

/// The threads of one group take different paths.
struct TornGroup {
  static constexpr const char* no_twin =
      "OpenCL leaves undefined what threads of a group do that go different ways";
  enum class Way : std::uint8_t {
    barrier_or_offer,
    barrier_or_global,
    global_or_resizing,
    reduce_or_scan,
    query_or_fork,
    kill_or_offer,
    early_return,
    late_return,
  };
  Way way;
  std::uint32_t odd_thread;
  std::uint32_t odd_group;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const bool odd = group.local_id() == odd_thread && group.group_id() == odd_group;
    const auto plus = [](int a, int b) { return a + b; };
    group.global_barrier();
    bool left = false;
    switch (way) {
      case Way::barrier_or_offer:
        if (odd) group.barrier();
        if (!odd) left = group.offer_kill(state);
        break;
      case Way::barrier_or_global:
        if (odd) group.barrier();
        group.global_barrier();
        break;
      case Way::global_or_resizing:
        if (odd) group.global_barrier();
        if (!odd) left = group.resizing_global_barrier(state);
        break;
      case Way::reduce_or_scan:
        (void)(odd ? group.reduce(1, plus) : group.inclusive_scan(1, plus));
        break;
      case Way::query_or_fork: (void)(odd ? group.query() : group.request_fork(state)); break;
      case Way::kill_or_offer: left = odd ? group.offer_kill(state) : group.offer(state); break;
      case Way::early_return:
        if (odd) return;
        break;
      case Way::late_return:
        if (!odd) return;
        break;
    }
    if (!left) group.global_barrier();
  }
};

/// Ignores that it was told to leave.
struct GoesOn {
  static constexpr const char* no_twin = "a kernel of the dialect ends where it is taken away";
  enum class Then : std::uint8_t { offers_again, asks, global_barrier, resizing_barrier };
  Then then;
  bool at_barrier;  // a resizing barrier instead of an offer told it to leave

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    while (at_barrier ? !group.resizing_global_barrier(state) : !group.offer_kill(state)) {
    }
    for (;;) {
      switch (then) {
        case Then::offers_again: (void)group.offer_kill(state); break;
        case Then::asks: (void)group.query(); break;
        case Then::global_barrier: group.global_barrier(); break;
        case Then::resizing_barrier: (void)group.resizing_global_barrier(state); break;
      }
    }
  }
};

using misuse_kernels =
    KernelList<BriefInSmallGroups, EachBarrier<ReturnsEarly>, ReturnsFirst, ArrivesFirst,
               EachBarrier<Divergent>, DivergentAtBarriers, DivergentUnderDemand,
               EachBarrier<DivergentSteps>, TornGroup, EachBarrier<GoesOn>>;

}  // namespace cohort::test
