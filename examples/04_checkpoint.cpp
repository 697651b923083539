// A job is suspended, written to a file, and taken up by another engine that knows only the file.
// The result is that of a run that nobody interrupted.
#include <cohort/cpu.hpp>
#include <filesystem>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;
using Walkers = std::vector<std::uint64_t>;

/// Random walkers (xorshift), each of whom goes on from where it stands, 64 times a step.
struct Walk {
  static constexpr const char* name = "example-walk";  // what the file is recognised by
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

  /// Names the memory that is progress; together with State it is the whole job.
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
    if (status == cohort::Status::finished) return 0;  // it was faster: there is nothing to write
    job.checkpoint(file);
  }
  std::cout << "the checkpoint has " << std::filesystem::file_size(file) << " bytes\n";

  Walkers restored(start.size());  // filled from the file
  cohort::cpu::Engine engine{{.capacity = 2}};
  engine.restore(Walk{restored.data(), restored.size(), steps}, file).wait();
  std::filesystem::remove(file);

  Walkers expected = start;
  engine.launch(Walk{expected.data(), expected.size(), steps}).wait();
  const bool right = restored == expected && walkers != expected;
  std::cout << (right ? "restored and finished: as if never interrupted\n" : "WRONG\n");
  return right ? 0 : 1;
}
