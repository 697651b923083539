// Must not compile: a kernel has step() or run(), not both
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  cohort::Next step(Group&, State&) const {
    return cohort::Next::halt;
  }
  template <class Group>
  void run(Group&, State) const {}
};

void check() { launch(Kernel{}); }
