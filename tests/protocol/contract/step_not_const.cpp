// Must not compile: step() must be const (kernel parameters are immutable) and return cohort::Next
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  cohort::Next step(Group&, State&) {
    return cohort::Next::halt;
  }
};

void check() { launch(Kernel{}); }
