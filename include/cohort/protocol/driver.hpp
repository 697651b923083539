// How one thread of a group runs a kernel: setup for the first groups, then run() or the loop of
// steps.
#pragma once

#include "cohort/protocol/group.hpp"

namespace cohort::protocol {

/// Step style on top of direct style: the library owns the loop, and the barrier between steps
/// carries the votes.
template <class P, Role role, class Kernel>
COHORT_FN void run_steps(const Kernel& kernel, Group<P, Kernel, role>& group,
                         StateOf<Kernel> state) {
  for (;;) {
    const Next vote = kernel.step(group, state);
    // The barrier takes the address of the copy, so that `state` can stay in registers.
    const StateOf<Kernel> kept = state;
    if (group.next_step(kept, vote) != Verdict::stay) return;
  }
}

/// One thread's whole stay in a job. Called when its group has checked in or been admitted.
template <class P, Role role, class Kernel>
COHORT_FN void live(const Kernel& kernel, Member<P, StateOf<Kernel>>& member,
                    LocalOf<Kernel>& local, typename P::Threads threads) {
  if constexpr (HasSetup<Kernel>) {
    if (!member.joined) {
      Group<P, Kernel, Role::setup> group{member, local, threads};
      kernel.setup(group);
      // Keeps groups from forking into a kernel that is still being set up.
      group.global_barrier();
    }
  }
  Group<P, Kernel, role> group{member, local, threads};
  if constexpr (Contract<Kernel>::step_style) {
    run_steps<P, role>(kernel, group, member.state);
  } else {
    kernel.run(group, member.state);
  }
}

}  // namespace cohort::protocol
