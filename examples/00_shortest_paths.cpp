#include <algorithm>
#include <chrono>
#include <cohort/cpu.hpp>
#include <iostream>
#include <vector>

constexpr std::size_t n = 800;  // nodes; node i has edges to nodes i + 1 and 2i, modulo n

struct ShortestPaths {  // Floyd-Warshall: step k needs all of step k - 1
  struct State {
    std::size_t k = 0;
  };  // everything that a joining group receives
  int* distance;

  cohort::Next step(auto& group, State& state) const {
    for (const std::size_t i : group.stride(n)) {  // this group's rows, in this step
      for (std::size_t j = 0; j < n; ++j) {
        const int path = distance[n * i + state.k] + distance[n * state.k + j];
        if (path < distance[n * i + j]) distance[n * i + j] = path;
      }
    }
    return ++state.k < n ? cohort::Next::again : cohort::Next::halt;
  }
};

int main() {
  std::vector<int> distance(n * n, n);
  for (std::size_t i = 0; i < n; ++i) {
    distance[n * i + (i + 1) % n] = distance[n * i + 2 * i % n] = 1;
    distance[n * i + i] = 0;
  }
  cohort::cpu::Engine engine;                                      // one worker for each CPU
  const auto job = engine.launch(ShortestPaths{distance.data()});  // runs on all workers
  job.wait_for(std::chrono::milliseconds{20});
  const auto task = engine.submit([] { /* urgent work */ }, {.groups = 1});  // borrows a worker
  std::cout << "the task had its worker after " << task.wait().gather.count() / 1000 << " us\n";
  const auto report = job.wait();
  std::cout << "groups that left: " << report.leaves << ", that joined: " << report.joins << '\n';

  const int diameter = *std::max_element(distance.begin(), distance.end());
  std::cout << "longest shortest path: " << diameter << " edges\n";
  return diameter == 17 ? 0 : 1;
}
