// A Tracer that keeps everything, for judgement after the run.
// Invariant: an event that was recorded before another began to be recorded comes before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "cohort/trace.hpp"

namespace cohort {

/// An event and the worker that recorded it. A worker runs one group at a time, so the events of a
/// worker from a start or join to the next one are those of one group.
struct LoggedEvent {
  TraceEvent event;
  std::uint32_t worker = 0;
};

/// Keeps the events of one job, up to a limit.
class TraceLog final : public Tracer {
 public:
  static constexpr std::size_t default_limit = std::size_t{1} << 24U;

  explicit TraceLog(std::size_t limit = default_limit) : limit_(limit) {}

  void record(const TraceEvent& event) noexcept override;

  /// What was recorded. Only while nobody records: after the job's end, or while it is suspended.
  [[nodiscard]] const std::vector<LoggedEvent>& events() const noexcept { return events_; }
  /// Events beyond the limit, which were not kept.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::mutex mutex_;
  std::vector<LoggedEvent> events_;
  std::size_t limit_;
  std::uint64_t dropped_ = 0;
};

}  // namespace cohort
