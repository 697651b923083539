// What cooperation costs on a GPU while nobody wants anything: the apps on our engine, beside the
// same kernels in plain CUDA.
#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/cuda/runs.hpp"
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/scenarios.hpp"
#include "bench/cuda/words.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A ratio of one app to itself.
struct Ratio {
  std::string name;
  double value;
};

double geomean(const std::vector<Ratio>& ratios) {
  double sum = 0;
  for (const Ratio& each : ratios) sum += std::log(each.value);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

Json summary_of(const std::vector<Ratio>& ratios) {
  if (ratios.empty()) return nullptr;
  const Ratio& worst = *std::ranges::max_element(ratios, {}, &Ratio::value);
  return {{"geomean", geomean(ratios)}, {"max", worst.value}, {"culprit", worst.name}};
}

/// How many groups of how many threads.
struct Shape {
  std::uint32_t on_an_sm;
  std::uint32_t threads;
};
constexpr Shape even{1, cuda_local_size};
constexpr std::array shapes{Shape{1, 256}, Shape{2, 256}, Shape{4, 256},
                            Shape{1, 512}, Shape{2, 512}, Shape{1, 1024}};

apps::RunOptions options_of(const Shape& shape, std::uint32_t sms) {
  apps::RunOptions options;
  options.launch.max_groups = shape.on_an_sm * sms;
  options.launch.local_size = shape.threads;
  return options;
}

/// The engines that are compared, and the apps on them.
class Overheads {
 public:
  Overheads(const ScenarioOptions& options, std::uint32_t sms) : options_(options), sms_(sms) {}

  Json measure(const Variant& variant) {
    const bool steps = variant.pair.style == Style::barriers;
    apps::RunOptions fixed = options_of(even, sms_);
    fixed.launch.resizable = false;
    const apps::RunOptions how = options_of(even, sms_);
    std::vector<Contender> contenders{contender("cohort", variant, engine_, how),
                                      contender("cohort static", variant, engine_, fixed),
                                      contender("cohort, SMs shared", variant, sharing_, how),
                                      contender("grid.sync", variant, grid_, how, true)};
    if (steps) {
      contenders.push_back(contender("launch per step", variant, steps_, how));
      contenders.push_back(contender("graph", variant, graph_, how));
    }
    const Measurement measurement =
        bench::measure(variant.name(), "ns", contenders,
                       {.repetitions = options_.repetitions, .warm_ups = 0, .stop = options_.stop});
    print(std::cout, measurement);
    const auto ratio = [&](const char* one, const char* other) {
      return median(ratios(measurement.at(one), measurement.at(other)));
    };
    Json entry = to_json(measurement);
    entry["app"] = variant.pair.app;
    entry["algorithm"] = variant.algorithm;
    entry["input"] = variant.pair.input;
    entry["verified"] = true;  // a wrong one throws
    entry["overhead"] = ratio("cohort", "grid.sync");
    entry["overhead_of_minima"] =
        statistics(measurement.at("cohort")).min / statistics(measurement.at("grid.sync")).min;
    entry["overhead_sms_shared"] = ratio("cohort, SMs shared", "grid.sync");
    if (steps) {
      entry["steps"] = steps_.facts().steps;
      entry["launch_per_step_over_cohort"] = ratio("launch per step", "cohort");
      entry["graph_over_cohort"] = ratio("graph", "cohort");
    }
    entry["best_occupancy"] = best(variant);
    if (variant.pair.app == "bfs") note_levels(entry, variant, measurement);
    std::cout << std::endl;
    return entry;
  }

 private:
  Contender contender(std::string name, const Variant& variant, AnyEngine engine,
                      const apps::RunOptions& how, bool reference = false) const {
    static_cast<void>(variant.run(engine, how, true));  // to warm up, and to be sure of it
    return {.name = std::move(name),
            .measure = [this, &variant, engine, how] { return times(variant, engine, how); },
            .reference = reference};
  }

  std::vector<double> times(const Variant& variant, AnyEngine engine,
                            const apps::RunOptions& how) const {
    const std::chrono::milliseconds enough{options_.quick ? 1 : 20};
    std::vector<double> result;
    for (std::chrono::nanoseconds sum{0}; result.empty() || (sum < enough && result.size() < 5);) {
      const Report report = variant.run(engine, how);
      result.push_back(static_cast<double>(report.run_time.count()));
      sum += report.run_time;
    }
    return result;
  }

  /// Each at the shape that it likes best.
  Json best(const Variant& variant) {
    const auto best_on = [&](AnyEngine engine) {
      Json result{{"ns", std::numeric_limits<double>::max()}};
      for (const Shape& shape : shapes) {
        std::vector<double> all;
        try {
          const apps::RunOptions how = options_of(shape, sms_);
          for (int i = 0; i < 3; ++i)
            all.push_back(static_cast<double>(variant.run(engine, how).run_time.count()));
        } catch (const Error& error) {
          if (error.code() != Errc::bad_options) throw;
          continue;  // does not fit
        }
        const double time = median(all);
        if (time >= result["ns"].get<double>()) continue;
        result = {{"ns", time}, {"groups", shape.on_an_sm * sms_}, {"local_size", shape.threads}};
      }
      return result;
    };
    Json cohort = best_on(engine_);
    Json plain = best_on(grid_);
    cohort["registers"] = grid_.facts().cohort_registers;
    plain["registers"] = grid_.facts().registers;
    const double ratio = cohort["ns"].get<double>() / plain["ns"].get<double>();
    const auto words = [](const Json& its) {
      return its["groups"].dump() + " x " + its["local_size"].dump() + ", " +
             in_us(its["ns"].get<double>()) + " us, " + its["registers"].dump() + " registers";
    };
    std::cout << "  each at its best: cohort " << words(cohort) << "; grid.sync " << words(plain)
              << "; " << ratio << "x\n";
    return {{"cohort", std::move(cohort)}, {"grid.sync", std::move(plain)}, {"overhead", ratio}};
  }

  /// What a level takes.
  void note_levels(Json& entry, const Variant& variant, const Measurement& measurement) {
    apps::BfsOptions how;
    how.incoming = variant.graph.get();
    const auto result =
        apps::run_bfs(engine_, *variant.graph, variant.source, options_of(even, sms_), how);
    std::uint32_t levels = 0;
    for (const std::uint32_t level : result.levels) {
      if (level != apps::Levels::unreached) levels = std::max(levels, level);
    }
    entry["levels"] = levels;
    auto& each = entry["ns_per_level"] = Json::object();
    std::cout << "  " << levels << " levels, us for each:";
    for (const char* name : {"cohort", "grid.sync", "launch per step", "graph"}) {
      each[name] = statistics(measurement.at(name)).p50 / levels;
      std::cout << ' ' << name << ' ' << in_us(each[name].get<double>(), 2) << ';';
    }
    std::cout << '\n';
  }

  const ScenarioOptions& options_;
  std::uint32_t sms_;
  cuda::Engine engine_;
  cuda::Engine sharing_{{.exclusive = false}};
  apps::PlainEngine grid_{engine_, apps::PlainWay::grid_sync};
  apps::PlainEngine steps_{engine_, apps::PlainWay::launch_per_step};
  apps::PlainEngine graph_{engine_, apps::PlainWay::graph};
};

}  // namespace

Json cuda_overhead_scenario(const ScenarioOptions& options) {
  Json record{{"device", described()}};
  const auto sms = record["device"]["sms"].get<std::uint32_t>();
  Overheads overheads{options, sms};
  record["groups"] = sms;
  record["local_size"] = cuda_local_size;
  auto measurements = Json::array();
  std::vector<Ratio> all;
  std::vector<Ratio> of_minima;
  std::vector<Ratio> shared;
  std::vector<Ratio> best;
  std::vector<Ratio> barrier;
  std::vector<Ratio> stealing;
  for (const Variant& variant : cuda_variants(options.quick, options.only)) {
    Json entry = overheads.measure(variant);
    const auto ratio = [&](const Json& value) {
      return Ratio{variant.name(), value.get<double>()};
    };
    all.push_back(ratio(entry["overhead"]));
    of_minima.push_back(ratio(entry["overhead_of_minima"]));
    shared.push_back(ratio(entry["overhead_sms_shared"]));
    best.push_back(ratio(entry["best_occupancy"]["overhead"]));
    (variant.pair.style == Style::barriers ? barrier : stealing).push_back(all.back());
    measurements.push_back(std::move(entry));
  }
  record["summary"] = summary_of(all);
  for (const auto& [name, ratios] : {std::pair{"of_minima", &of_minima},
                                     {"sms_shared", &shared},
                                     {"best_occupancy", &best},
                                     {"barrier", &barrier},
                                     {"work_stealing", &stealing}})
    record["summary"][name] = summary_of(*ratios);
  std::cout << "overhead over grid.sync: " << record["summary"].dump(1) << std::endl;
  record["measurements"] = std::move(measurements);
  return record;
}

}  // namespace cohort::bench
