// Kernels of suspend_test: the State that a suspended job keeps, and setup, which a resumed job
// does not repeat.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// Group 0 counts; the states of the other groups must not be kept.
struct KeepsCount {
  struct State {
    std::uint32_t count = 0;
    std::uint32_t owner = 0;
  };
  std::uint32_t* stop;
  std::uint32_t* count;  // the count after group 0's last turn
  Notes started;         // the counts with which groups began
  std::uint32_t* wrong;
  std::uint32_t* resumed;  // number of resumes; only the OpenCL C kernel needs it

  auto twin() const {
    return twin_of("suspend/keeps_count", stop, count, started.words, wrong, resumed);
  }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    const std::uint32_t id = group.group_id();
    expect(group, wrong, state.owner == 0);
    if (leader(group) && id == 0) started.add(group, state.count);
    state.owner = id;
    while (!told(group, stop)) {
      if (id == 0) {
        ++state.count;
        if (leader(group)) group.atomic(*count).store(state.count);
      }
      if (group.offer_kill(state)) return;
      pause(group);
    }
  }
};

/// Counts its setups: a resumed job does not run setup again.
struct PreparedOnce {
  std::uint32_t* preparations;
  std::uint32_t* present;
  std::uint32_t* not_joined;
  std::uint32_t* stop;
  std::uint32_t* resumed;  // as in KeepsCount

  auto twin() const {
    return twin_of("suspend/prepared_once", preparations, present, not_joined, stop, resumed);
  }
  template <class Group>
  COHORT_FN void setup(Group& group) const {
    if (group.group_id() == 0) count(group, preparations);
  }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    count(group, present);
    if (!group.joined()) count(group, not_joined);
    while (!told(group, stop)) {
      if (group.offer_kill(state)) return;
      pause(group);
    }
  }
};

using suspend_kernels = KernelList<KeepsCount, PreparedOnce>;

}  // namespace cohort::test
