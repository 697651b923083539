// Must not compile: setup() may not offer or fork: only the first groups run it
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  void setup(Group& group) const {
    (void)group.offer_kill(State{});
  }
  template <class Group>
  void run(Group&, State) const {}
};

void check() { launch(Kernel{}); }
