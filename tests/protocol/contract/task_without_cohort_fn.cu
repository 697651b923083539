// Must not compile: functions_of_a_kernel_need_COHORT_FN
#include "cohort/cuda.hpp"

struct Task {
  int* result;
  void operator()() const { *result = 1; }
};

void check(cohort::cuda::Engine& engine) { engine.submit(Task{nullptr}).wait(); }
