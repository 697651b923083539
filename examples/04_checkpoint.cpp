// A job is suspended, written to a file, and continued by another engine that knows only the file.
// The result is the same as without the interruption.
#include <cohort/cpu.hpp>
#include <filesystem>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;
using Walkers = std::vector<std::uint64_t>;

/// Random walkers (xorshift). Each makes 64 moves per step.
struct Walk {
  static constexpr const char* name = "example-walk";  // identifies checkpoints of this kernel
  struct State {
    std::uint32_t step = 0;
  };

  std::uint64_t* walkers;
  std::size_t count;
  std::uint32_t steps;

  template <class Group>
  COHORT_FN cohort::Next step(Group& group, State& state) const {
    for (const std::size_t i : group.stride(count)) {
      std::uint64_t at = walkers[i];
      for (int move = 0; move < 64; ++move) {
        at ^= at << 13U;
        at ^= at >> 7U;
        at ^= at << 17U;
      }
      walkers[i] = at;
    }
    ++state.step;
    return state.step < steps ? cohort::Next::again : cohort::Next::halt;
  }

  /// Names the memory that has to be saved. Together with State it is the whole job.
  template <class Visit>
  void buffers(Visit& visit) const {
    visit("walkers", walkers, count);
  }
};

int main() {
  constexpr std::uint32_t steps = 4000;
  Walkers start(2000);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = i + 1;
  const std::filesystem::path file = "walkers.checkpoint";

  Walkers walkers = start;
  {
    cohort::cpu::Engine engine{{.capacity = 4}};
    const cohort::Job job = engine.launch(Walk{walkers.data(), walkers.size(), steps});
    job.wait_for(2ms);
    const cohort::Status status = job.suspend();
    std::cout << "after " << job.report().run_time / 1ms << " ms: ";
    std::cout << cohort::to_string(status) << '\n';
    if (status == cohort::Status::finished)
      return 0;  // the job has already finished: there is nothing to save
    job.checkpoint(file);
  }
  std::cout << "the checkpoint has " << std::filesystem::file_size(file) << " bytes\n";

  Walkers restored(start.size());  // filled from the file
  cohort::cpu::Engine engine{{.capacity = 2}};
  engine.restore(Walk{restored.data(), restored.size(), steps}, file).wait();
  std::filesystem::remove(file);

  Walkers expected = start;
  engine.launch(Walk{expected.data(), expected.size(), steps}).wait();
  const bool correct = restored == expected && walkers != expected;
  std::cout << (correct ? "same result as without the interruption\n" : "WRONG\n");
  return correct ? 0 : 1;
}
