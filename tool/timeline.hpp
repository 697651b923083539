// Timeline of jobs and tasks as trace-event JSON, for Perfetto and chrome://tracing. Invariant:
// slices nest on a unit's lane, one slice per stay of a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cohort/trace.hpp"

namespace cohort::tool {

/// Collects events while jobs and tasks run. Offers are left out, because there are too many.
class Timeline {
 public:
  static constexpr std::size_t default_limit = std::size_t{1} << 20U;

  /// Keeps at most `limit` events.
  explicit Timeline(std::size_t limit = default_limit) : limit_(limit) {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline() = default;

  /// Label of the lanes, before their number (default: "unit").
  void name_units(std::string name);

  /// A tracer for a job, or for any number of tasks of one kind. It lives as long as the timeline.
  Tracer& job(std::string name) { return add(std::move(name), "job"); }
  Tracer& task(std::string name) { return add(std::move(name), "task"); }

  /// All events as trace-event JSON, one per line; times count from the first event. Groups that
  /// are still running end with the last event.
  [[nodiscard]] std::string to_trace_events() const;
  /// Writes the JSON to a file. Throws Error{bad_options} if it cannot be written.
  void write(const std::filesystem::path& file) const;

  /// Number of events dropped beyond the limit.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  class Track final : public Tracer {
   public:
    Track(Timeline& timeline, std::uint32_t index, std::string its_name, const char* its_kind)
        : name(std::move(its_name)), kind(its_kind), timeline_(timeline), index_(index) {}
    void record(const TraceEvent& event) noexcept override;
    void gathered(const TraceGather& gather) noexcept override;

    const std::string name;
    const char* const kind;

   private:
    Timeline& timeline_;
    const std::uint32_t index_;
  };
  struct Kept {
    TraceEvent event;
    std::uint32_t track;
  };
  struct KeptGather {
    TraceGather gather;
    std::uint32_t track;
  };

  Tracer& add(std::string name, const char* kind);
  template <class Container, class Value>
  void keep(Container& container, const Value& value) noexcept;

  mutable std::mutex mutex_;
  std::deque<Track> tracks_;
  std::vector<Kept> events_;
  std::vector<KeptGather> gathers_;
  std::string unit_name_ = "unit";
  std::size_t limit_;
  std::uint64_t dropped_ = 0;
};

/// Trace-event JSON as the report's page draws it. A slice is [lane, begin, duration, kind, name,
/// group], in microseconds. Kind 0 is a slice of the job, 1 of a task, 2 a wait in a barrier.
[[nodiscard]] nlohmann::ordered_json report_timeline(const nlohmann::ordered_json& trace);

}  // namespace cohort::tool
