// A parallel loop over blocks, on all CPUs that the process may use. For host-side work on graphs.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace cohort {

/// Splits the numbers 0 to `size` - 1 into blocks and calls `work(begin, end)` for each. Each
/// number is visited once; the order is arbitrary, and blocks run in parallel. `work` must not
/// throw.
template <class Work>
void for_blocks(std::size_t size, std::size_t block, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    // Relaxed: blocks are independent, and joining the threads orders all of them.
    for (;;) {
      const std::size_t begin = next.fetch_add(block, std::memory_order_relaxed);
      if (begin >= size) return;
      work(begin, std::min(begin + block, size));
    }
  };
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const bool known = ::sched_getaffinity(0, sizeof mask, &mask) == 0;
  const std::size_t cpus = known ? static_cast<std::size_t>(CPU_COUNT(&mask)) : 1;
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(cpus, (size + block - 1) / block); ++i)
    others.emplace_back(loop);
  loop();
}

}  // namespace cohort
