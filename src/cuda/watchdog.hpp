// Notices CUDA calls of this process that wait for a running job to end.
// Invariant: reporting a call needs no lock, since the call may wait while it holds CUDA's locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace cohort::cuda {

class Watchdog {
 public:
  using Report = std::function<void(const std::string&)>;

  /// Starts watching. Throws Error{unsupported} without CUPTI, or if a profiler uses it.
  explicit Watchdog(Report report);

  /// Called by the engine while jobs run, with the launch time of the oldest running job, or 0 if
  /// none runs.
  void running_since(std::uint64_t launched_at) { launched_at_.store(launched_at); }
  /// Whether a call waits. Stays true until it has returned, even if no job runs any more.
  [[nodiscard]] bool blocked() const { return blocked_.load(); }

 private:
  void watch(const std::stop_token& stop);

  const Report report_;
  std::atomic<std::uint64_t> launched_at_{0};
  std::atomic<bool> blocked_{false};
  std::jthread thread_;  // last member: the thread uses the others
};

}  // namespace cohort::cuda
