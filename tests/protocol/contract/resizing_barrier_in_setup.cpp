// Must not compile: setup() may not resize: use global_barrier() there
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  void setup(Group& group) const {
    (void)group.resizing_global_barrier(State{});
  }
  template <class Group>
  void run(Group&, State) const {}
};

void check() { launch(Kernel{}); }
