// Scenario "overhead": the cost of being resizable, for apps that are not resized (table 2 of the
// paper). Each kernel runs with the same number of groups in two forms: resizable, and static,
// which has cooperation compiled out.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/device_record.hpp"
#include "bench/harness.hpp"
#include "bench/scenario.hpp"
#include "bench/variants.hpp"
#include "tool/app_engine.hpp"

namespace cohort::bench {
namespace {

constexpr std::uint32_t cpu_groups = 2;

/// Times of repeated runs, at least one, until they add up to `enough`.
std::vector<double> run_times(tool::AppEngine& engine, const Variant& variant, bool resizable,
                              std::chrono::nanoseconds enough) {
  apps::RunOptions options;
  options.launch.max_groups = engine.capacity();
  options.launch.resizable = resizable;
  options.results = false;
  std::vector<double> times;
  for (std::chrono::nanoseconds sum{0}; times.empty() || (sum < enough && times.size() < 16);) {
    const Report report = variant.finished(engine.run(variant.app, options));
    times.push_back(static_cast<double>(report.run_time.count()));
    sum += report.run_time;
  }
  return times;
}

/// Both variants of each pair for apps in C++. Apps in the dialect only have the paper's algorithm.
std::vector<Variant> variants_on(tool::AppEngine& engine, const std::vector<Pair>& pairs) {
  if (!engine.dialect()) return variants_of(pairs);
  std::vector<Variant> result;
  for (const Pair& pair : pairs)
    result.push_back({pair, "paper", engine.prepare(pair.app, pair.input, pair.settings)});
  return result;
}

struct Overhead {
  const Variant* variant;
  double ratio;
  double of_minima;  // ratio of the minimum times, which are free of disturbances
};

double geomean(const std::vector<Overhead>& overheads, double Overhead::*what = &Overhead::ratio) {
  std::vector<double> values(overheads.size());
  std::ranges::transform(overheads, values.begin(), what);
  return geometric_mean(values);
}

const Overhead& worst(const std::vector<Overhead>& overheads) {
  return *std::max_element(overheads.begin(), overheads.end(),
                           [](const Overhead& a, const Overhead& b) { return a.ratio < b.ratio; });
}

nlohmann::ordered_json run_overhead(const ScenarioOptions& options) {
  const Repetitions plan{.count = options.repetitions, .warm_ups = 1, .stop = options.stop};
  const std::chrono::milliseconds enough{options.quick ? 30 : 100};
  EngineSpec spec{.engine = options.engine,
                  .capacity = options.capacity,
                  .scheduler = options.scheduler,
                  .pinned = true};
  if (options.engine == "cpu" && !spec.capacity) spec.capacity = cpu_groups;
  tool::AppEngine engine{spec};
  const std::vector<Variant> variants =
      variants_on(engine, pairs_on(engine.engine(), options.quick, options.only).runnable);
  auto measurements = nlohmann::ordered_json::array();
  std::vector<Overhead> all;
  std::vector<Overhead> papers;  // overheads with the paper's algorithms
  std::vector<Overhead> barrier;
  std::vector<Overhead> stealing;
  for (const Variant& variant : variants) {
    const Measurement measurement =
        measure(variant.name(), "ns",
                {
                    {.name = "resizable",
                     .measure = [&] { return run_times(engine, variant, true, enough); }},
                    {.name = "static",
                     .measure = [&] { return run_times(engine, variant, false, enough); },
                     .reference = true},
                },
                plan);
    auto entry = reported(measurement);
    const double ratio = median(ratios(measurement.at("resizable"), measurement.at("static")));
    const double of_minima =
        statistics(measurement.at("resizable")).min / statistics(measurement.at("static")).min;
    entry["app"] = variant.pair.app;
    entry["algorithm"] = variant.algorithm;
    entry["input"] = variant.pair.input;
    entry["overhead"] = ratio;
    entry["overhead_of_minima"] = of_minima;
    measurements.push_back(std::move(entry));
    all.push_back({&variant, ratio, of_minima});
    if (variant.algorithm == "paper") papers.push_back(all.back());
    (variant.pair.style == Style::barriers ? barrier : stealing).push_back(all.back());
  }

  nlohmann::ordered_json summary{{"geomean", geomean(all)},
                                 {"max", worst(all).ratio},
                                 {"geomean_of_minima", geomean(all, &Overhead::of_minima)}};
  nlohmann::ordered_json culprits{{"max", worst(all).variant->name()}};
  std::cout << std::fixed << std::setprecision(3) << "overhead, geometric mean " << geomean(all)
            << ", most " << worst(all).ratio << " (" << worst(all).variant->name()
            << "); of the least times " << geomean(all, &Overhead::of_minima);
  const auto add = [&](const std::string& name, const char* words,
                       const std::vector<Overhead>& those) {
    if (those.empty()) return;  // no pair is left after --only
    summary[name] = geomean(those);
    summary[name + "_max"] = worst(those).ratio;
    culprits[name] = worst(those).variant->name();
    std::cout << "; " << words << ' ' << geomean(those);
  };
  add("barrier", "with barriers", barrier);
  add("work_stealing", "work stealing", stealing);
  add("paper_algorithms", "paper's algorithms", papers);
  std::cout << '\n';
  summary["culprits"] = std::move(culprits);
  return {{"device", device_record(engine.engine())},
          {"groups", engine.capacity()},
          {"summary", std::move(summary)},
          {"measurements", std::move(measurements)}};
}

}  // namespace

const Scenario overhead_scenario{
    .name = "overhead",
    .summary =
        "section 5.3: apps that could be resized but are not, next to cooperation compiled out",
    .run = &run_overhead,
    .accepts = {.capacity = true, .only = true},
    .quick_repetitions = 41};

}  // namespace cohort::bench
