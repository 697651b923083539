// Direct style: work stealing. Ranges of numbers are halved until they are small, and each group
// has a queue of them. With KillOrder::any every group that offers can leave, and others empty its
// queue.
#include <atomic>
#include <cohort/cpu.hpp>
#include <iostream>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
constexpr auto relaxed = std::memory_order_relaxed;  // the locks and wait() order everything else

struct Range {
  std::uint64_t first, last;
  constexpr std::uint64_t size() const { return last - first; }
  Range split() { return {last - size() / 2, std::exchange(last, last - size() / 2)}; }
};

/// Total steps from each number of a range to 1 by the rule of Collatz. The work per number varies.
std::uint64_t collatz_steps(Range range) {
  std::uint64_t steps = 0;
  for (std::uint64_t n = range.first; n < range.last; ++n) {
    for (std::uint64_t i = n; i != 1; ++steps) i = i % 2 == 0 ? i / 2 : 3 * i + 1;
  }
  return steps;
}

struct Queue {
  std::mutex mutex;
  std::vector<Range> ranges;
  void push(Range range) {
    const std::lock_guard lock{mutex};
    ranges.push_back(range);
  }
  std::optional<Range> pop() {
    const std::lock_guard lock{mutex};
    if (ranges.empty()) return {};
    const Range range = ranges.back();
    ranges.pop_back();
    return range;
  }
};

struct Collatz {
  static constexpr cohort::Traits traits{.kill_order = cohort::KillOrder::any};
  Queue* queues;                     // one for each possible group id
  std::atomic<std::uint64_t>* left;  // numbers that are not done yet
  std::atomic<std::uint64_t>* steps;
  template <class Group>
  void run(Group& group, cohort::Nothing state) const {
    while (left->load(relaxed) > 0) {
      // This group was removed; it holds no range, and its queue stays.
      if (group.offer(state)) return;
      std::optional<Range> range;
      // Starts with its own queue.
      for (std::uint32_t i = 0; i < group.max_groups() && !range; ++i) {
        range = queues[(group.group_id() + i) % group.max_groups()].pop();
      }
      if (!range) continue;
      while (range->size() > 1000) queues[group.group_id()].push(range->split());
      steps->fetch_add(collatz_steps(*range), relaxed);
      left->fetch_sub(range->size(), relaxed);
    }
  }
};

int main() {
  constexpr Range all{1, 1'000'000};
  Queue queues[4];
  queues[0].push(all);
  std::atomic<std::uint64_t> left{all.size()};
  std::atomic<std::uint64_t> steps{0};
  cohort::cpu::Engine engine{{.capacity = 4}};
  const cohort::Job job = engine.launch(Collatz{queues, &left, &steps}, {.max_groups = 4});
  for (std::uint32_t round = 0; !job.wait_for(5ms); ++round) job.set_target(1 + round % 4);
  const bool correct = steps == collatz_steps(all);
  std::cout << job.report().joins << " groups joined and " << job.report().leaves << " left\n"
            << steps << " steps: " << (correct ? "same as a plain loop\n" : "WRONG\n");
  return correct ? 0 : 1;
}
