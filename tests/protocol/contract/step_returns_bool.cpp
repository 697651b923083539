// Must not compile: step() must be const (kernel parameters are immutable) and return cohort::Next
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  bool step(Group&, State&) const {
    return true;
  }
};

void check() { launch(Kernel{}); }
