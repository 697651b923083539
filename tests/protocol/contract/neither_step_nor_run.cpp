// Must not compile: a kernel needs `template <class Group> COHORT_FN cohort::Next step(
#include "kernels.hpp"

struct Kernel {};

void check() { launch(Kernel{}); }
