// Must not compile: Kernel::State is transmitted byte by byte to joining groups
#include <string>

#include "kernels.hpp"

struct Kernel {
  struct State {
    std::string name;
  };
  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill(state)) return;
  }
};

void check() { launch(Kernel{}); }
