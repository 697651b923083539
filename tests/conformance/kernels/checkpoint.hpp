// Kernels of checkpoint_test: they name their memory.
#pragma once

#include <atomic>
#include <thread>

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// Adds the number of the step to each item, so that an order or a step lost would show.
struct Sum {
  static constexpr const char* name = "sum";
  static constexpr const char* no_twin = "the OpenCL engine writes no checkpoints";
  std::uint32_t* items;
  std::uint32_t count;
  std::uint32_t steps;
  std::uint32_t* half_way = nullptr;  // if given: set half-way, where it waits for a suspend
  struct State {
    std::uint32_t step = 0;
  };

  template <class Visit>
  void buffers(Visit& visit) const {
    visit("items", items, count);
    visit("nothing", static_cast<std::uint32_t*>(nullptr), 0);  // a buffer may be empty
  }
  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    for (const std::size_t i : group.stride(count)) items[i] = items[i] * 3 + state.step;
    if (half_way != nullptr && state.step == steps / 2) {
      if (leader(group)) group.atomic(*half_way).store(1);
      while (group.query() == 0) pause(group);
    }
    return ++state.step < steps ? Next::again : Next::halt;
  }
};

/// The same under another name.
struct OtherSum : Sum {
  static constexpr const char* name = "other";
};

/// A kernel that takes as long as the host wants to name its memory, and so to write its
/// checkpoint.
struct SlowToSave : Sum {
  std::atomic<bool>* saving;
  const std::atomic<bool>* go_on;

  template <class Visit>
  void buffers(Visit& visit) const {
    Sum::buffers(visit);
    saving->store(true);
    while (!go_on->load()) std::this_thread::yield();
  }
};

using checkpoint_kernels = KernelList<Sum, OtherSum, SlowToSave>;

}  // namespace cohort::test
