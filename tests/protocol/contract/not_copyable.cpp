// Must not compile: a kernel is copied to where it runs, so it must be copy-constructible
#include "kernels.hpp"

struct Kernel {
  Kernel() = default;
  Kernel(Kernel&&) = default;
  template <class Group>
  void run(Group&, cohort::Nothing) const {}
};

void check() { cohort::cpu::Engine{}.launch(Kernel{}); }
