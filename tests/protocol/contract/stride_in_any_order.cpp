// Must not compile: stride() in a kernel of KillOrder::any would skip items
#include "kernels.hpp"

struct Kernel : Stateful {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any};
  template <class Group>
  void run(Group& group, State) const {
    for (auto i : group.stride(10)) (void)i;
  }
};

void check() { launch(Kernel{}); }
