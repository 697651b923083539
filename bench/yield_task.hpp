// Yield semantics, for comparison: a requested group runs the task inside its offer, then
// continues. Invariant: there is one task at a time. It starts when all groups that it needs have
// arrived.
#pragma once

#include <atomic>
#include <cstdint>

namespace cohort::bench {

/// Durations of a task in nanoseconds, both measured from its request.
struct Served {
  std::uint64_t gather = 0;  ///< until all its groups had arrived
  std::uint64_t done = 0;    ///< until the last of them continued with the kernel
};

/// A task that the host passes to running groups.
class YieldTask {
 public:
  /// Host: requests `groups` groups, each of which runs `steps` of arithmetic. Returns when they
  /// are done.
  Served ask(std::uint32_t groups, std::uint64_t steps);

  /// Groups: runs a pending task. Called at each place where a group would offer itself.
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
  std::atomic<std::uint32_t> round_{0};  // incremented whenever all groups have arrived
  std::atomic<std::uint32_t> busy_{0};
};

}  // namespace cohort::bench
