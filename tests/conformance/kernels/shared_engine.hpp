// Kernels of shared_engine_test.
#pragma once

#include "conformance/kernels/tasks.hpp"

namespace cohort::test {

/// Sets a bit for each of its groups, and records M.
struct Slices {
  std::uint32_t* seen;
  std::uint32_t* done;

  auto twin() const { return twin_of("shared_engine/slices", seen, done); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    if (leader(group)) {
      group.atomic(*seen).store(group.num_groups());
      add(group, done, 1U << group.group_id());
    }
    group.global_barrier();
  }
};

/// All groups but group 0 return at once, after which no group can join.
struct OneGoesOn {
  std::uint32_t* stop;

  auto twin() const { return twin_of("shared_engine/one_goes_on", stop); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    while (group.group_id() == 0 && !told(group, stop)) {
      if (group.offer(state)) return;
      pause(group);
    }
  }
};

/// One group is slow to notice that the job has been cancelled.
struct SlowToLeave {
  std::uint32_t* stop;
  std::uint32_t* started;

  auto twin() const { return twin_of("shared_engine/slow_to_leave", stop, started); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    count(group, started);
    if (group.group_id() == 0) hold(group, stop);
    while (!group.offer_kill(state)) pause(group);
  }
};

using shared_engine_kernels = KernelList<Slices, OneGoesOn, SlowToLeave, EmptyTask, BlockingTask>;

}  // namespace cohort::test
