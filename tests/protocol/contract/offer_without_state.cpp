// Must not compile: offer_kill() without the state cannot be suspended
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  void run(Group& group, State) const {
    if (group.offer_kill()) return;
  }
};

void check() { launch(Kernel{}); }
