#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/child.hpp"
#include "bench/cuda/scenarios.hpp"
#include "bench/cuda/sharing.hpp"
#include "bench/cuda/words.hpp"
#include "bench/harness.hpp"
#include "bench/scratch.hpp"
#include "bench/sharing.hpp"
#include "cohort/error.hpp"
#include "tool/load.hpp"
#include "tool/product.hpp"

namespace cohort::bench {

namespace device {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Part, way, background, task, device_sms, sms, products, count,
                                   period, folder)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartResult, sms, background_sms, progress, tasks, gave_up,
                                   verified)
}  // namespace device

namespace {

using device::Part;
using device::PartResult;
using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Thrown when a way to share is not available.
struct Unavailable {
  std::string reason;
};

// ---- processes

Child start(const Part& part, const Environment& with = {}) {
  return Child{{"bench", "cuda-sharing-part", nlohmann::json(part).dump()}, with};
}

PartResult result_of(Child& child) {
  std::optional<std::string> output;
  try {
    output = child.output_within(seconds{75});
  } catch (const std::runtime_error& error) {
    throw Unavailable{error.what()};
  }
  if (!output) throw Unavailable{"it did not end within 75 s and was killed"};
  const auto answer = nlohmann::json::parse(*output, nullptr, false);
  if (answer.is_discarded()) throw Unavailable{"its process wrote nonsense"};
  if (answer.contains("error")) throw Unavailable{answer["error"].get<std::string>()};
  return answer.get<PartResult>();
}

/// NVIDIA's multi-process service, for as long as the object lives.
class Mps {
 public:
  Mps() {
    shell(
        "command -v nvidia-cuda-mps-control > /dev/null || "
        "{ echo 'there is no nvidia-cuda-mps-control on this machine'; exit 1; }\n"
        "log=$CUDA_MPS_LOG_DIRECTORY/start\n"
        "timeout 10 nvidia-cuda-mps-control -d > $log 2>&1 < /dev/null || { cat $log; exit 1; }");
  }
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;
  ~Mps() {
    try {
      shell(
          "echo 'quit -t 3' | timeout 10 nvidia-cuda-mps-control > /dev/null 2>&1\n"
          "pid=$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid\n"
          "sleep 0.2; [ -f $pid ] && kill $(cat $pid) 2> /dev/null; true");
    } catch (...) {  // NOLINT(bugprone-empty-catch): there is nothing left to try
    }
  }
  [[nodiscard]] Environment environment() const {
    return {{"CUDA_MPS_PIPE_DIRECTORY", folder_.path().string()},
            {"CUDA_MPS_LOG_DIRECTORY", folder_.path().string()}};
  }

 private:
  void shell(const std::string& script) const {
    try {
      Child child{{"-c", script}, environment(), "/bin/sh"};
      if (!child.output_within(seconds{20})) throw Unavailable{"its control process hangs"};
    } catch (const std::runtime_error& error) {
      const std::string text = error.what();
      throw Unavailable{text.substr(text.rfind("failed: ") + 8)};
    }
  }

  Scratch folder_;
};

// ---- ways to share

struct Way {
  const char* name;
  const char* part;        // value of Part::way
  bool processes = false;  // whether a second process runs the tasks
  bool mps = false;
  bool percentage = false;  // whether each process is limited to a percentage of the threads
  bool confined = true;     // whether tasks have only their share, not the whole GPU

  [[nodiscard]] constexpr bool cooperative() const {
    return std::string_view{part} != "plain" && std::string_view{part} != "green";
  }
};
constexpr Way ways[] = {
    {.name = "stream priority", .part = "plain", .confined = false},
    {.name = "time slicing", .part = "plain", .processes = true, .confined = false},
    {.name = "MPS", .part = "plain", .processes = true, .mps = true, .confined = false},
    {.name = "MPS, a percentage",
     .part = "plain",
     .processes = true,
     .mps = true,
     .percentage = true},
    {.name = "green contexts", .part = "green"},
    {.name = "cohort, lease", .part = "lease"},
    {.name = "cohort, submit", .part = "submit"},
};

/// Runs the part of the job and the part of the tasks at the same time. `spare`: SMs that a
/// percentage grants to the tasks in addition to one for each block.
PartResult share(const Way& way, Part part, std::uint32_t spare) {
  if (!way.processes) {
    Child child = start(part);
    return result_of(child);
  }
  std::optional<Mps> mps;
  Environment with;
  if (way.mps) {
    mps.emplace();
    with = mps->environment();
  }
  const auto environment = [&](bool of_tasks) {
    Environment result = with;
    if (way.percentage) {
      const std::uint32_t percent = 100 * (part.sms + spare) / part.device_sms;
      result.emplace_back("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                          std::to_string(of_tasks ? percent : 100 - percent));
    }
    return result;
  };
  const Scratch folder;
  part.folder = folder.path().string();
  Part job = part;
  job.task = false;
  Part tasks = part;
  tasks.background = false;
  Child job_process = start(job, environment(false));
  Child task_process = start(tasks, environment(true));
  PartResult result;
  std::optional<Unavailable> failure;
  try {
    result = result_of(task_process);
  } catch (const Unavailable& why) {
    failure = why;
    std::ofstream{folder.path() / "done"} << "\n";  // the job can end now
  }
  const PartResult other = result_of(job_process);
  if (failure) throw Unavailable{*failure};
  result.progress = other.progress;
  result.background_sms = other.background_sms;
  result.verified = result.verified && other.verified;
  return result;
}

// ---- the measurements

std::vector<double> latencies(const PartResult& result) {
  std::vector<double> ns;
  for (const auto& [begun, done] : result.tasks) ns.push_back(static_cast<double>(done - begun));
  return ns;
}

double steps_per_ns(const PartResult& result) {
  const ProgressLine& line = result.progress;
  // The time from the first task to the last, in whole periods.
  const bool served = result.tasks.size() > 1 && !result.gave_up;
  return rate(line, served ? result.tasks.front().first : line.front().first,
              served ? result.tasks.back().first : line.back().first);
}

PartResult alone(const Part& part) {
  Child child = start(part);
  return result_of(child);
}

struct Load {
  const tool::LoadClass* kind;
  const char* share;
};

class Comparison {
 public:
  explicit Comparison(const ScenarioOptions& options)
      : options_(options), sms_(described()["sms"].get<std::uint32_t>()) {}

  Json run() {
    Json record{{"device", described()}};
    std::cout << record["device"]["name"].get<std::string>() << ", " << sms_ << " SMs\n\n";
    product_on(sms_);  // runs the chip up to its full clock
    job_alone("plain");
    job_alone("lease");
    record["job_alone"] = {{"plain_step_us", 1e-3 / rates_["plain"]},
                           {"cohort_step_us", 1e-3 / rates_["lease"]},
                           {"cost_of_cooperation", rates_["plain"] / rates_["lease"]}};
    std::cout << std::fixed << std::setprecision(2) << "the job alone: a step every "
              << 1e-3 / rates_["plain"] << " us as plain CUDA, " << 1e-3 / rates_["lease"]
              << " us as a cooperative kernel\n\n";
    record["fixed_work"] = loads(true);
    record["fixed_duration"] = loads(false);
    return record;
  }

  /// Measures time slicing, for each class of tasks. A task gets the whole GPU in its turn.
  Json time_slicing() {
    product_on(sms_);
    job_alone("plain");
    auto result = Json::array();
    for (const tool::LoadClass& load : tool::load_classes) {
      if (options_.stop.stop_requested()) throw Stopped{};
      const Part part = part_for(load, sms_, sms_);
      Json entry{{"class", load.name}};
      entry.update(measure(ways[sliced], part, alone_for(part)));
      result.push_back(std::move(entry));
    }
    return result;
  }

 private:
  static constexpr std::size_t sliced = 1;  // an index into `ways`
  static_assert(std::string_view{ways[sliced].name} == "time slicing");

  void job_alone(const char* way) {
    const PartResult result = alone({.way = way,
                                     .task = false,
                                     .device_sms = sms_,
                                     .count = 1,
                                     .period = options_.quick ? 0.3 : 1.5});
    if (!result.verified) throw Error{Errc::bad_state, "bench: the job alone went wrong"};
    rates_[way] = steps_per_ns(result);
  }

  /// Time of a product on this number of SMs, in nanoseconds.
  double product_on(std::uint32_t sms) {
    if (product_.contains(sms)) return product_[sms];
    const std::uint32_t products = 64;
    const PartResult result = alone(
        {.background = false, .device_sms = sms_, .sms = sms, .products = products, .count = 20});
    return product_[sms] = median(latencies(result)) / products;
  }

  Json loads(bool fixed_work) {
    auto result = Json::array();
    for (const Load& load :
         {Load{&tool::load_classes[2], "half"}, Load{&tool::load_classes[1], "quarter"}}) {
      result.push_back(one_load(load, fixed_work));
    }
    return result;
  }

  /// Tasks that take load.work on `calibrated_on` SMs, as a part that runs them on `sms` SMs.
  Part part_for(const tool::LoadClass& load, std::uint32_t calibrated_on, std::uint32_t sms) {
    const auto work = std::chrono::duration<double, std::nano>{load.work}.count();
    Part part{.device_sms = sms_,
              .sms = sms,
              .count = options_.quick ? 10U : 60U,
              .period = std::chrono::duration<double>{load.period}.count()};
    const double products = work / product_on(calibrated_on);
    part.products = static_cast<std::uint32_t>(std::max(1L, std::lround(products)));
    return part;
  }

  /// Latency of such a task on an idle GPU.
  static double alone_for(Part part) {
    part.way = "plain";
    part.background = false;
    part.count = 10;
    return median(latencies(alone(part)));
  }

  Json one_load(const Load& load, bool fixed_work) {
    const std::uint32_t share_sms = tool::groups_of(load.share, sms_);
    const Part part = part_for(*load.kind, fixed_work ? sms_ : share_sms, share_sms);
    const double period = part.period;
    const double busy = part.products * product_on(share_sms) / 1e9;
    const double ideal = ideal_slowdown(static_cast<double>(share_sms) / sms_, busy, period);
    std::cout << (fixed_work ? "FIXED WORK: " : "E ON THE SHARE: ") << load.kind->name << ", "
              << load.kind->work.count() << " ms on "
              << (fixed_work ? "the whole GPU" : std::to_string(share_sms) + " SMs") << " every "
              << load.kind->period.count() << " ms; ways that confine tasks give them " << share_sms
              << " SMs\nideal slowdown of the job " << std::setprecision(3) << ideal << "\n  "
              << std::left << std::setw(22) << "" << std::right << std::setw(10) << "p50 ms"
              << std::setw(10) << "p99 ms" << std::setw(13) << "over alone" << std::setw(10)
              << "slowdown" << std::endl;

    Json entry{{"class", load.kind->name},  {"share", load.share},       {"sms", share_sms},
               {"period_ms", period * 1e3}, {"products", part.products}, {"ideal_slowdown", ideal},
               {"rows", Json::array()}};
    // Latency of a task on the idle GPU, indexed by number of blocks.
    std::map<std::uint32_t, double> idle;
    for (const Way& way : ways) {
      if (options_.stop.stop_requested()) throw Stopped{};
      if (std::string_view{way.name}.find(options_.only) == std::string_view::npos) continue;
      Part asked = part;
      asked.way = way.part;
      if (fixed_work && !way.confined) asked.sms = sms_;
      if (!idle.contains(asked.sms)) idle[asked.sms] = alone_for(asked);
      entry["rows"].push_back(row(way, asked, idle[asked.sms]));
    }
    std::cout << std::endl;
    return entry;
  }

  Json row(const Way& way, const Part& part, double idle) {
    std::cout << "  " << std::left << std::setw(22) << way.name << std::right << std::fixed
              << std::setprecision(3) << std::flush;
    Json entry = measure(way, part, idle);
    if (entry.contains("not_available")) {
      std::cout << "  not available: " << entry["not_available"].get<std::string>() << std::endl;
      return entry;
    }
    if (entry.contains("gave_up")) {
      std::cout << std::setw(33) << "a task waits for the job's end";
    } else {
      for (const auto& [name, width] :
           {std::pair{"p50_ns", 10}, std::pair{"p99_ns", 10}, std::pair{"over_alone_p50_ns", 13}})
        std::cout << std::setw(width) << entry[name].get<double>() / 1e6;
    }
    std::cout << std::setw(10) << entry["slowdown"].get<double>()
              << (entry["verified"] == true ? "" : "   WRONG") << std::endl;
    return entry;
  }

  /// Measures one way to share. `idle` is the latency of a task on the idle GPU. Of several
  /// percentages, takes the first that delays tasks by at most 5 %, or else the one that delays
  /// them least. SMs are granted in pairs, so both processes may get some of the same SMs.
  Json measure(const Way& way, const Part& part, double idle) {
    if (!way.percentage) return measure(way, part, idle, 0);
    const auto latency = [](const Json& entry) {
      return entry.contains("p50_ns") ? entry["p50_ns"].get<double>()
                                      : std::numeric_limits<double>::infinity();
    };
    std::optional<Json> best;
    for (const std::uint32_t spare : {2U, 6U, 12U, 24U}) {
      Json entry = measure(way, part, idle, spare);
      if (entry.contains("not_available")) return entry;
      if (!best || latency(entry) < latency(*best)) best = std::move(entry);
      if (latency(*best) <= 1.05 * idle) break;
    }
    return *best;
  }

  Json measure(const Way& way, const Part& part, double idle, std::uint32_t spare) {
    Json entry{{"way", way.name}, {"blocks", part.sms}, {"alone_ns", idle}};
    PartResult result;
    try {
      result = share(way, part, spare);
    } catch (const Unavailable& why) {
      entry["not_available"] = why.reason;
      return entry;
    }
    const double steps = steps_per_ns(result);
    const std::vector<double> ns = latencies(result);
    entry["verified"] = result.verified;
    entry["job_sms"] = result.background_sms;
    if (way.percentage) entry["task_sms"] = result.sms;
    entry["served"] = ns.size();
    entry["slowdown"] = rates_["plain"] / steps;
    entry["slowdown_of_itself"] = rates_[way.cooperative() ? "lease" : "plain"] / steps;
    if (result.gave_up) {
      entry["gave_up"] = true;
    } else {
      entry["p50_ns"] = percentile(ns, 50);
      entry["p99_ns"] = percentile(ns, 99);
      entry["over_alone_p50_ns"] = percentile(ns, 50) - idle;
    }
    entry["samples_ns"] = ns;
    return entry;
  }

  const ScenarioOptions& options_;
  std::uint32_t sms_;
  std::map<std::string, double> rates_;  // rate of the job alone, in steps per nanosecond
  // Time of a product in nanoseconds, indexed by number of SMs.
  std::map<std::uint32_t, double> product_;
};

nlohmann::ordered_json run_cuda_sharing(const ScenarioOptions& options) {
  try {
    return Comparison{options}.run();
  } catch (const Unavailable& why) {
    throw Error{Errc::unsupported, "bench sharing: " + why.reason};
  }
}

}  // namespace

const Scenario cuda_sharing_scenario{
    .name = "sharing",
    .summary =
        "a job and a periodic task on one GPU: priorities, time slicing, MPS, green "
        "contexts, cohort",
    .run = &run_cuda_sharing,
    .accepts = {.only = true}};

nlohmann::ordered_json cuda_time_slicing(const ScenarioOptions& options) {
  try {
    return Comparison{options}.time_slicing();
  } catch (const Unavailable& why) {
    auto rows = Json::array();
    for (const tool::LoadClass& load : tool::load_classes)
      rows.push_back({{"class", load.name}, {"not_available", why.reason}});
    return rows;
  }
}

void cuda_sharing_part(const std::string& part) {
  nlohmann::json answer;
  try {
    answer = device::run(nlohmann::json::parse(part).get<Part>());
  } catch (const Error& error) {
    answer = {{"error", error.what()}};
  }
  std::cout << answer.dump() << std::endl;
}

}  // namespace cohort::bench
