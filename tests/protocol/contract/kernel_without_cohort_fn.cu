// Must not compile: functions_of_a_kernel_need_COHORT_FN
#include "cohort/cuda.hpp"

struct Kernel {
  struct State {
    int number = 0;
  };
  template <class Group>
  cohort::Next step(Group&, State& state) const {
    return ++state.number < 10 ? cohort::Next::again : cohort::Next::halt;
  }
};

void check(cohort::cuda::Engine& engine) { engine.launch(Kernel{}).wait(); }
