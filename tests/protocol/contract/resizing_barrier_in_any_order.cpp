// Must not compile: resizing_global_barrier() in a kernel of KillOrder::any
#include "kernels.hpp"

struct Kernel : Stateful {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any};
  template <class Group>
  void run(Group& group, State state) const {
    if (group.resizing_global_barrier(state)) return;
  }
};

void check() { launch(Kernel{}); }
