// Scenario "cpu": compares each graph app with a plain OpenMP version of its algorithm, on two
// threads.
#include "cohort/cpu.hpp"

#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/affinity.hpp"
#include "bench/harness.hpp"
#include "bench/openmp_apps.hpp"
#include "bench/scenario.hpp"
#include "graph/spec.hpp"

namespace cohort::bench {
namespace {

constexpr std::uint32_t threads = 2;

std::vector<double> cohort_time(cpu::Engine& engine, const Variant& variant) {
  apps::RunOptions options;
  options.launch.max_groups = threads;
  return {static_cast<double>(variant.run(engine, options).run_time.count())};
}

/// One OpenMP run. OpenMP's threads spin for a while after their last region, so this waits until
/// they no longer disturb the next contender.
std::vector<double> openmp_time(OpenMpApp& app) {
  const double time = app.run(threads);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  return {time};
}

/// Whether the OpenMP version of our own algorithm is a baseline too. It is a direction-optimising
/// bfs, or delta-stepping with bucket fusion.
bool has_openmp_of_ours(const Pair& pair) { return pair.app == "bfs" || pair.app == "l-sssp"; }

/// Runs our algorithms on inputs for which the times of other programs are published, in turns with
/// the OpenMP versions.
nlohmann::ordered_json well_known(cpu::Engine& engine, const Repetitions& plan) {
  std::vector<Pair> pairs;
  for (const auto& [app, input] :
       {std::pair{"bfs", "USA-road-d.NY.gr"}, std::pair{"bfs", "road-NW.topology.gr"},
        std::pair{"bfs", "G3_circuit.graph"}, std::pair{"bfs", "grid:1000x1000"},
        std::pair{"bfs", "rmat:20"}, std::pair{"l-sssp", "USA-road-d.NY.gr"},
        std::pair{"l-sssp", "road-NW.topology.gr"}, std::pair{"l-sssp", "G3_circuit.graph"},
        std::pair{"l-sssp", "grid:1000x1000"}, std::pair{"l-sssp", "rmat:20"}}) {
    const bool here = std::string_view{input}.find(':') != std::string_view::npos ||
                      find_input(input).has_value();
    if (here)
      pairs.push_back({.app = app, .input = input, .title = input, .settings = {}, .note = {}});
  }
  auto measurements = nlohmann::ordered_json::array();
  for (const Variant& variant : variants_of(pairs)) {
    if (variant.algorithm == "paper") continue;
    OpenMpApp app{variant};
    measurements.push_back(reported(measure(
        variant.name(), "ns",
        {{.name = "cohort", .measure = [&] { return cohort_time(engine, variant); }},
         {.name = "openmp", .measure = [&] { return openmp_time(app); }, .reference = true}},
        plan)));
  }
  return measurements;
}

nlohmann::ordered_json run_cpu(const ScenarioOptions& options) {
  const Repetitions plan{.count = options.repetitions,
                         .warm_ups = 1,
                         .stop = options.stop,
                         .enough = std::chrono::seconds{40}};
  const Confined two_cpus{threads};
  cpu::Engine engine{{.capacity = threads, .pin_workers = true}};
  // Pairs of one app and input: the paper's algorithm, then ours.
  std::map<std::string, std::vector<Variant>> by_name;
  std::vector<std::string> names;
  for (const Variant& variant : variants_of(paper_pairs(options.quick, options.only).runnable)) {
    if (!has_openmp(variant)) continue;
    const std::string name = variant.pair.app + " on " + variant.pair.input;
    if (by_name[name].empty()) names.push_back(name);
    by_name[name].push_back(variant);
  }
  auto measurements = nlohmann::ordered_json::array();
  auto speed = nlohmann::ordered_json::object();
  double least = std::numeric_limits<double>::max();
  std::string slowest;
  for (const std::string& name : names) {
    std::vector<Contender> contenders;
    for (const Variant& variant : by_name[name]) {
      contenders.push_back({.name = "cohort " + variant.algorithm, .measure = [&engine, &variant] {
                              return cohort_time(engine, variant);
                            }});
      const bool ours = has_openmp_of_ours(variant.pair);
      if (variant.algorithm == "paper" || ours) {
        contenders.push_back(
            {.name = "openmp " + variant.algorithm,
             .measure = [app = std::make_shared<OpenMpApp>(variant)] { return openmp_time(*app); },
             .reference = variant.algorithm != "paper" || !ours});
      }
    }
    const Measurement measurement = measure(name, "ns", contenders, plan);
    auto entry = reported(measurement);
    const auto times_openmp = [&](const std::string& ours, const std::string& theirs) {
      return median(ratios(measurement.at(theirs), measurement.at(ours)));
    };
    for (const Variant& variant : by_name[name]) {
      const std::string theirs =
          "openmp " + (has_openmp_of_ours(variant.pair) ? variant.algorithm : std::string{"paper"});
      const double times = times_openmp("cohort " + variant.algorithm, theirs);
      entry["times_openmp"][variant.algorithm] = times;
      if (times < least) slowest = variant.name();
      least = std::min(times, least);
    }
    speed[name] = entry["times_openmp"];
    measurements.push_back(std::move(entry));
  }
  std::cout << std::fixed << std::setprecision(2) << "times the speed of OpenMP:\n";
  for (const auto& [name, each] : speed.items()) {
    std::cout << "  " << name << ":";
    for (const auto& [algorithm, times] : each.items())
      std::cout << " " << algorithm << " " << times.get<double>();
    std::cout << "\n";
  }
  std::cout << "least: " << least << ", " << slowest << std::endl;
  const bool asked_for_some = options.quick || !options.only.empty();
  return {
      {"threads", threads},
      {"summary",
       {{"least_times_openmp", least}, {"slowest", slowest}, {"times_openmp", std::move(speed)}}},
      {"measurements", std::move(measurements)},
      {"well_known", asked_for_some ? nlohmann::ordered_json::array() : well_known(engine, plan)}};
}

}  // namespace

const Scenario cpu_scenario{
    .name = "cpu",
    .summary = "graph apps next to plain OpenMP versions of the same algorithms",
    .run = &run_cpu,
    .accepts = {.only = true},
    .quick_repetitions = 25};

}  // namespace cohort::bench
