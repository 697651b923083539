// Kernels of checkpoint_test, which tell the engine their buffers.
#pragma once

#include <atomic>
#include <thread>

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// Adds the number of the step to each item, so that a lost or repeated step would show.
struct Sum {
  static constexpr const char* name = "sum";
  static constexpr const char* no_twin = "the OpenCL engine writes no checkpoints";
  std::uint32_t* items;
  std::uint32_t count;
  std::uint32_t steps;
  // If given: the kernel sets it half-way through and then waits for a suspend.
  std::uint32_t* half_way = nullptr;
  struct State {
    std::uint32_t step = 0;
  };

  template <class Visit>
  void buffers(Visit& visit) const {
    visit("items", items, count);
    visit("nothing", static_cast<std::uint32_t*>(nullptr), 0);  // an empty buffer is allowed
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

/// The same kernel under another name.
struct OtherSum : Sum {
  static constexpr const char* name = "other";
};

/// Its visit of the buffers, and so the writing of its checkpoint, takes as long as the host wants.
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
