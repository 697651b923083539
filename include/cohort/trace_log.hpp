// A Tracer that keeps all events, to be judged after the run. Invariant: an event that was recorded
// before the recording of another one began comes first in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "cohort/trace.hpp"

namespace cohort {

/// An event and the worker that recorded it. A worker runs one group at a time, so a worker's
/// events from one start or join to the next belong to one group.
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
  void dropped(std::uint64_t events) noexcept override;

  /// The recorded events. Call it only while no event is being recorded: after the job's end, or
  /// while the job is suspended.
  [[nodiscard]] const std::vector<LoggedEvent>& events() const noexcept { return events_; }
  /// Number of events that were dropped: beyond the limit, or by the engine.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::mutex mutex_;
  std::vector<LoggedEvent> events_;
  std::size_t limit_;
  std::uint64_t dropped_ = 0;
};

}  // namespace cohort
