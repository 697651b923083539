// Makes groups join and leave in a job that might otherwise end too early, however busy the machine
// is.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "cohort/job.hpp"

namespace cohort::test {

/// Delays groups at their resizing points until one group has joined and one has left. Each delay
/// is twice as long as the last, so that one of them outlasts the wake-up of a joining worker, or
/// of the host that asks for a group.
class ResizeHold final : public Tracer {
 public:
  /// The first delay is at the resizing point with this number, counted over all groups.
  explicit ResizeHold(std::uint32_t first_point = 0, bool wait_for_join = true)
      : first_point_(first_point), joined_(!wait_for_join) {}

  void record(const TraceEvent& event) noexcept override {
    if (event.what == Trace::join) {
      joined_ = true;
      delay_ = first_delay;
    }
    if (event.what == Trace::kill || event.what == Trace::shed) left_ = true;
    if (event.what != Trace::offer || points_.fetch_add(1) < first_point_) return;
    reached_ = true;
    if (joined_ && left_) return;
    const std::int64_t delay = delay_.load();
    delay_.store(std::min<std::int64_t>(2 * delay, 1'000'000'000));
    std::this_thread::sleep_for(std::chrono::nanoseconds{delay});
  }

  /// Whether delays have begun.
  [[nodiscard]] bool reached() const { return reached_; }

 private:
  static constexpr std::int64_t first_delay = 20'000;  // in nanoseconds

  std::uint32_t first_point_;
  std::atomic<std::uint32_t> points_{0};
  std::atomic<bool> reached_{false};
  std::atomic<bool> joined_;
  std::atomic<bool> left_{false};
  std::atomic<std::int64_t> delay_{first_delay};  // a lost update does not matter
};

/// Sets the target and waits until the job has as many groups, or has ended.
inline void resize_to(const Job& job, std::uint32_t groups) {
  job.set_target(groups);
  while (!job.wait_for(std::chrono::microseconds{100})) {
    const std::vector<Report::Size> sizes = job.report().sizes;
    if (!sizes.empty() && sizes.back().groups == groups) return;
  }
}

}  // namespace cohort::test
