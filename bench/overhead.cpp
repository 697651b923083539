#include "bench/overhead.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/harness.hpp"
#include "bench/pairs.hpp"
#include "cohort/cpu.hpp"

namespace cohort::bench {
namespace {

constexpr std::uint32_t groups = 2;

/// Run times of one launch after another, for a while but at least once.
std::vector<double> run_times(cpu::Engine& engine, const Pair& pair, bool resizable,
                              std::chrono::nanoseconds enough) {
  apps::RunOptions options;
  options.launch.max_groups = groups;
  options.launch.resizable = resizable;
  std::vector<double> times;
  for (std::chrono::nanoseconds sum{0}; times.empty() || (sum < enough && times.size() < 16);) {
    const Report report = pair.run(engine, options);
    times.push_back(static_cast<double>(report.run_time.count()));
    sum += report.run_time;
  }
  return times;
}

struct Overhead {
  const Pair* pair;
  double ratio;
};

double geomean(const std::vector<Overhead>& overheads) {
  double sum = 0;
  for (const Overhead& each : overheads) sum += std::log(each.ratio);
  return std::exp(sum / static_cast<double>(overheads.size()));
}

std::string name_of(const Pair& pair) {
  return pair.app + " (" + pair.algorithm + ") on " + pair.input;
}

const Overhead& worst(const std::vector<Overhead>& overheads) {
  return *std::max_element(overheads.begin(), overheads.end(),
                           [](const Overhead& a, const Overhead& b) { return a.ratio < b.ratio; });
}

}  // namespace

nlohmann::ordered_json overhead_scenario(const ScenarioOptions& options) {
  const Plan plan{.repetitions = options.repetitions, .warm_ups = 1, .stop = options.stop};
  const std::chrono::milliseconds enough{options.quick ? 20 : 100};
  cpu::Engine engine{{.capacity = groups, .pin_workers = true}};
  const std::vector<Pair> pairs = paper_pairs(options.quick);
  auto measurements = nlohmann::ordered_json::array();
  std::vector<Overhead> all;
  std::vector<Overhead> papers;  // with the paper's algorithms
  std::vector<Overhead> barrier;
  std::vector<Overhead> stealing;
  for (const Pair& pair : pairs) {
    const Measurement measurement = measure(
        name_of(pair), "ns",
        {
            {.name = "resizable", .measure = [&] { return run_times(engine, pair, true, enough); }},
            {.name = "static",
             .measure = [&] { return run_times(engine, pair, false, enough); },
             .reference = true},
        },
        plan);
    print(std::cout, measurement);
    std::cout << std::endl;
    const double ratio = median(ratios(measurement.at("resizable"), measurement.at("static")));
    auto entry = to_json(measurement);
    entry["app"] = pair.app;
    entry["algorithm"] = pair.algorithm;
    entry["input"] = pair.input;
    entry["overhead"] = ratio;
    measurements.push_back(std::move(entry));
    all.push_back({&pair, ratio});
    if (pair.algorithm == "paper") papers.push_back(all.back());
    (pair.style == Style::barriers ? barrier : stealing).push_back(all.back());
  }

  nlohmann::ordered_json summary{{"geomean", geomean(all)},
                                 {"max", worst(all).ratio},
                                 {"barrier", geomean(barrier)},
                                 {"barrier_max", worst(barrier).ratio},
                                 {"work_stealing", geomean(stealing)},
                                 {"work_stealing_max", worst(stealing).ratio},
                                 {"paper_algorithms", geomean(papers)},
                                 {"paper_algorithms_max", worst(papers).ratio}};
  summary["culprits"] = {{"max", name_of(*worst(all).pair)},
                         {"barrier", name_of(*worst(barrier).pair)},
                         {"work_stealing", name_of(*worst(stealing).pair)},
                         {"paper_algorithms", name_of(*worst(papers).pair)}};
  std::cout << std::fixed << std::setprecision(3) << "overhead, geometric mean " << geomean(all)
            << ", most " << worst(all).ratio << " (" << name_of(*worst(all).pair)
            << "); with barriers " << geomean(barrier) << ", work stealing " << geomean(stealing)
            << "\n";
  return {{"groups", groups},
          {"summary", std::move(summary)},
          {"measurements", std::move(measurements)}};
}

}  // namespace cohort::bench
