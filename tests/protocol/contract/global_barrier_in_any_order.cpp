// Must not compile: global_barrier() in a kernel of KillOrder::any
#include "kernels.hpp"

struct Kernel : Stateful {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any};
  template <class Group>
  void run(Group& group, State) const {
    group.global_barrier();
  }
};

void check() { launch(Kernel{}); }
