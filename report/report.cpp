#include "report/report.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/multitask.hpp"
#include "bench/store.hpp"
#include "bench/summary.hpp"
#include "cohort/error.hpp"
#include "cohort/version.hpp"
#include "report/assets.hpp"
#include "tool/record.hpp"

namespace cohort::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json read(const fs::path& file) {
  std::ifstream in{file};
  Json result = Json::parse(in, nullptr, false);
  if (!result.is_object())
    throw Error{Errc::bad_file, "'" + file.string() + "' is not a record of results; remove it"};
  return result;
}

/// Removes samples: the page shows medians, and samples stay in the records.
void drop_samples(Json& json) {
  const auto is_sample = [](const Json& value) {
    return value.is_array() && !value.empty() &&
           std::all_of(value.begin(), value.end(),
                       [](const Json& each) { return each.is_number(); });
  };
  if (json.is_object()) {
    for (const char* name : {"samples", "search"}) json.erase(name);
    for (auto each = json.begin(); each != json.end();)
      each = is_sample(*each) ? json.erase(each) : std::next(each);
  }
  if (json.is_structured()) {
    for (auto& each : json) drop_samples(each);
  }
}

/// A trace as the page draws it. A slice is [lane, begin, duration, kind, name, group], in
/// microseconds. Kind 0 is a slice of the job, 1 of a task, 2 a wait in a barrier.
Json compact(const Json& trace) {
  constexpr double shortest_wait = 20;  // microseconds: shorter waits cannot be seen
  Json result{{"lanes", Json::array()},
              {"names", Json::array()},
              {"slices", Json::array()},
              {"sizes", Json::array()},
              {"gathers", Json::array()},
              {"unit", "unit"},  // what a lane is
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

/// Scenarios whose records are shown as they are.
constexpr std::array scenarios{"overhead", "cpu",     "barrier",    "gather", "lease", "fairness",
                               "sizing",   "sharing", "background", "queue",  "demo"};

/// File names and the CRC-32 of their contents. They reveal an outdated summary.
Json checksums(const fs::path& folder, std::string_view engine) {
  Json result = Json::object();
  std::vector<std::string> names{bench::multitask_file(engine, false),
                                 bench::multitask_file(engine, true)};
  for (const char* what : scenarios) names.push_back(tool::file_of(what, engine, ".json"));
  names.push_back(tool::file_of("timeline.trace", engine, ".json"));
  for (const std::string& name : names) {
    std::ifstream in{folder / name, std::ios::binary};
    if (!in) continue;
    const std::string content{std::istreambuf_iterator<char>{in}, {}};
    result[name] = ::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  }
  return result;
}

/// The results of one engine in a folder; empty if there are none.
Json collect(const fs::path& folder, std::string_view engine) {
  std::error_code ignored;
  Json set = Json::object();
  for (const char* name : scenarios) {
    const fs::path file = folder / tool::file_of(name, engine, ".json");
    if (fs::exists(file, ignored)) set[name] = read(file);
  }
  for (const bool fixed_duration : {false, true}) {
    const fs::path file = folder / bench::multitask_file(engine, fixed_duration);
    if (!fs::exists(file, ignored)) continue;
    std::vector<Json> lines = bench::read_lines(file);
    if (lines.empty()) continue;  // interrupted before the first sample
    const Json header = lines.front();
    lines.erase(lines.begin());
    try {
      set[fixed_duration ? "fixed_duration" : "multitask"] =
          bench::summarise_multitask(header, lines);
    } catch (const Json::exception& error) {
      throw Error{Errc::bad_file, "'" + file.string() + "': " + error.what() + "; remove it"};
    }
  }
  const fs::path trace = folder / tool::file_of("timeline.trace", engine, ".json");
  if (fs::exists(trace, ignored)) {
    try {
      set["timeline"] = compact(read(trace));
    } catch (const std::exception& error) {
      throw Error{Errc::bad_file, "'" + trace.string() + "': " + error.what() + "; remove it"};
    }
  }
  if (set.empty()) return set;
  drop_samples(set);
  set["sources"] = checksums(folder, engine);
  return set;
}

/// One set per engine with results in the folder.
std::vector<Json> collect(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw Error{Errc::bad_options, "no folder '" + folder.string() +
                                       "'; make one with `cohort bench all --quick --out " +
                                       folder.string() + "`"};
  const std::string name = fs::weakly_canonical(folder).filename().string();
  std::vector<Json> sets;
  for (const char* engine : {"cpu", "cuda", "opencl"}) {
    const Json found = collect(folder, engine);
    if (found.empty()) continue;
    const bool usual = std::string_view{engine} == "cpu";
    Json set{{"name", usual ? name : name + ", " + engine}, {"engine", engine}};
    set.update(found);
    sets.push_back(std::move(set));
  }
  if (sets.empty())
    throw Error{Errc::bad_options, "'" + folder.string() +
                                       "' holds no results; make some with `cohort bench all "
                                       "--quick --out " +
                                       folder.string() + "`"};
  return sets;
}

/// Replaces `mark` with `text`.
void fill(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string data_of(std::span<const fs::path> folders) {
  Json data{{"version", COHORT_VERSION}, {"commit", tool::commit()}, {"time", tool::utc_time()}};
  data["sets"] = Json::array();
  for (const fs::path& folder : folders) {
    for (Json& set : collect(folder)) data["sets"].push_back(std::move(set));
  }
  return data.dump();
}

std::string page_of(std::string data) {
  if (d3().empty()) {
    throw Error{Errc::unsupported,
                "this program was built without D3; install the Debian package node-d3 and build "
                "it again"};
  }
  // `<` occurs only in strings, where it could end the script element ("</script>") or hide its
  // end ("<!--<script>").
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
    data.replace(at, 1, "\\u003c");

  std::string page{report::page()};
  fill(page, "@SCRIPT@", script());  // from the end: inserted text may look like a mark
  fill(page, "@D3@", d3());
  fill(page, "@DATA@", data);
  fill(page, "@STYLE@", style());
  return page;
}

}  // namespace cohort::report
