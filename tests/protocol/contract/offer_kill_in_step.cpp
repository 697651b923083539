// Must not compile: offer_kill and request_fork in a kernel that resizes at barriers only
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  cohort::Next step(Group& group, State&) const {
    (void)group.offer_kill(State{});
    return cohort::Next::halt;
  }
};

void check() { launch(Kernel{}); }
