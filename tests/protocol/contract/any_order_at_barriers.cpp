// Must not compile: a kernel of KillOrder::any has no barriers to resize at
#include "kernels.hpp"

struct Kernel : Stateful {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any,
                                         .resizes = cohort::Resizes::at_barriers};
  template <class Group>
  void run(Group&, State) const {}
};

void check() { launch(Kernel{}); }
