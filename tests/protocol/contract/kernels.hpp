// Shared by the contract checks: a kernel with a State, and a launch that instantiates everything.
#pragma once

#include "cohort/cpu.hpp"

struct Stateful {
  struct State {
    int number = 0;
  };
};

template <class Kernel>
void launch(Kernel kernel) {
  cohort::cpu::Engine engine;
  engine.launch(kernel).wait();
}
