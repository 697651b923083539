#include "bench/opencl/scenarios.hpp"

#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/harness.hpp"
#include "bench/opencl/product.hpp"

namespace cohort::bench {
namespace {

struct Input {
  std::string_view app;
  std::string_view spec;
  std::string_view quick;
};
constexpr std::array inputs{
    Input{"bfs", "grid:1500x1500", "grid:200x200"},
    Input{"color", "grid:1000x1000", "grid:100x100"},
    Input{"mis", "grid:1000x1000", "grid:100x100"},
    Input{"p-sssp", "grid:150x150", "grid:40x40"},
    Input{"l-sssp", "grid:400x400", "grid:60x60"},
    Input{"octree", "particles:1000000", "particles:20000"},
    Input{"game", "connect4:7", "connect4:5"},
};

/// One app on its input; every run is verified.
class Workload {
 public:
  Workload(opencl::Engine& engine, const Input& input, bool quick)
      : engine_(engine), input_(quick ? input.quick : input.spec) {
    for (const auto& each : apps::dialect_apps<opencl::Engine>()) {
      if (each.name == input.app) app_ = &each;
    }
    kernel_.emplace(apps::dialect_kernel(app_->file, "opencl"));
    engine.load(*kernel_);
  }
  [[nodiscard]] std::string name() const { return std::string{app_->name} + " on " + input_; }
  Report run(const apps::RunOptions& options) const {
    apps::Request request{.input = input_, .settings = {}, .options = options, .verify = true};
    const apps::Outcome outcome = app_->run(engine_, *kernel_, request);
    if (!outcome.verified.value_or(false))
      throw Error{Errc::broken_contract, name() + " came out wrong: " + outcome.difference};
    return outcome.report;
  }

 private:
  opencl::Engine& engine_;
  std::string input_;
  const apps::DialectApp<opencl::Engine>* app_ = nullptr;
  std::optional<ProgramKernel> kernel_;
};

nlohmann::ordered_json describe(const opencl::Engine& engine) {
  return {{"device", engine.device().name},
          {"platform", engine.device().platform},
          {"version", engine.device().version},
          {"groups", engine.capacity()}};
}

double nanoseconds(const Report& report) { return static_cast<double>(report.run_time.count()); }

bool chosen(const Input& input, const ScenarioOptions& options) {
  return options.only.empty() || input.app.find(options.only) != std::string_view::npos;
}

}  // namespace

nlohmann::ordered_json opencl_overhead_scenario(const ScenarioOptions& options) {
  const Plan plan{.repetitions = options.repetitions, .warm_ups = 1, .stop = options.stop};
  auto measurements = nlohmann::ordered_json::array();
  nlohmann::ordered_json device;
  double logs = 0;
  for (const Input& input : inputs) {
    if (!chosen(input, options)) continue;
    opencl::Engine engine{{.capacity = options.capacity}};
    device = describe(engine);
    const Workload work{engine, input, options.quick};
    const auto run = [&](bool resizable) {
      apps::RunOptions how;
      how.launch.max_groups = engine.capacity();
      how.launch.resizable = resizable;
      return std::vector{nanoseconds(work.run(how))};
    };
    const Measurement measurement =
        measure(work.name(), "ns",
                {{.name = "resizable", .measure = [&] { return run(true); }},
                 {.name = "static", .measure = [&] { return run(false); }, .reference = true}},
                plan);
    print(std::cout, measurement);
    std::cout << std::endl;
    const double ratio = median(ratios(measurement.at("resizable"), measurement.at("static")));
    logs += std::log(ratio);
    auto entry = to_json(measurement);
    entry["overhead"] = ratio;
    measurements.push_back(std::move(entry));
  }
  const double mean = std::exp(logs / std::max(1.0, static_cast<double>(measurements.size())));
  std::cout << std::fixed << std::setprecision(3) << "overhead, geometric mean " << mean << '\n';
  return {{"engine", std::move(device)},
          {"summary", {{"geomean", mean}}},
          {"measurements", std::move(measurements)}};
}

nlohmann::ordered_json opencl_multitask_scenario(const ScenarioOptions& options) {
  auto runs = nlohmann::ordered_json::array();
  nlohmann::ordered_json device;
  std::cout << std::fixed << std::setprecision(2);
  for (const Input& input : inputs) {
    if (!chosen(input, options)) continue;
    opencl::Engine engine{{.capacity = options.capacity}};
    device = describe(engine);
    const ProgramKernel multiply = apps::dialect_kernel("multiply", "opencl");
    engine.load(multiply);
    const Workload work{engine, input, options.quick};
    for (const LoadClass& kind : load_classes) {
      const std::uint32_t side =
          side_for(engine, multiply, kind.work, {.groups = engine.capacity()});
      const TaskOptions task{.groups = groups_of("half", engine.capacity()), .priority = 1};
      DeviceProduct product{engine, multiply, side};
      std::vector<double> slowdowns;
      auto tasks = nlohmann::ordered_json::array();
      std::vector<double> gathers;
      std::uint64_t wrong = 0;
      for (std::uint32_t i = 0; i < options.repetitions; ++i) {
        if (options.stop.stop_requested()) throw Stopped{};
        const double alone = nanoseconds(work.run({}));
        Load load{[&] { return product.serve(task); }, kind.period};
        apps::RunOptions how;
        how.drive = [&load](const Job& job) { return load.drive(job); };
        slowdowns.push_back(nanoseconds(work.run(how)) / alone);
        wrong += load.wrong();
        for (const TaskSample& each : load.tasks()) {
          gathers.push_back(static_cast<double>(each.gather));
          tasks.push_back(
              {{"start_ns", each.start}, {"gather_ns", each.gather}, {"run_ns", each.run}});
        }
      }
      std::cout << work.name() << ", " << kind.name << ": slowdown " << median(slowdowns)
                << ", model of preemption "
                << static_cast<double>(kind.period.count()) /
                       static_cast<double>((kind.period - kind.work).count())
                << ", gather p50 " << median(gathers) / 1e6 << " ms p99 "
                << percentile(gathers, 99) / 1e6 << " ms" << std::endl;
      runs.push_back({{"work", work.name()},
                      {"class", kind.name},
                      {"task_groups", task.groups},
                      {"matrix_side", side},
                      {"wrong", wrong},
                      {"slowdowns", slowdowns},
                      {"tasks", std::move(tasks)}});
    }
  }
  return {{"engine", std::move(device)}, {"runs", std::move(runs)}};
}

}  // namespace cohort::bench
