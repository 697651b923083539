// A kernel with several phases: it makes keys, sorts blocks of them, and merges the blocks. State
// has the phase. The number of groups may change after each step, so work is cut by blocks, not by
// groups.
#include <algorithm>
#include <cohort/cpu.hpp>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;

/// Pseudo-random keys: the finalizer of MurmurHash3.
COHORT_FN std::uint32_t key(std::size_t i) {
  auto mixed = static_cast<std::uint32_t>(i);
  mixed = (mixed ^ mixed >> 16U) * 0x85EBCA6BU;
  mixed = (mixed ^ mixed >> 13U) * 0xC2B2AE35U;
  return mixed ^ mixed >> 16U;
}

struct MergeSort {
  static constexpr std::size_t blocks = 64;
  enum class Phase : std::uint8_t { make, sort, merge };
  struct State {
    Phase phase = Phase::make;
    std::size_t width = 1;  // number of blocks in a sorted run
  };

  std::uint32_t* keys;
  std::size_t size;

  template <class Group>
  COHORT_FN cohort::Next step(Group& group, State& state) const {
    switch (state.phase) {  // each phase is a function of its own
      case Phase::make: return make(group, state);
      case Phase::sort: return sort(group, state);
      case Phase::merge: return merge(group, state);
    }
    return cohort::Next::halt;
  }

 private:
  std::uint32_t* block(std::size_t i) const { return keys + size * i / blocks; }

  template <class Group>
  cohort::Next make(Group& group, State& state) const {
    for (const std::size_t i : group.stride(size)) keys[i] = key(i);
    state.phase = Phase::sort;
    return cohort::Next::again;
  }
  template <class Group>
  cohort::Next sort(Group& group, State& state) const {
    for (const std::size_t i : group.stride(blocks)) std::sort(block(i), block(i + 1));
    state.phase = Phase::merge;
    return cohort::Next::again;
  }
  template <class Group>
  cohort::Next merge(Group& group, State& state) const {
    const std::size_t width = state.width;
    for (const std::size_t i : group.stride(blocks / (2 * width))) {
      const std::size_t first = 2 * width * i;
      std::inplace_merge(block(first), block(first + width), block(first + 2 * width));
    }
    state.width *= 2;
    return state.width < blocks ? cohort::Next::again : cohort::Next::halt;
  }
};

int main() {
  std::vector<std::uint32_t> keys(3'000'000);
  cohort::cpu::Engine engine{{.capacity = 4}};
  const cohort::Job job = engine.launch(MergeSort{keys.data(), keys.size()});
  for (std::uint32_t round = 0; !job.wait_for(5ms); ++round) job.set_target(1 + round % 4);
  const cohort::Report report = job.wait();
  std::cout << report.joins << " groups joined and " << report.leaves << " left meanwhile\n";

  std::vector<std::uint32_t> expected(keys.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = key(i);
  std::sort(expected.begin(), expected.end());
  std::cout << keys.size() << " keys " << (keys == expected ? "sorted\n" : "in the WRONG order\n");
  return keys == expected ? 0 : 1;
}
