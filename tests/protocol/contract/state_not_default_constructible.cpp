// Must not compile: Kernel::State needs a default constructor
#include "kernels.hpp"

struct Kernel {
  struct State {
    explicit State(int with) : number(with) {}
    int number;
  };
  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill(state)) return;
  }
};

void check() { launch(Kernel{}); }
