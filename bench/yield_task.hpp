// Yield semantics, for comparison: a group that is asked runs the task inside its offer and goes
// on. Invariant: one task at a time; it starts when as many groups as it needs are in it.
#pragma once

#include <atomic>
#include <cstdint>

namespace cohort::bench {

/// How a task was served, in nanoseconds since it was asked for.
struct Served {
  std::uint64_t gather = 0;  ///< until all its groups were in it
  std::uint64_t done = 0;    ///< until the last of them went on with the kernel
};

/// Work that the host asks groups to do in between.
class YieldTask {
 public:
  /// Has `groups` groups run `steps` of arithmetic each; returns when they have. By the host.
  Served ask(std::uint32_t groups, std::uint64_t steps);

  /// Runs a task if one is asked for. By groups, where they would offer themselves.
  void look() {
    if (wanted_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      serve();
  }

 private:
  void serve();

  std::uint32_t groups_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t gathered_at_ = 0;
  std::atomic<std::uint32_t> wanted_{0};
  std::atomic<std::uint32_t> arrived_{0};
  std::atomic<std::uint32_t> round_{0};  // one more whenever all groups are in
  std::atomic<std::uint32_t> busy_{0};
};

}  // namespace cohort::bench
