// Kernels of lifecycle_test: one for each place where a cancel can find a group.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// Waits for ever in one of the primitives.
struct Endless {
  enum class At : std::uint8_t {
    offer,
    offer_kill,
    global_barrier,
    resizing_barrier,
    others_in_barrier,
    request_fork,
    query,
  };
  At at;
  std::uint32_t* started;

  auto twin() const { return twin_of("lifecycle/endless", at, started); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    count(group, started);
    for (;;) {
      switch (at) {
        case At::offer:
          if (group.offer(state)) return;
          break;
        case At::offer_kill:
          if (group.offer_kill(state)) return;
          break;
        case At::global_barrier: group.global_barrier(); break;
        case At::resizing_barrier:
          if (group.resizing_global_barrier(state)) return;
          break;
        case At::others_in_barrier:  // the others wait there for group 0, which never arrives
          if (group.group_id() != 0) {
            group.global_barrier();
          } else if (group.offer_kill(state)) {
            return;
          }
          break;
        case At::request_fork: group.request_fork(state); break;
        case At::query: (void)group.query(); break;
      }
      pause(group);
    }
  }
};

/// In a static launch, offers are compiled out, so only the barriers notice a cancel.
struct OfferingThenMeeting {
  std::uint32_t* stop;
  std::uint32_t* started;

  auto twin() const { return twin_of("lifecycle/offering_then_meeting", stop, started); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    count(group, started);
    while (!told(group, stop)) {
      if (group.offer(state)) return;
      pause(group);
    }
    group.global_barrier();
  }
};

/// Checks after every offer that its id has not changed.
struct KnowsItsId {
  std::uint32_t* wrong;
  std::uint32_t* started;

  auto twin() const { return twin_of("lifecycle/knows_its_id", wrong, started); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t id = group.group_id();
    count(group, started);
    for (;;) {
      if (group.offer(state)) return;
      expect(group, wrong, group.group_id() == id);
      group.request_fork(state);
      expect(group, wrong, group.group_id() == id);
    }
  }
};

using lifecycle_kernels = KernelList<EachBarrier<Endless>, OfferingThenMeeting, KnowsItsId>;

}  // namespace cohort::test
