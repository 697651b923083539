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

#ifdef CASE_function_without_grid_arg  // the first parameter of a __global__ function that an
                                       // engine launches
__global__ void kernel(float*) {}

void check(cohort::cuda::Engine& engine) {
  engine.launch(kernel, {.local_size = 32}, static_cast<float*>(nullptr)).wait();
}
#endif

#ifdef CASE_grid_with_a_large_state  // the State of a Grid has at most 512 bytes
struct State {
  float values[1000];
};
__global__ void kernel(cohort::GridArg arg) { const cohort::Grid<State> grid{arg}; }
#endif

#ifdef CASE_offer_in_a_grid_of_barriers  // offer_kill and request_fork in a kernel that resizes at
                                         // barriers only
__global__ void kernel(cohort::GridArg arg) {
  const cohort::Grid<> grid{arg};
  if (grid.offer({})) return;
}
#endif
