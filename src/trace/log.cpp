#include <atomic>

#include "cohort/trace_log.hpp"

namespace cohort {
namespace {

/// A number that identifies the calling thread.
std::uint32_t this_worker() noexcept {
  static std::atomic<std::uint32_t> workers{0};
  thread_local const std::uint32_t worker = workers.fetch_add(1, std::memory_order_relaxed);
  return worker;
}

}  // namespace

void TraceLog::record(const TraceEvent& event) noexcept {
  const std::uint32_t worker = this_worker();
  const std::lock_guard lock{mutex_};
  if (events_.size() == limit_) {
    ++dropped_;
  } else {
    events_.push_back({event, worker});
  }
}

void TraceLog::dropped(std::uint64_t events) noexcept {
  const std::lock_guard lock{mutex_};
  dropped_ += events;
}

}  // namespace cohort
