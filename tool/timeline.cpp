#include "tool/timeline.hpp"

#include <algorithm>
#include <cmath>
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

std::uint64_t Timeline::dropped() const {
  const std::lock_guard lock{mutex_};
  return dropped_;
}

void Timeline::name_units(std::string name) {
  const std::lock_guard lock{mutex_};
  unit_name_ = std::move(name);
}

Tracer& Timeline::add(std::string name, const char* kind) {
  const std::lock_guard lock{mutex_};
  return tracks_.emplace_back(*this, static_cast<std::uint32_t>(tracks_.size()), std::move(name),
                              kind);
}

std::string Timeline::to_trace_events() const {
  const std::lock_guard lock{mutex_};
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

  std::map<std::uint32_t, Stay> stays;  // indexed by unit
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

nlohmann::ordered_json report_timeline(const nlohmann::ordered_json& trace) {
  constexpr double shortest_wait = 20;  // microseconds: shorter waits cannot be seen
  Json result{{"lanes", Json::array()},
              {"names", Json::array()},
              {"slices", Json::array()},
              {"sizes", Json::array()},
              {"gathers", Json::array()},
              {"unit", "unit"},  // the meaning of a lane
              {"end", 0.0},
              {"job", -1},
              {"task", -1}};
  std::map<int, std::size_t> lanes;
  std::map<std::string, std::size_t> names;
  std::map<std::uint64_t, double> begun;
  const auto number = [&](const std::string& name) {
    const auto [found, fresh] = names.try_emplace(name, names.size());
    if (fresh) result["names"].push_back(name);
    return found->second;
  };
  const auto round = [](double microseconds) { return std::round(microseconds * 10) / 10; };
  for (const Json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "M" && event.at("name") == "thread_name" && event.at("tid").get<int>() > 0) {
      lanes.emplace(event["tid"], 0);
      const std::string name = event.at("args").at("name");
      result["unit"] = name.substr(0, name.rfind(' '));
    }
  }
  for (auto& [tid, place] : lanes) {
    place = result["lanes"].size();
    result["lanes"].push_back(std::to_string(tid - 1));
  }
  double end = 0;
  for (const Json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "X") {
      const std::string category = event.at("cat");
      const double duration = event.at("dur");
      const double begin = event.at("ts");
      end = std::max(end, begin + duration);
      if (category == "barrier" && duration < shortest_wait) continue;
      const std::size_t name = number(event.at("name"));
      const int kind = category == "job" ? 0 : category == "task" ? 1 : 2;
      if (kind == 0) result["job"] = name;
      if (kind == 1) result["task"] = name;
      result["slices"].push_back({lanes.at(event.at("tid")), round(begin), round(duration), kind,
                                  name, event.at("args").value("group", -1)});
    } else if (phase == "C") {
      result["sizes"].push_back({round(event.at("ts")), event.at("args").at("groups")});
    } else if (phase == "b") {
      begun[event.at("id")] = event.at("ts");
    } else if (phase == "e") {
      const bool of_task = event.at("name").get<std::string>().starts_with("gather for");
      if (of_task) {
        result["gathers"].push_back(
            {round(begun[event.at("id")]), round(event.at("ts")), event.at("args").at("groups")});
      }
    }
  }
  std::stable_sort(result["sizes"].begin(), result["sizes"].end(),
                   [](const Json& a, const Json& b) { return a[0] < b[0]; });
  result["end"] = round(end);
  return result;
}

}  // namespace cohort::tool
