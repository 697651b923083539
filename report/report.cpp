#include "report/report.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/multitask.hpp"
#include "bench/store.hpp"
#include "bench/summary.hpp"
#include "cohort/error.hpp"
#include "cohort/version.hpp"
#include "tool/record.hpp"
#include "tool/timeline.hpp"

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
    if (lines.empty()) continue;  // the run was interrupted before the first sample
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
      set["timeline"] = tool::report_timeline(read(trace));
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

}  // namespace

std::string data_of(std::span<const fs::path> folders) {
  Json data{{"version", COHORT_VERSION}, {"commit", tool::commit()}, {"time", tool::utc_time()}};
  data["sets"] = Json::array();
  for (const fs::path& folder : folders) {
    for (Json& set : collect(folder)) data["sets"].push_back(std::move(set));
  }
  return data.dump();
}

}  // namespace cohort::report
