// A program of another project. It uses groups of several threads, a task and a checkpoint, so that
// it links everything that the library needs. Exit status 0: the results were correct.
#include <cohort/cpu.hpp>
#include <cohort/version.hpp>
#include <filesystem>
#include <iostream>
#include <vector>

struct Increment {
  static constexpr const char* name = "consumer-increment";
  struct State {
    std::uint32_t step = 0;
  };
  static constexpr std::uint32_t steps = 5'000;
  std::uint32_t* items;
  std::size_t count;

  template <class Group>
  COHORT_FN cohort::Next step(Group& group, State& state) const {
    for (const std::size_t i : group.stride(count)) ++items[i];
    group.barrier();
    return ++state.step < steps ? cohort::Next::again : cohort::Next::halt;
  }
  template <class Visit>
  void buffers(Visit& visit) const {
    visit("items", items, count);
  }
};

int main(int argc, char** argv) {
  const std::filesystem::path file = argc > 1 ? argv[1] : "consumer.checkpoint";
  std::vector<std::uint32_t> items(64);
  const Increment kernel{items.data(), items.size()};

  cohort::cpu::Engine engine{{.capacity = 2}};
  const cohort::Job job = engine.launch(kernel, {.local_size = 4});
  engine.submit([] {}).wait();
  if (job.suspend() == cohort::Status::suspended) {
    job.checkpoint(file);
    engine.restore(kernel, file, {.local_size = 4}).wait();
    std::filesystem::remove(file);
  }

  bool right = true;
  for (const std::uint32_t item : items) right = right && item == Increment::steps;
  std::cout << "cohort " << COHORT_VERSION << (right ? ": right\n" : ": WRONG\n");
  return right ? 0 : 1;
}
