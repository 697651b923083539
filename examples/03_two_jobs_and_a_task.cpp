// Two jobs share the machine by weight, while a task draws a frame 40 times a second. The task
// borrows its workers from the jobs.
#include <atomic>
#include <cohort/cpu.hpp>
#include <cohort/periodic.hpp>
#include <complex>
#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

/// Counts the lattice points in a circle (Gauss's circle problem), 48 lines per step.
struct Circle {
  static constexpr std::int64_t radius = 10'000;
  static constexpr std::uint64_t answer = 314'159'053;
  struct State {
    std::int64_t y = -radius;
  };
  std::atomic<std::uint64_t>* points;

  template <class Group>
  cohort::Next step(Group& group, State& state) const {
    std::uint32_t mine = 0;
    for (const std::size_t i : group.stride(48))
      mine += line(state.y + static_cast<std::int64_t>(i));
    points->fetch_add(mine, std::memory_order_relaxed);  // the host reads it after wait()
    state.y += 48;
    return state.y <= radius ? cohort::Next::again : cohort::Next::halt;
  }
  static std::uint32_t line(std::int64_t y) {
    std::uint32_t inside = 0;
    for (auto x = -radius; x <= radius; ++x) inside += x * x + y * y <= radius * radius ? 1 : 0;
    return inside;
  }
};

/// A pixel of the Mandelbrot set: iterations until its point escapes. A line has 64 pixels.
std::uint32_t pixel(std::size_t i) {
  const std::size_t line = i / 64;
  const std::complex<double> c{static_cast<double>(i % 64) / 21 - 2.25,
                               static_cast<double>(line) / 21 - 1.5};
  std::uint32_t n = 0;
  for (std::complex<double> z = c; n < 100 && std::norm(z) < 4; ++n) z = z * z + c;
  return n;
}

int main() {
  std::vector<std::uint32_t> expected(4096);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = pixel(i);
  std::vector<std::uint32_t> frame(expected.size());
  std::atomic<std::uint32_t> wrong{0};
  const auto draw = [&](auto& group) {  // runs in two groups at once
    for (const std::size_t i : group.stride(frame.size())) frame[i] = pixel(i);
    group.global_barrier();
    if (group.group_id() == 0 && frame != expected) ++wrong;
  };

  std::atomic<std::uint64_t> points[2]{};
  cohort::cpu::Engine engine{{.capacity = 4}};
  const cohort::Job heavy = engine.launch(Circle{&points[0]}, {.weight = 3});
  const cohort::Job light = engine.launch(Circle{&points[1]}, {.weight = 1});
  for (const cohort::Job& job : {heavy, light}) {
    while (job.report().sizes.empty()) job.wait_for(1ms);
  }
  heavy.wait_for(20ms);
  std::cout << "groups by weight: " << heavy.report().sizes.back().groups << " and "
            << light.report().sizes.back().groups << '\n';
  cohort::Periodic frames{engine, 25ms, draw, {.groups = 2}};
  heavy.wait();
  light.wait();
  while (frames.report().count == 0) std::this_thread::sleep_for(1ms);
  const cohort::PeriodicReport drawn = frames.stop();
  std::cout << drawn.count << " frames, " << drawn.late << " late; ";
  std::cout << "median gather time " << drawn.gather.p50 / 1000 << " us\n";

  const bool counted = points[0] == Circle::answer && points[1] == Circle::answer;
  const bool correct = counted && drawn.count > 0 && wrong == 0;
  std::cout << (correct ? "both counts and all frames are correct\n" : "WRONG\n");
  return correct ? 0 : 1;
}
