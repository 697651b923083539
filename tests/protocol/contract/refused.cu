// Code that must not compile for a device, as in refused.cpp.
#include "cohort/cuda.hpp"

#ifdef CASE_kernel_without_cohort_fn  // functions_of_a_kernel_need_COHORT_FN
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
#endif

#ifdef CASE_task_without_cohort_fn  // functions_of_a_kernel_need_COHORT_FN
struct Task {
  int* result;
  void operator()() const { *result = 1; }
};

void check(cohort::cuda::Engine& engine) { engine.submit(Task{nullptr}).wait(); }
#endif
