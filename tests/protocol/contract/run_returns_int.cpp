// Must not compile: run() must be const (kernel parameters are immutable) and return void
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  int run(Group&, State) const {
    return 0;
  }
};

void check() { launch(Kernel{}); }
