// Must not compile: Kernel::Local is the group's local memory, so it must be a plain
#include <vector>

#include "kernels.hpp"

struct Kernel {
  struct Local {
    std::vector<int> cells;
  };
  template <class Group>
  void run(Group&, cohort::Nothing) const {}
};

void check() { launch(Kernel{}); }
