// Must not compile: step() must take State& (a copy forgets what the step changed
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  cohort::Next step(Group&, State state) const {
    return ++state.number < 10 ? cohort::Next::again : cohort::Next::halt;
  }
};

void check() { launch(Kernel{}); }
