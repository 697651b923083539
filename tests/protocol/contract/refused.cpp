// Kernels that must not compile. The comment behind each case's name is a part of the message that
// the kernel's author must see.
#include <string>
#include <vector>

#include "kernels.hpp"

struct AnyOrder : Stateful {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any};
};
struct Idle : Stateful {
  template <class Group>
  void run(Group&, State) const {}
};

#ifdef CASE_any_order_at_barriers  // a kernel of KillOrder::any has no barriers to resize at
struct Kernel : Idle {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any,
                                         .resizes = cohort::Resizes::at_barriers};
};
#endif

#ifdef CASE_both_step_and_run  // a kernel has step() or run(), not both
struct Kernel : Idle {
  template <class Group>
  cohort::Next step(Group&, State&) const {
    return cohort::Next::halt;
  }
};
#endif

#ifdef CASE_global_barrier_in_any_order  // global_barrier() in a kernel of KillOrder::any
struct Kernel : AnyOrder {
  template <class Group>
  void run(Group& group, State) const {
    group.global_barrier();
  }
};
#endif

#ifdef CASE_local_not_plain  // Kernel::Local is the group's local memory, so it must be a plain
struct Kernel {
  struct Local {
    std::vector<int> cells;
  };
  template <class Group>
  void run(Group&, cohort::Nothing) const {}
};
#endif

#ifdef CASE_neither_step_nor_run  // a kernel needs `template <class Group> COHORT_FN cohort::Next
struct Kernel {};
#endif

#ifdef CASE_not_copyable  // a kernel is copied to where it runs, so it must be copy-constructible
struct Kernel {
  Kernel() = default;
  Kernel(Kernel&&) = default;
  template <class Group>
  void run(Group&, cohort::Nothing) const {}
};
#endif

#ifdef CASE_offer_at_barriers  // offer_kill and request_fork in a kernel that resizes
struct Kernel : Stateful {
  static constexpr cohort::Traits traits{.resizes = cohort::Resizes::at_barriers};
  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill(state)) return;
  }
};
#endif

#ifdef CASE_offer_in_setup  // setup() may not offer or fork: only the first groups run it
struct Kernel : Idle {
  template <class Group>
  void setup(Group& group) const {
    (void)group.offer(State{});
  }
};
#endif

#ifdef CASE_offer_kill_in_setup  // setup() may not offer or fork: only the first groups run it
struct Kernel : Idle {
  template <class Group>
  void setup(Group& group) const {
    (void)group.offer_kill(State{});
  }
};
#endif

#ifdef CASE_offer_kill_in_step  // offer_kill and request_fork in a kernel that resizes
struct Kernel : Stateful {
  template <class Group>
  cohort::Next step(Group& group, State&) const {
    (void)group.offer_kill(State{});
    return cohort::Next::halt;
  }
};
#endif

#ifdef CASE_offer_without_state  // offer_kill() without the state cannot be suspended
struct Kernel : Stateful {
  template <class Group>
  void run(Group& group, State) const {
    if (group.offer_kill()) return;
  }
};
#endif

#ifdef CASE_request_fork_in_setup  // setup() may not offer or fork: only the first groups run it
struct Kernel : Idle {
  template <class Group>
  void setup(Group& group) const {
    group.request_fork(State{});
  }
};
#endif

#ifdef CASE_resizing_in_any_order  // resizing_global_barrier() in a kernel of KillOrder::any
struct Kernel : AnyOrder {
  template <class Group>
  void run(Group& group, State state) const {
    if (group.resizing_global_barrier(state)) return;
  }
};
#endif

#ifdef CASE_resizing_barrier_in_setup  // setup() may not resize: use global_barrier() there
struct Kernel : Idle {
  template <class Group>
  void setup(Group& group) const {
    (void)group.resizing_global_barrier(State{});
  }
};
#endif

#ifdef CASE_run_not_const  // run() must be const (kernel parameters are immutable) and return void
struct Kernel : Stateful {
  template <class Group>
  void run(Group&, State) {}
};
#endif

#ifdef CASE_run_returns_int  // run() must be const (kernel parameters are immutable)
struct Kernel : Stateful {
  template <class Group>
  int run(Group&, State) const {
    return 0;
  }
};
#endif

#ifdef CASE_state_not_default_constructible  // Kernel::State needs a default constructor
struct Kernel {
  struct State {
    explicit State(int with) : number(with) {}
    int number;
  };
  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill(state)) return;
  }
};
#endif

#ifdef CASE_state_not_trivially_copyable  // Kernel::State is transmitted byte by byte
struct Kernel {
  struct State {
    std::string name;
  };
  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill(state)) return;
  }
};
#endif

#ifdef CASE_step_in_any_order  // a step kernel has a barrier after each step
struct Kernel : AnyOrder {
  template <class Group>
  cohort::Next step(Group&, State&) const {
    return cohort::Next::halt;
  }
};
#endif

#ifdef CASE_step_not_const  // step() must be const (kernel parameters are immutable)
struct Kernel : Stateful {
  template <class Group>
  cohort::Next step(Group&, State&) {
    return cohort::Next::halt;
  }
};
#endif

#ifdef CASE_step_returns_bool  // step() must be const (kernel parameters are immutable)
struct Kernel : Stateful {
  template <class Group>
  bool step(Group&, State&) const {
    return true;
  }
};
#endif

#ifdef CASE_step_takes_state_by_value  // step() must take State&
struct Kernel : Stateful {
  template <class Group>
  cohort::Next step(Group&, State state) const {
    return ++state.number < 10 ? cohort::Next::again : cohort::Next::halt;
  }
};
#endif

#ifdef CASE_stride_in_any_order  // stride() in a kernel of KillOrder::any would skip items
struct Kernel : AnyOrder {
  template <class Group>
  void run(Group& group, State) const {
    for (auto i : group.stride(10)) (void)i;
  }
};
#endif

void check() { cohort::cpu::Engine{}.launch(Kernel{}).wait(); }
