// Must not compile: a step kernel has a barrier after each step, which KillOrder::any cannot offer
#include "kernels.hpp"

struct Kernel : Stateful {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any};
  template <class Group>
  cohort::Next step(Group&, State&) const {
    return cohort::Next::halt;
  }
};

void check() { launch(Kernel{}); }
