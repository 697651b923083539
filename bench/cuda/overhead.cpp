// Cost of cooperation on a GPU while no task asks for SMs: compares the apps on our engine with the
// same kernels in plain CUDA.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <variant>

#include "apps/cuda/plain.cuh"
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/scenarios.hpp"
#include "bench/cuda/words.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A ratio of two times of one app.
struct Ratio {
  std::string name;
  double value;
};

Json summary_of(const std::vector<Ratio>& ratios) {
  if (ratios.empty()) return nullptr;
  const Ratio& worst = *std::ranges::max_element(ratios, {}, &Ratio::value);
  std::vector<double> values;
  for (const Ratio& each : ratios) values.push_back(each.value);
  return {{"geomean", geometric_mean(values)}, {"max", worst.value}, {"culprit", worst.name}};
}

/// Number of groups on an SM, and number of threads in each group.
struct Shape {
  std::uint32_t on_an_sm;
  std::uint32_t threads;
};
constexpr Shape even{1, apps::default_local_size<cuda::Engine>};
constexpr std::array shapes{Shape{1, 256}, Shape{2, 256}, Shape{4, 256},  Shape{6, 256},
                            Shape{8, 256}, Shape{1, 512}, Shape{1, 1024}, Shape{2, 1024}};

/// Device time of a run, in nanoseconds. On our engine it is the time from the first group's entry
/// to the last group's exit, as the engine's agent saw them. In plain CUDA it is measured by events
/// around the kernel.
struct Sighting {
  double since_launch;  // time of the first group's entry
  double time;
};

/// Empty if the job had ended when the agent first looked.
std::optional<Sighting> sighting(const Report& report) {
  const auto in = std::ranges::find_if(report.sizes, [](auto& each) { return each.groups > 0; });
  if (in == report.sizes.end()) return {};
  const auto first = static_cast<double>(in->nanoseconds);
  return Sighting{first, static_cast<double>(report.sizes.back().nanoseconds) - first};
}

/// Device times of several runs. Runs whose first group was seen late are left out, because their
/// times are too short.
class OnDevice {
 public:
  void add(const Report& report) {
    ++runs_;
    if (const auto seen = sighting(report)) seen_.push_back(*seen);
  }
  [[nodiscard]] std::vector<double> times() const {
    std::vector<double> result;
    if (seen_.empty()) return result;
    std::vector<double> firsts;
    for (const Sighting& each : seen_) firsts.push_back(each.since_launch);
    const double late = median(firsts) + 20e3;
    for (const Sighting& each : seen_) {
      if (each.since_launch <= late) result.push_back(each.time);
    }
    return result;
  }
  [[nodiscard]] std::size_t left_out() const { return runs_ - times().size(); }

 private:
  std::size_t runs_ = 0;
  std::vector<Sighting> seen_;
};

apps::RunOptions options_of(const Shape& shape, std::uint32_t sms) {
  apps::RunOptions options;
  options.launch.max_groups = shape.on_an_sm * sms;
  options.launch.local_size = shape.threads;
  return options;
}

/// An engine, or plain CUDA.
using EngineRef =
    std::variant<std::reference_wrapper<cuda::Engine>, std::reference_wrapper<apps::PlainEngine>>;

Report run_on(EngineRef engine, const Variant& variant, const apps::RunOptions& options,
              Checks* checks = nullptr) {
  return std::visit([&](auto its) { return variant.run(its.get(), options, checks); }, engine);
}

/// The engines that are compared, and the apps on them.
class Overheads {
 public:
  Overheads(const ScenarioOptions& options, device::Description device)
      : options_(options), device_(std::move(device)) {}

  Json measure(const Variant& variant) {
    const bool steps = variant.pair.style == Style::barriers;
    apps::RunOptions fixed = options_of(even, device_.sms);
    fixed.launch.resizable = false;
    const apps::RunOptions how = options_of(even, device_.sms);
    const Build grid = faster_build(variant, how);
    std::vector<Timed> all;
    all.push_back({"cohort", engine_, how, {}});
    all.push_back({"cohort static", engine_, fixed, {}});
    all.push_back({"cohort, SMs shared", sharing_, how, {}});
    all.push_back({"grid.sync", *grid.engine, how, {}});
    if (steps) {
      all.push_back({"launch per step", steps_, how, {}});
      all.push_back({"graph", graph_, how, {}});
    }
    Checks checks;
    std::vector<Contender> contenders;
    for (Timed& each : all) {
      checks.of(variant.name() + ", " + each.name);
      // Verifies the result, and warms up.
      static_cast<void>(run_on(each.engine, variant, each.how, &checks));
      contenders.push_back({.name = each.name,
                            .measure = [&] { return times(variant, each); },
                            .reference = each.name == "grid.sync"});
    }
    const Measurement measurement =
        bench::measure(variant.name(), "ns", contenders,
                       {.count = options_.repetitions, .warm_ups = 0, .stop = options_.stop});
    print(std::cout, measurement);
    const auto ratio = [&](const char* one, const char* other) {
      return median(ratios(measurement.at(one), measurement.at(other)));
    };
    Json entry = to_json(measurement);
    entry["app"] = variant.pair.app;
    entry["algorithm"] = variant.algorithm;
    entry["input"] = variant.pair.input;
    entry["call"] = {{"overhead", ratio("cohort", "grid.sync")},
                     {"overhead_of_minima", statistics(measurement.at("cohort")).min /
                                                statistics(measurement.at("grid.sync")).min}};
    auto& device = entry["device"] = Json::object();
    std::cout << "  on the device, us:";
    std::vector<std::vector<double>> times;
    for (const Timed& each : all) {
      times.push_back(each.on_device.times());
      if (times.back().empty())
        throw std::runtime_error{"overhead: the host is too busy to see " + variant.name() +
                                 " run"};
      device[each.name] = numbers(times.back());
      if (each.on_device.left_out() > 0) device["left_out"][each.name] = each.on_device.left_out();
      std::cout << ' ' << each.name << ' ' << in_us(median(times.back())) << ';';
    }
    const auto device_ratio = [&](std::size_t one) {
      return median(times[one]) / median(times[3]);
    };
    device["overhead"] = device_ratio(0);
    device["overhead_static"] = device_ratio(1);
    device["overhead_sms_shared"] = device_ratio(2);
    device["overhead_of_minima"] = percentile(times[0], 0) / percentile(times[3], 0);
    std::cout << " cohort " << device_ratio(0) << "x\n";
    if (steps) {
      entry["steps"] = steps_.facts().steps;
      entry["launch_per_step_over_cohort"] = ratio("launch per step", "cohort");
      entry["graph_over_cohort"] = ratio("graph", "cohort");
    }
    entry["grid_sync_builds"] = grid.times;
    entry["best_occupancy"] = best(variant, steps);
    if (variant.pair.app == "bfs") note_levels(entry, variant, measurement);
    entry["verified"] = checks.run();
    std::cout << std::endl;
    return entry;
  }

 private:
  /// An engine, and device times of runs on it.
  struct Timed {
    std::string name;
    EngineRef engine;
    apps::RunOptions how;
    OnDevice on_device;
  };

  std::vector<double> times(const Variant& variant, Timed& on) const {
    const std::chrono::milliseconds enough{options_.quick ? 1 : 20};
    std::vector<double> result;
    for (std::chrono::nanoseconds sum{0}; result.empty() || (sum < enough && result.size() < 3);) {
      const Report report = run_on(on.engine, variant, on.how);
      result.push_back(static_cast<double>(report.run_time.count()));
      on.on_device.add(report);
      sum += report.run_time;
    }
    return result;
  }

  /// One variant of the compiled persistent kernel.
  struct Build {
    apps::PlainEngine* engine;
    Json times;  // times of all its runs, in nanoseconds
  };

  /// Returns the faster of the two builds, which differs from app to app.
  Build faster_build(const Variant& variant, const apps::RunOptions& how) {
    OnDevice unbounded;
    OnDevice bounded;
    for (int i = 0; i < 4; ++i) {  // in turns; the first turn is dropped, because it is slow
      unbounded.add(variant.run(grid_, how));
      bounded.add(variant.run(bounded_grid_, how));
    }
    const double one = median(unbounded.times());
    const double other = median(bounded.times());
    return {other < one ? &bounded_grid_ : &grid_,
            {{"any block size", one}, {"launch bounds as ours", other}}};
  }

  /// The least time of a kernel over all shapes with at most `most_threads` threads on an SM.
  [[nodiscard]] Json best_on(EngineRef engine, const Variant& variant,
                             std::uint32_t most_threads) const {
    Json result{{"ns", std::numeric_limits<double>::max()}};
    auto tried = Json::object();
    for (const Shape& shape : shapes) {
      if (shape.on_an_sm * shape.threads > most_threads) continue;
      OnDevice all;
      try {
        const apps::RunOptions how = options_of(shape, device_.sms);
        for (int i = 0; i < 3; ++i) all.add(run_on(engine, variant, how));
      } catch (const Error& error) {
        if (error.code() != Errc::bad_options) throw;
        continue;  // this shape does not fit
      }
      if (all.times().empty()) continue;
      const double time = median(all.times());
      const std::uint32_t groups = shape.on_an_sm * device_.sms;
      tried[std::to_string(groups) + " x " + std::to_string(shape.threads)] = time;
      if (time < result["ns"].get<double>())
        result = {{"ns", time}, {"groups", groups}, {"local_size", shape.threads}};
    }
    if (tried.empty())
      throw std::runtime_error{"overhead: no shape of " + variant.name() + " could be timed"};
    result["tried"] = std::move(tried);
    return result;
  }

  /// Compares each contender at its best shape, and the persistent kernel in its faster build.
  Json best(const Variant& variant, bool steps) {
    const auto plain_on = [&](apps::PlainEngine& engine) {
      Json result = best_on(engine, variant, device_.threads);
      result["registers"] = engine.facts().registers;
      return result;
    };
    const auto time = [](const Json& its) { return its["ns"].get<double>(); };
    Json plain = plain_on(grid_);
    if (Json bounded = plain_on(bounded_grid_); time(bounded) < time(plain))
      plain = std::move(bounded);
    // A job could have more groups than fit, and the rest would start later. That is not compared
    // here.
    const auto registers = static_cast<std::uint32_t>(grid_.facts().cohort_registers);
    Json cohort = best_on(engine_, variant, device_.registers / registers);
    cohort["registers"] = registers;
    const double ratio = time(cohort) / time(plain);
    const auto words = [&time](const Json& its) {
      return its["groups"].dump() + " x " + its["local_size"].dump() + ", " + in_us(time(its)) +
             " us, " + its["registers"].dump() + " registers";
    };
    std::cout << "  each at its best: cohort " << words(cohort) << "; grid.sync " << words(plain)
              << "; " << ratio << "x\n";
    Json result{
        {"cohort", std::move(cohort)}, {"grid.sync", std::move(plain)}, {"overhead", ratio}};
    if (steps) {
      result["launch per step"] = plain_on(steps_);
      result["graph"] = plain_on(graph_);
    }
    return result;
  }

  /// Adds the time per level.
  void note_levels(Json& entry, const Variant& variant, const Measurement& measurement) {
    const apps::Numbers numbers =
        apps::run_app(variant.app, engine_, options_of(even, device_.sms)).numbers();
    const std::int64_t levels = numbers.front().second;  // the number of levels
    entry["levels"] = levels;
    auto& each = entry["ns_per_level"] = Json::object();
    std::cout << "  " << levels << " levels, us for each:";
    for (const char* name : {"cohort", "grid.sync", "launch per step", "graph"}) {
      each[name] = statistics(measurement.at(name)).p50 / static_cast<double>(levels);
      std::cout << ' ' << name << ' ' << in_us(each[name].get<double>(), 2) << ';';
    }
    std::cout << '\n';
  }

  const ScenarioOptions& options_;
  device::Description device_;
  cuda::Engine engine_;
  cuda::Engine sharing_{{.exclusive = false}};
  apps::PlainEngine grid_{engine_, apps::PlainWay::grid_sync};
  apps::PlainEngine bounded_grid_{engine_, apps::PlainWay::grid_sync_bounded};
  apps::PlainEngine steps_{engine_, apps::PlainWay::launch_per_step};
  apps::PlainEngine graph_{engine_, apps::PlainWay::graph};
};

Json run_cuda_overhead(const ScenarioOptions& options) {
  Json record{{"device", described()}};
  const auto sms = record["device"]["sms"].get<std::uint32_t>();
  Overheads overheads{options, device::describe()};
  record["groups"] = sms;
  record["local_size"] = even.threads;
  auto measurements = Json::array();
  // Times of calls from launch to wait, by the host's clock, and the part that the device took.
  std::map<std::string, std::vector<Ratio>> by_name;
  for (const Variant& variant : cuda_variants(options.quick, options.only)) {
    Json entry = overheads.measure(variant);
    const auto note = [&](const char* name, const Json& value) {
      by_name[name].push_back({variant.name(), value.get<double>()});
    };
    note("device", entry["device"]["overhead"]);
    note("device_of_minima", entry["device"]["overhead_of_minima"]);
    note("device_static", entry["device"]["overhead_static"]);
    note("device_sms_shared", entry["device"]["overhead_sms_shared"]);
    note("device_best_occupancy", entry["best_occupancy"]["overhead"]);
    note(variant.pair.style == Style::barriers ? "device_barrier" : "device_work_stealing",
         entry["device"]["overhead"]);
    note("call", entry["call"]["overhead"]);
    note("call_of_minima", entry["call"]["overhead_of_minima"]);
    measurements.push_back(std::move(entry));
  }
  for (const auto& [name, ratios] : by_name) record["summary"][name] = summary_of(ratios);
  std::cout << "overhead over grid.sync: " << record["summary"].dump(1) << std::endl;
  record["measurements"] = std::move(measurements);
  return record;
}

}  // namespace

const Scenario cuda_overhead_scenario{
    .name = "overhead",
    .summary =
        "apps that could be resized but are not, next to plain CUDA: grid.sync, a launch "
        "per step, a graph",
    .run = &run_cuda_overhead,
    .accepts = {.only = true}};

}  // namespace cohort::bench
