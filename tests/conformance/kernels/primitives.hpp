// Kernels of primitives_test: offer_kill, request_fork, offer, query, and the alternatives of the
// paper's appendix B.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// Every group offers itself repeatedly until it is told to stop.
struct LeavingFromTheTop {
  std::uint32_t* stop;
  std::uint32_t* started;
  Leavers left;
  Notes returned;
  std::uint32_t* wrong;

  auto twin() const {
    return twin_of("primitives/leaving_from_the_top", stop, started, left.words, returned.words,
                   wrong);
  }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    count(group, started);
    while (!told(group, stop)) {
      if (group.offer_kill(state)) {
        if (!leader(group)) return;
        // When the highest of M + 1 groups leaves, M remain.
        expect(group, wrong, group.num_groups() == id);
        left.add(group, id);
        return;
      }
      expect(group, wrong, group.group_id() == id);
      pause(group);
    }
    if (leader(group)) returned.add(group, id);
  }
};

/// Offers a fixed number of times.
struct OfferingOften {
  std::uint32_t times;
  Leavers left;

  auto twin() const { return twin_of("primitives/offering_often", times, left.words); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    for (std::uint32_t i = 0; i < times; ++i) {
      if (group.offer_kill(state)) {
        if (leader(group)) left.add(group, id);
        return;
      }
    }
  }
};
using OfferingOftenInAnyOrder = With<OfferingOften, Traits{.kill_order = KillOrder::any}>;

/// The highest group waits for a flag that the group below sets only after an offer of its own.
struct TopWaitsForLower {
  std::uint32_t* go;
  std::uint32_t* flag;
  std::uint32_t* started;

  auto twin() const { return twin_of("primitives/top_waits_for_lower", go, flag, started); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    const std::uint32_t groups = group.num_groups();
    count(group, started);
    hold(group, go);
    if (id + 1 == groups) {
      hold(group, flag);
      return;
    }
    if (group.offer_kill(state)) return;
    if (id + 2 == groups) group.atomic(*flag).store(1);
  }
};

/// Each group offers itself only once. Group 0 stays until the host has seen the others leave.
struct OfferingOnce {
  std::uint32_t* go;
  std::uint32_t* started;
  Leavers left;
  std::uint32_t* over;

  auto twin() const { return twin_of("primitives/offering_once", go, started, left.words, over); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    count(group, started);
    hold(group, go);
    if (group.offer_kill(state)) {
      if (leader(group)) left.add(group, id);
      return;
    }
    hold(group, over);
  }
};

/// All groups but the highest offer themselves. The highest does something else, which must end
/// their wait.
struct TopDoesNotOffer {
  enum class Instead : std::uint8_t { arrives, returns, stays };
  Instead instead;
  std::uint32_t* go;
  std::uint32_t* stop;
  std::uint32_t* started;

  auto twin() const { return twin_of("primitives/top_does_not_offer", instead, go, stop, started); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const bool top = group.group_id() + 1 == group.num_groups();
    count(group, started);
    hold(group, go);
    if (!top && group.offer_kill(state)) return;
    if (top && instead == Instead::stays) hold(group, stop);
    if (instead == Instead::arrives) group.global_barrier();
  }
};

/// Every group forks until told to stop, and transmits its id and thread.
struct Forking {
  struct alignas(64) State {
    std::uint32_t forker = 1000;  // the first groups start with this value, which is no group's id
    std::uint32_t thread = 1000;
  };
  bool only_zero;  // whether group 0 alone forks
  std::uint32_t* stop;
  Ids ids;
  Notes first;
  Notes joined;
  std::uint32_t* wrong;

  auto twin() const {
    return twin_of("primitives/forking", only_zero, stop, ids.words, first.words, joined.words,
                   wrong);
  }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    const std::uint32_t id = group.group_id();
    ids.enter(group, id);
    if (group.joined()) {
      expect(group, wrong, state.forker < group.max_groups() && state.forker != id);
      expect(group, wrong, !only_zero || state.forker == 0);
      // Thread 0's value is transmitted, whatever the other threads hold.
      expect(group, wrong, state.thread == 0);
    } else {
      expect(group, wrong, state.forker == 1000 && state.thread == 1000);
    }
    if (leader(group)) (group.joined() ? joined : first).add(group, id);
    const State mine{id, group.local_id()};
    while (!told(group, stop)) {
      if (id == 0 || !only_zero) {
        const std::uint32_t before = group.num_groups();
        group.barrier();  // so that all threads have read it
        const std::uint32_t forked = group.request_fork(mine);
        expect(group, wrong, !only_zero || group.num_groups() == before + forked);
        expect(group, wrong, group.num_groups() <= group.max_groups());
      }
      pause(group);
    }
    expect(group, wrong, group.group_id() == id);
    ids.exit(group, id);
  }
};

/// Forks a fixed number of times.
struct ForkingOften {
  std::uint32_t times;
  std::uint32_t* forked;

  auto twin() const { return twin_of("primitives/forking_often", times, forked); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    for (std::uint32_t i = 0; i < times; ++i) {
      const std::uint32_t added = group.request_fork(state);
      if (leader(group) && added > 0) add(group, forked, added);
    }
  }
};

/// Group 0 forks once more after another group has returned.
struct ForkingAfterAReturn {
  static constexpr const char* no_twin = "request_fork of the dialect returns nothing";
  std::uint32_t* returned;
  std::uint32_t* forked;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    if (group.group_id() != 0) return;
    hold(group, returned);
    for (int i = 0; i < 100; ++i) {
      const std::uint32_t added = group.request_fork(state);
      if (leader(group) && added > 0) add(group, forked, added);
    }
  }
};

/// The core of work stealing: groups join and leave at one offer, and each counts itself.
struct ComingAndGoing {
  struct State {
    std::uint32_t transmitted = 0;
  };
  std::uint32_t* stop;
  Ids ids;
  std::uint32_t* wrong;

  auto twin() const { return twin_of("primitives/coming_and_going", stop, ids.words, wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    const std::uint32_t id = group.group_id();
    expect(group, wrong, !group.joined() || state.transmitted == 7);
    state.transmitted = 7;
    for (;;) {
      ids.enter(group, id);
      pause(group);
      expect(group, wrong, group.group_id() == id);
      const bool last = told(group, stop);
      ids.exit(group, id);
      if (last || group.offer(state)) return;
    }
  }
};
using ComingAndGoingInAnyOrder = With<ComingAndGoing, Traits{.kill_order = KillOrder::any}>;

/// Waits until query() returns the number that the host expects, and records that it did.
struct Asking {
  static constexpr std::uint32_t questions = 4;
  std::uint32_t* expected;
  std::uint32_t* agreed;  // for each answer, the number of groups that have got it so far

  auto twin() const { return twin_of("primitives/asking", expected, agreed); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    const std::uint32_t groups = group.num_groups();
    for (std::uint32_t i = 0; i < questions; ++i) {
      while (group.broadcast(load(group, agreed)) < i * groups ||
             group.query() != load(group, expected + i)) {
        pause(group);
      }
      count(group, agreed);
    }
  }
};

/// Each thread records the answer it gets.
struct AskingTogether {
  Notes answers;

  auto twin() const { return twin_of("primitives/asking_together", answers.words); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    answers.add(group, group.query());
  }
};

/// Only the groups below `offering` offer themselves. The others wait for the end.
struct SomeOffer {
  static constexpr Traits traits{.kill_order = KillOrder::any};
  std::uint32_t offering;
  std::uint32_t* stop;
  std::uint32_t* started;
  Leavers left;
  std::uint32_t* wrong;

  auto twin() const {
    return twin_of("primitives/some_offer", offering, stop, started, left.words, wrong);
  }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    expect(group, wrong,
           group.global_size() == std::size_t{group.max_groups()} * group.local_size());
    expect(group, wrong,
           group.global_id() == std::size_t{id} * group.local_size() + group.local_id());
    count(group, started);
    while (!told(group, stop)) {
      if (id < offering && group.offer_kill(state)) {
        if (leader(group)) left.add(group, id);
        return;
      }
      pause(group);
    }
  }
};

/// Offers until M is the expected number.
struct Counting {
  static constexpr Traits traits{.kill_order = KillOrder::any};
  std::uint32_t expected;
  Notes seen;

  auto twin() const { return twin_of("primitives/counting", expected, seen.words); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    do {
      if (group.offer(state)) return;
      pause(group);
    } while (group.broadcast(group.num_groups()) != expected);
    if (leader(group)) seen.add(group, expected);
    hold_until(group, [&] { return seen.size(group) == expected; });
  }
};

struct OfferingForever {
  static constexpr Traits traits{.survivors = Survivors::may_all_leave};
  Leavers left;

  auto twin() const { return twin_of("primitives/offering_forever", left.words); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    while (!group.offer_kill(state)) pause(group);
    if (leader(group)) left.add(group, id);
  }
};
using OfferingForeverInAnyOrder =
    With<OfferingForever,
         Traits{.kill_order = KillOrder::any, .survivors = Survivors::may_all_leave}>;

struct SteppingForever {
  static constexpr Traits traits{.survivors = Survivors::may_all_leave};

  auto twin() const { return twin_of("primitives/stepping_forever"); }
  template <class Group>
  COHORT_FN Next step(Group& /*group*/, Nothing& /*state*/) const {
    return Next::again;
  }
};
/// The guard of the paper's appendix B: all groups may leave, but group 0 never offers itself.
/// Instead, it lets other groups come back.
struct GuardedOffers {
  static constexpr Traits traits{.survivors = Survivors::may_all_leave};
  std::uint32_t* stop;
  Leavers left;
  Notes returned;

  auto twin() const {
    return twin_of("primitives/guarded_offers", stop, left.words, returned.words);
  }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    while (!told(group, stop)) {
      if (id == 0) {
        group.request_fork(state);
      } else if (group.offer_kill(state)) {
        if (leader(group)) left.add(group, id);
        return;
      }
      pause(group);
    }
    if (leader(group)) returned.add(group, id);
  }
};

using primitives_kernels =
    KernelList<LeavingFromTheTop, OfferingOften, OfferingOftenInAnyOrder, TopWaitsForLower,
               OfferingOnce, TopDoesNotOffer, Forking, ForkingOften, ForkingAfterAReturn,
               ComingAndGoing, ComingAndGoingInAnyOrder, Asking, AskingTogether, SomeOffer,
               Counting, OfferingForever, OfferingForeverInAnyOrder, SteppingForever,
               GuardedOffers>;

}  // namespace cohort::test
