// Must not compile: offer_kill and request_fork in a kernel that resizes at barriers only
#include "kernels.hpp"

struct Kernel : Stateful {
  static constexpr cohort::Traits traits{.resizes = cohort::Resizes::at_barriers};
  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill(state)) return;
  }
};

void check() { launch(Kernel{}); }
