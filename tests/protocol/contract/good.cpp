// Everything that a kernel may do, in every style.
#include "kernels.hpp"

struct Steps : Stateful {
  struct Local {
    int shared[64];
  };
  template <class Group>
  void setup(Group& group) const {
    group.global_barrier();
    (void)group.stride(10);
  }
  template <class Group>
  cohort::Next step(Group group, State& state) const {
    group.local().shared[group.local_id()] = state.number;
    group.barrier();
    group.global_barrier();
    (void)group.query();
    return cohort::Next::halt;
  }
};

struct StatelessSteps {
  template <class Group>
  cohort::Next step(Group&, cohort::Nothing) const {  // there is no State to keep
    return cohort::Next::halt;
  }
};

struct Direct : Stateful {
  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill(state) || group.offer(state)) return;
    group.request_fork(state);
    group.global_barrier();
    for (auto i : group.stride(10)) (void)i;
    if (group.resizing_global_barrier(state)) return;
  }
};

struct AnyOrder : Stateful {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any,
                                         .suspendable = false};
  template <class Group>
  void setup(Group& group) const {
    group.global_barrier();  // allowed, because ids are dense here
    (void)group.stride(10);
  }
  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill()) return;
    group.request_fork(state);
  }
};

struct Stateless {
  template <class Group>
  void run(Group& group, cohort::Nothing) const {
    if (group.offer_kill()) return;
  }
};

void check() {
  launch(Steps{});
  launch(cohort::With<Steps, cohort::Traits{.barrier = cohort::ResizingBarrier::modelled}>{});
  launch(StatelessSteps{});
  launch(Direct{});
  launch(AnyOrder{});
  launch(Stateless{});
}
