// An ordinary __global__ function as a cooperative kernel: it relaxes a rod's temperature, and
// gives SMs to a task meanwhile.
#include <chrono>
#include <cohort/cuda.hpp>
#include <iostream>

struct State {
  int step = 0;
};

__global__ void relax(cohort::GridArg arg, float* now, float* next, int n, int steps) {
  cohort::Grid<State> grid{arg};  // the block checks in, or waits to join
  if (!grid) return;              // it is not needed
  for (State s = grid.state(); s.step < steps;) {
    const float* const from = s.step % 2 == 0 ? now : next;
    float* const to = s.step % 2 == 0 ? next : now;
    for (auto i : grid.stride(n)) {
      const bool inside = i > 0 && i + 1 < n;
      to[i] = inside ? (from[i - 1] + from[i + 1]) / 2 : from[i];
    }
    ++s.step;                  // a joining block starts with the next step
    if (grid.sync(s)) return;  // all blocks meet. True: this one has left, so its SM is free
  }
}

struct Urgent {
  COHORT_FN void operator()() const {}  // called by each thread of each of its blocks
};

int main() {
  std::string why;
  if (!cohort::cuda::available(&why)) {
    std::cout << "SKIPPED: " << why << '\n';
    return 77;
  }
  constexpr int n = 1'000'000;
  cohort::cuda::Engine engine;
  auto now = engine.fill<float>(n, 0.0F);
  now.write(std::vector<float>{1.0F});  // one end is hot
  const auto next = engine.upload(now.read());

  const auto job = engine.launch(relax, {.local_size = 256}, now.data(), next.data(), n, 20'000);
  job.wait_for(std::chrono::milliseconds{20});
  const auto half = engine.capacity() / 2;
  const auto task = engine.submit(Urgent{}, {.groups = half}).wait();
  const auto report = job.wait();

  std::cout << half << " SMs after " << task.gather.count() / 1000 << " us; " << report.leaves
            << " blocks left, " << report.joins << " joined\n"
            << "temperature next to the hot end: " << now.read()[1] << '\n';
  return report.leaves >= half && now.read()[1] > 0.9F ? 0 : 1;
}
