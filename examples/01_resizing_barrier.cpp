// Step style: heat spreads along a ring, one step at a time. The library may change the number of
// groups between two steps, and here the host requests it all the time.
#include <cohort/cpu.hpp>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;
using Ring = std::vector<std::uint32_t>;

/// The next value of a cell. Integers, so the result does not depend on the order of additions.
COHORT_FN std::uint32_t mix(const std::uint32_t* ring, std::size_t length, std::size_t i) {
  const std::size_t before = i == 0 ? length - 1 : i - 1;
  const std::size_t after = i + 1 == length ? 0 : i + 1;
  return (ring[before] + 2 * ring[i] + ring[after]) / 4;
}

struct Heat {
  struct State {
    std::uint32_t step = 0;
  };  // everything that a joining group receives

  std::uint32_t* ring[2];  // by step modulo 2: one is read, the other is written
  std::size_t length;
  std::uint32_t steps;

  template <class Group>
  COHORT_FN cohort::Next step(Group& group, State& state) const {
    const std::uint32_t* now = ring[state.step % 2];
    std::uint32_t* then = ring[(state.step + 1) % 2];
    for (const std::size_t i : group.stride(length)) then[i] = mix(now, length, i);
    ++state.step;
    return state.step < steps ? cohort::Next::again : cohort::Next::halt;
  }
};

int main() {
  constexpr std::size_t length = 20'000;
  constexpr std::uint32_t steps = 8'000;  // even, so that the result is in the first ring
  Ring first(length);
  first[length / 2] = 1'000'000'000;
  Ring second(length);
  Ring expected = first;

  cohort::cpu::Engine engine{{.capacity = 4}};
  const cohort::Job job = engine.launch(Heat{{first.data(), second.data()}, length, steps});
  for (std::uint32_t round = 0; !job.wait_for(5ms); ++round) job.set_target(1 + round % 4);
  const cohort::Report report = job.wait();

  Ring next(length);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < length; ++i) next[i] = mix(expected.data(), length, i);
    expected.swap(next);
  }

  std::cout << steps << " steps over " << length << " cells\n";
  std::cout << report.joins << " groups joined and " << report.leaves << " left meanwhile\n";
  const bool correct = first == expected;
  std::cout << (correct ? "same result as a plain loop\n" : "WRONG\n");
  return correct ? 0 : 1;
}
