// Must not compile: run() must be const (kernel parameters are immutable) and return void
#include "kernels.hpp"

struct Kernel : Stateful {
  template <class Group>
  void run(Group&, State) {}
};

void check() { launch(Kernel{}); }
