// Yield semantics, for comparison: a requested group runs the task inside its offer and goes on.
// Invariant: one task at a time; it starts when all the groups it needs have arrived.
#pragma once

#include <atomic>
#include <cstdint>

namespace cohort::bench {

/// Times of a task, in nanoseconds since its request.
struct Served {
  std::uint64_t gather = 0;  ///< until all its groups were in it
  std::uint64_t done = 0;    ///< until the last of them went on with the kernel
};

/// A task that the host hands to running groups.
class YieldTask {
 public:
  /// Host: has `groups` groups run `steps` of arithmetic each; returns when they are done.
  Served ask(std::uint32_t groups, std::uint64_t steps);

  /// Groups: runs a pending task. Called where a group would offer itself.
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
