// Scenario "tenants": a renderer in a process of its own, next to a job that uses all CPUs. Frames
// arrive at random times, and each needs a CPU for a fixed amount of work. The scenario measures
// how long frames take and how much they slow down the job: without cooperation, with the means of
// Linux, and with leases.
#include "bench/tenants.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "bench/affinity.hpp"
#include "bench/arithmetic.hpp"
#include "bench/child.hpp"
#include "bench/harness.hpp"
#include "bench/scenario.hpp"
#include "cohort/cpu.hpp"
#include "cohort/tenant.hpp"

namespace cohort::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::array rates{10.0, 100.0, 1000.0};  // frames per second
constexpr microseconds frame_work{200};
constexpr microseconds step_work{200};  // work of all groups in a step of the job
/// The required median: a lease takes at most one resizing interval plus this time.
constexpr microseconds allowance{200};

// ---- the processes

/// A job of steps with a barrier after each.
struct Steps {
  struct State {};
  std::uint64_t work;
  std::atomic<std::uint64_t>* done;

  template <class Group>
  Next step(Group& group, State& /*state*/) const {
    keep(churn(work / group.num_groups()));
    if (group.group_id() == 0) done->fetch_add(1, std::memory_order_relaxed);
    return Next::again;
  }
};

void sleep_until(std::uint64_t when) {
  const std::uint64_t now = cpu::now();
  if (when > now) std::this_thread::sleep_for(nanoseconds{when - now});
}

ordered_json job_part(const TenantsPart& part) {
  cpu::Engine engine{{.capacity = part.workers, .pin_workers = true, .share = part.engine}};
  std::atomic<std::uint64_t> done{0};
  const Job job = engine.launch(Steps{part.work, &done});
  sleep_until(part.begin);
  const std::uint64_t begin = cpu::now();
  const std::uint64_t first = done.load(std::memory_order_relaxed);
  sleep_until(part.begin + part.length);
  const std::uint64_t steps = done.load(std::memory_order_relaxed) - first;
  const std::uint64_t taken = cpu::now() - begin;
  job.cancel();
  const Report report = job.wait();
  return {{"step_ns",
           static_cast<double>(taken) / static_cast<double>(std::max<std::uint64_t>(1, steps))},
          {"interval_ns", report.offers.p50},
          {"leaves", report.leaves}};
}

/// The renderer: serves frames in the order of their arrival.
ordered_json renderer_part(const TenantsPart& part) {
  std::optional<Tenant> tenant;
  if (!part.engine.empty()) {
    tenant.emplace(TenantOptions{.engine = part.engine, .name = "renderer"});
    if (!tenant->wait_connected(std::chrono::seconds{20}))
      throw Error{Errc::engine_gone, "the job's engine did not answer"};
  }
  std::mt19937_64 random{part.seed};
  std::exponential_distribution<double> gap{part.rate / 1e9};
  std::vector<std::uint64_t> latencies;
  std::vector<std::uint64_t> waits;
  for (double at = gap(random); at < static_cast<double>(part.length); at += gap(random)) {
    const std::uint64_t arrival = part.begin + static_cast<std::uint64_t>(at);
    sleep_until(arrival);
    TenantLease lease;
    if (tenant) {
      const std::uint64_t asked = cpu::now();
      lease = tenant->lease();
      waits.push_back(cpu::now() - asked);
      if (const auto cpus = lease.cpus(); !cpus.empty()) pin(static_cast<int>(cpus.front()));
    }
    keep(churn(part.work));
    latencies.push_back(cpu::now() - arrival);
  }
  return {{"latencies", latencies}, {"waits", waits}};
}

// ---- the ways to share

struct Way {
  std::string_view name;
  bool renderer = true;
  bool job = true;
  int nice = 0;  ///< nice value of the job
  bool cgroups = false;
  /// Whether the renderer has one CPU to itself all the time, as with cpuset or taskset.
  bool apart = false;
  bool leases = false;
};
constexpr std::array ways{
    Way{.name = "alone", .job = false},    Way{.name = "plain"},
    Way{.name = "nice 19", .nice = 19},    Way{.name = "cgroup weights", .cgroups = true},
    Way{.name = "own CPU", .apart = true}, Way{.name = "leases", .leases = true},
};

/// Two cgroups: one with a small weight for the job, and one with a large weight for the renderer.
class Cgroups {
 public:
  Cgroups() {
    try {
      make();
    } catch (const std::exception& error) {
      lacking_ = error.what();
      remove();
    }
  }
  Cgroups(const Cgroups&) = delete;
  Cgroups& operator=(const Cgroups&) = delete;
  ~Cgroups() { remove(); }

  /// Why cgroups cannot be used; empty if they can.
  [[nodiscard]] const std::string& lacking() const { return lacking_; }
  [[nodiscard]] std::string job() const { return base_ / names[0]; }
  [[nodiscard]] std::string renderer() const { return base_ / names[1]; }

 private:
  static constexpr std::array names{"job", "renderer"};

  void make() {
    const bool v2 = fs::exists("/sys/fs/cgroup/cgroup.controllers");
    const fs::path root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    if (!fs::is_directory(root)) throw std::runtime_error{root.string() + " is missing"};
    const fs::path base = root / ("cohort-bench-" + std::to_string(::getpid()));
    fs::create_directory(base);
    base_ = base;
    if (v2) write(base / "cgroup.subtree_control", "+cpu");
    for (const char* const name : names) {
      fs::create_directory(base / name);
      const bool for_job = name == names[0];
      write(base / name / (v2 ? "cpu.weight" : "cpu.shares"),
            for_job ? (v2 ? "1" : "2") : (v2 ? "10000" : "262144"));
    }
  }
  static void write(const fs::path& file, const std::string& text) {
    std::ofstream out{file};
    if (!(out << text << std::flush))
      throw std::runtime_error{file.string() + " cannot be written"};
  }
  void remove() {
    if (base_.empty()) return;
    std::error_code ignored;
    for (const char* const name : names) fs::remove(base_ / name, ignored);
    fs::remove(base_, ignored);
  }

  fs::path base_;
  std::string lacking_;
};

std::vector<std::string> arguments_of(const TenantsPart& part) {
  std::ostringstream rate;
  rate << part.rate;
  std::vector<std::string> words{"bench",
                                 "tenants-part",
                                 part.what,
                                 "--begin",
                                 std::to_string(part.begin),
                                 "--length",
                                 std::to_string(part.length),
                                 "--work",
                                 std::to_string(part.work),
                                 "--workers",
                                 std::to_string(part.workers),
                                 "--rate",
                                 rate.str(),
                                 "--seed",
                                 std::to_string(part.seed),
                                 "--nice",
                                 std::to_string(part.nice)};
  const auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--shared", part.engine);
  add("--cgroup", part.cgroup);
  if (part.apart) words.emplace_back("--apart");
  return words;
}

ordered_json result_of(Child& child, nanoseconds length) {
  const auto limit = std::chrono::duration_cast<milliseconds>(length) + std::chrono::seconds{60};
  const auto output = child.output_within(limit);
  if (!output) throw std::runtime_error{"a process of the scenario did not end in time"};
  return ordered_json::parse(*output);
}

/// The measurements of one way in one round.
struct Window {
  std::vector<double> latencies;
  std::vector<double> waits;
  std::optional<double> step;
  double interval = 0;
  double leaves = 0;
};

Window measure_window(const Way& way, const Cgroups& cgroups, double rate, nanoseconds length,
                      std::uint32_t workers, std::uint64_t seed) {
  constexpr milliseconds start_up{500};  // time that the processes have to start
  TenantsPart job{.what = "job",
                  .begin = cpu::now() + nanoseconds{start_up}.count(),
                  .length = static_cast<std::uint64_t>(length.count()),
                  .work = steps_for(step_work),
                  .workers = workers,
                  .nice = way.nice,
                  .apart = way.apart};
  TenantsPart renderer = job;
  if (way.apart) --job.workers;
  renderer.what = "renderer";
  renderer.work = steps_for(frame_work);
  renderer.rate = rate;
  renderer.seed = seed;
  renderer.nice = 0;
  if (way.leases) job.engine = renderer.engine = "bench" + std::to_string(::getpid());
  if (way.cgroups) {
    job.cgroup = cgroups.job();
    renderer.cgroup = cgroups.renderer();
  }
  Window window;
  std::optional<Child> running_job;
  if (way.job) running_job.emplace(arguments_of(job));
  if (way.renderer) {
    Child running{arguments_of(renderer)};
    const ordered_json result = result_of(running, length);
    window.latencies = result.at("latencies").get<std::vector<double>>();
    window.waits = result.at("waits").get<std::vector<double>>();
  }
  if (running_job) {
    const ordered_json result = result_of(*running_job, length);
    window.step = result.at("step_ns").get<double>();
    window.interval = result.at("interval_ns").get<double>();
    window.leaves = result.at("leaves").get<double>();
  }
  return window;
}

// ---- the scenario

/// The measurements of one way in all rounds.
struct Row {
  std::vector<double> latencies;
  std::vector<double> slowdowns;
};

/// The measurements of all ways at one frame rate.
struct AtRate {
  double rate = 0;
  std::map<std::string_view, Row> rows;
  std::vector<double> waits;      // times to acquire a lease
  std::vector<double> intervals;  // intervals between resizing points of the job next to the leases
};

/// Why a way cannot be measured here; empty if it can.
std::string why_not(const Way& way, const Cgroups& cgroups) {
  if (way.apart && allowed_cpus().size() < 2) return "there is one CPU only";
  return way.cgroups ? cgroups.lacking() : "";
}

AtRate measure_rate(double rate, const ScenarioOptions& options, const Cgroups& cgroups,
                    std::uint32_t workers) {
  const milliseconds length{options.quick ? 300 : 2000};
  AtRate result{.rate = rate, .rows = {}, .waits = {}, .intervals = {}};
  const Progress progress;
  for (std::uint32_t round = 0; round < options.repetitions; ++round) {
    const auto window = [&](const Way& way) {
      if (options.stop.stop_requested()) throw Stopped{};
      progress.show(fixed(rate, 0) + " frames/s, " + std::to_string(round + 1) + "/" +
                    std::to_string(options.repetitions) + ": " + std::string{way.name});
      return measure_window(way, cgroups, rate, length, workers, round + 1);
    };
    const double job_alone = *window({.name = "job alone", .renderer = false}).step;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const Way& way = ways.at((i + round) % ways.size());
      if (!why_not(way, cgroups).empty()) continue;
      const Window measured = window(way);
      Row& row = result.rows[way.name];
      row.latencies.insert(row.latencies.end(), measured.latencies.begin(),
                           measured.latencies.end());
      if (measured.step) row.slowdowns.push_back(*measured.step / job_alone);
      if (!way.leases) continue;
      result.waits.insert(result.waits.end(), measured.waits.begin(), measured.waits.end());
      if (measured.interval > 0) result.intervals.push_back(measured.interval);
    }
  }
  return result;
}

ordered_json summary_of(const std::vector<double>& values) {
  ordered_json summary{{"count", values.size()}};
  if (values.empty()) return summary;
  for (const auto& [name, percent] :
       {std::pair{"p50", 50}, std::pair{"p99", 99}, std::pair{"max", 100}})
    summary[name] = percentile(values, percent);
  return summary;
}

ordered_json reported_rate(const AtRate& measured, const Cgroups& cgroups) {
  const std::string title = fixed(measured.rate, 0) + " frames/s";
  std::cout << std::left << std::setw(18) << title << std::right << std::setw(12) << "p50 us"
            << std::setw(12) << "p99 us" << std::setw(12) << "max us" << std::setw(14)
            << "job slowdown" << '\n';
  auto entries = ordered_json::array();
  for (const Way& way : ways) {
    std::cout << "  " << std::left << std::setw(16) << way.name << std::right;
    ordered_json entry{{"name", way.name}};
    const auto found = measured.rows.find(way.name);
    if (found == measured.rows.end()) {
      entry["skipped"] = why_not(way, cgroups);
      std::cout << "  skipped: " << why_not(way, cgroups) << '\n';
    } else {
      const Row& row = found->second;
      entry["latency"] = summary_of(row.latencies);
      for (const char* const member : {"p50", "p99", "max"}) {
        std::cout << std::setw(12)
                  << (row.latencies.empty()
                          ? "-"
                          : fixed(entry["latency"][member].get<double>() / 1e3, 0));
      }
      if (!row.slowdowns.empty()) {
        entry["slowdown"] = median(row.slowdowns);
        entry["slowdowns"] = row.slowdowns;
        std::cout << std::setw(14) << fixed(median(row.slowdowns), 3);
      }
      entry["latencies"] = row.latencies;
      std::cout << '\n';
    }
    entries.push_back(std::move(entry));
  }
  ordered_json result{{"rate", measured.rate},
                      {"ways", std::move(entries)},
                      {"lease", summary_of(measured.waits)},
                      {"resizing_interval", summary_of(measured.intervals)}};
  if (!measured.waits.empty() && !measured.intervals.empty()) {
    const double interval = median(measured.intervals);
    const double limit = interval + static_cast<double>(nanoseconds{allowance}.count());
    const double wait = median(measured.waits);
    result["limit_ns"] = limit;
    result["within_limit"] = wait <= limit;
    std::cout << "  a lease takes " << fixed(wait / 1e3, 1) << " us (p50), "
              << fixed(percentile(measured.waits, 99) / 1e3, 1)
              << " us (p99); the job can be resized every " << fixed(interval / 1e3, 1)
              << " us, so the limit is " << fixed(limit / 1e3, 1) << " us\n";
  }
  std::cout << std::endl;
  return result;
}

ordered_json run_tenants(const ScenarioOptions& options) {
  const Cgroups cgroups;
  const std::uint32_t workers = options.capacity.value_or(std::max(2U, cpu::usable_cpus()));
  auto at_rates = ordered_json::array();
  bool within = true;
  for (const double rate : rates) {
    if (options.quick && rate != 100) continue;
    at_rates.push_back(reported_rate(measure_rate(rate, options, cgroups, workers), cgroups));
    within = within && at_rates.back().value("within_limit", false);
  }
  return {{"workers", workers},
          {"frame_work_ns", nanoseconds{frame_work}.count()},
          {"step_work_ns", nanoseconds{step_work}.count()},
          {"summary", {{"leases_within_limit", within}}},
          {"rates", std::move(at_rates)}};
}

}  // namespace

void tenants_part(const TenantsPart& part) {
  if (part.nice != 0 && ::setpriority(PRIO_PROCESS, 0, part.nice) != 0)
    throw std::runtime_error{"cannot change the priority"};
  if (!part.cgroup.empty()) {
    std::ofstream processes{fs::path{part.cgroup} / "cgroup.procs"};
    if (!(processes << ::getpid() << std::flush))
      throw std::runtime_error{part.cgroup + ": cannot be joined"};
  }
  std::optional<Confined> confined;
  if (part.apart && part.what == "job") {
    confined.emplace(static_cast<std::uint32_t>(allowed_cpus().size()) - 1);
  } else if (part.apart) {
    pin(allowed_cpus().back());
  }
  std::cout << (part.what == "job" ? job_part(part) : renderer_part(part)).dump() << std::endl;
}

const Scenario tenants_scenario{
    .name = "tenants",
    .summary =
        "a renderer in its own process next to a job: plain, nice, cgroup weights, own CPU, leases",
    .run = &run_tenants,
    .accepts = {.capacity = true},
    .quick_repetitions = 1};

}  // namespace cohort::bench
