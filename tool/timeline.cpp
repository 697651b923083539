#include "tool/timeline.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "tool/record.hpp"

namespace cohort::tool {
namespace {

using Json = nlohmann::ordered_json;

// Trace Event Format: one process, and a lane (tid) per unit; lane 0 is the scheduler's.
constexpr int process = 1;
constexpr int scheduler_lane = 0;
int lane_of(std::uint32_t unit) { return static_cast<int>(unit) + 1; }

// chrome://tracing has a palette of reserved colour names; Perfetto chooses colours by the slice's
// name.
constexpr const char* job_colours[] = {"thread_state_running", "rail_animation", "good"};
constexpr const char* task_colours[] = {"rail_load", "bad", "terrible"};
constexpr const char* wait_colour = "grey";

/// Writes events, one per line.
class Lines {
 public:
  explicit Lines(std::uint64_t zero) : zero_(zero) {}

  /// Microseconds, as the format requires.
  [[nodiscard]] double time(std::uint64_t nanoseconds) const {
    return static_cast<double>(nanoseconds - zero_) / 1e3;
  }
  void add(const Json& event) {
    text_ += text_.empty() ? "\n" : ",\n";
    text_ += event.dump();
  }
  void slice(const std::string& name, const char* category, int lane, std::uint64_t begin,
             std::uint64_t end, const char* colour, Json arguments) {
    add({{"name", name},
         {"cat", category},
         {"ph", "X"},
         {"ts", time(begin)},
         {"dur", static_cast<double>(end - begin) / 1e3},
         {"pid", process},
         {"tid", lane},
         {"cname", colour},
         {"args", std::move(arguments)}});
  }
  void mark(const std::string& name, const char* category, int lane, std::uint64_t at,
            Json arguments) {
    add({{"name", name},
         {"cat", category},
         {"ph", "i"},
         {"s", "t"},
         {"ts", time(at)},
         {"pid", process},
         {"tid", lane},
         {"args", std::move(arguments)}});
  }
  void count(const std::string& name, std::uint64_t at, std::uint32_t groups) {
    add({{"name", name},
         {"ph", "C"},
         {"ts", time(at)},
         {"pid", process},
         {"args", {{"groups", groups}}}});
  }
  void describe(const char* what, int lane, Json arguments) {
    add({{"name", what},
         {"ph", "M"},
         {"ts", 0},
         {"pid", process},
         {"tid", lane},
         {"args", std::move(arguments)}});
  }

  std::string take() { return std::move(text_); }

 private:
  std::uint64_t zero_;
  std::string text_;
};

/// A group's current stay on a unit, and the barrier it waits in.
struct Stay {
  TraceEvent begin;
  std::uint32_t track = 0;
  std::optional<TraceEvent> arrival;
};

}  // namespace

void Timeline::Track::record(const TraceEvent& event) noexcept {
  if (event.what != Trace::offer) timeline_.keep(timeline_.events_, Kept{event, index_});
}

void Timeline::Track::gathered(const TraceGather& gather) noexcept {
  timeline_.keep(timeline_.gathers_, KeptGather{gather, index_});
}

template <class Container, class Value>
void Timeline::keep(Container& container, const Value& value) noexcept {
  const std::lock_guard lock{mutex_};
  if (events_.size() + gathers_.size() == limit_) {
    ++dropped_;
    return;
  }
  try {
    container.push_back(value);
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
}

Tracer& Timeline::add(std::string name, const char* kind) {
  const std::lock_guard lock{mutex_};
  return tracks_.emplace_back(*this, static_cast<std::uint32_t>(tracks_.size()), std::move(name),
                              kind);
}

std::string Timeline::to_trace_events() const {
  // Stable: events of one unit stay in their order.
  std::vector<Kept> events = events_;
  std::stable_sort(events.begin(), events.end(), [](const Kept& a, const Kept& b) {
    return a.event.nanoseconds < b.event.nanoseconds;
  });
  std::uint64_t zero = events.empty() ? 0 : events.front().event.nanoseconds;
  std::uint64_t last = events.empty() ? 0 : events.back().event.nanoseconds;
  for (const auto& [gather, track] : gathers_) {
    zero = std::min(zero, gather.begin);
    last = std::max(last, gather.end);
  }

  Lines lines{zero};
  lines.describe("process_name", scheduler_lane, {{"name", "cohort"}});
  lines.describe("thread_name", scheduler_lane, {{"name", "gathers"}});
  lines.describe("thread_sort_index", scheduler_lane, {{"sort_index", -1}});
  std::map<std::uint32_t, bool> units;
  for (const Kept& kept : events) units[kept.event.unit] = true;
  for (const auto& [unit, used] : units) {
    if (unit == no_unit) continue;
    lines.describe("thread_name", lane_of(unit),
                   {{"name", unit_name_ + " " + std::to_string(unit)}});
    lines.describe("thread_sort_index", lane_of(unit), {{"sort_index", unit}});
  }

  std::map<std::uint32_t, Stay> stays;  // by unit
  std::vector<std::uint32_t> inside(tracks_.size(), 0);
  std::vector<std::size_t> colour_of(tracks_.size(), 0);
  std::size_t jobs = 0;
  std::size_t tasks = 0;
  for (std::size_t i = 0; i < tracks_.size(); ++i)
    colour_of[i] = std::string_view{tracks_[i].kind} == "job" ? jobs++ : tasks++;

  const auto end_barrier = [&](Stay& stay, std::uint64_t at) {
    if (!stay.arrival) return;
    lines.slice("barrier", "barrier", lane_of(stay.begin.unit), stay.arrival->nanoseconds, at,
                wait_colour, {{"generation", stay.arrival->value}});
    stay.arrival.reset();
  };
  const auto end_stay = [&](Stay& stay, std::uint64_t at, const char* how) {
    end_barrier(stay, at);
    const Track& track = tracks_[stay.track];
    const bool job = std::string_view{track.kind} == "job";
    const char* const colour = job ? job_colours[colour_of[stay.track] % std::size(job_colours)]
                                   : task_colours[colour_of[stay.track] % std::size(task_colours)];
    lines.slice(track.name, track.kind, lane_of(stay.begin.unit), stay.begin.nanoseconds, at,
                colour,
                {{"group", stay.begin.group},
                 {"began", stay.begin.what == Trace::start ? "started" : "joined"},
                 {"ended", how}});
    --inside[stay.track];
    if (job) lines.count("groups of " + track.name, at, inside[stay.track]);
  };

  for (const Kept& kept : events) {
    const TraceEvent& event = kept.event;
    const std::uint32_t track = kept.track;
    if (event.unit == no_unit) continue;
    const int lane = lane_of(event.unit);
    const auto found = stays.find(event.unit);
    Stay* const stay = found == stays.end() ? nullptr : &found->second;
    const bool begins = event.what == Trace::start || event.what == Trace::join;
    if (!begins && (stay == nullptr || stay->track != track))
      continue;  // its start was dropped because of the limit
    const Json group{{"group", event.group}};
    const auto leave = [&](const char* how) {
      end_stay(*stay, event.nanoseconds, how);
      stays.erase(found);
    };
    switch (event.what) {
      case Trace::start:
      case Trace::join:
        if (stay != nullptr) end_stay(*stay, event.nanoseconds, "unknown");
        stays.insert_or_assign(event.unit, Stay{event, track, {}});
        ++inside[track];
        if (std::string_view{tracks_[track].kind} == "job")
          lines.count("groups of " + tracks_[track].name, event.nanoseconds, inside[track]);
        if (event.what == Trace::join) lines.mark("join", "join", lane, event.nanoseconds, group);
        break;
      case Trace::arrive: stay->arrival = event; break;
      case Trace::pass: end_barrier(*stay, event.nanoseconds); break;
      case Trace::kill:
        lines.mark("kill", "kill", lane, event.nanoseconds, group);
        leave("killed");
        break;
      case Trace::shed:
        lines.mark("shed", "kill", lane, event.nanoseconds, group);
        leave("shed in a barrier");
        break;
      case Trace::fork:
        lines.mark("fork", "fork", lane, event.nanoseconds,
                   {{"group", event.group}, {"forked", event.value}});
        break;
      case Trace::resize:
        lines.mark("resize", "resize", lane, event.nanoseconds,
                   {{"group", event.group}, {"from", event.value}, {"to", event.active}});
        break;
      case Trace::finish: leave("finished"); break;
      case Trace::fault: leave("ended with the job"); break;
      case Trace::offer: break;
    }
  }
  for (auto& [unit, stay] : stays) end_stay(stay, last, "still running");

  std::uint32_t number = 0;
  for (const auto& [gather, track] : gathers_) {
    Json event{{"name", "gather for " + tracks_[track].name},
               {"cat", "gather"},
               {"ph", "b"},
               {"id", ++number},
               {"ts", lines.time(gather.begin)},
               {"pid", process},
               {"tid", scheduler_lane},
               {"args", {{"groups", gather.groups}}}};
    if (std::string_view{tracks_[track].kind} == "job")
      event["name"] = "groups wanted from " + tracks_[track].name;
    lines.add(event);
    event["ph"] = "e";
    event["ts"] = lines.time(gather.end);
    lines.add(event);
  }

  Json about = provenance();
  about["dropped_events"] = dropped_;
  return R"({"displayTimeUnit":"ms","otherData":)" + about.dump() + R"(,"traceEvents":[)" +
         lines.take() + "\n]}\n";
}

void Timeline::write(const std::filesystem::path& file) const {
  write_atomically(file, to_trace_events());
}

}  // namespace cohort::tool
