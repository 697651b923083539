// Scenario "dialect": compares the apps compiled by cohortc with the same algorithms written by
// hand, and the compile times of cohortc with Clang's for the same source.
#include "apps/dialect/dialect.hpp"

#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/harness.hpp"
#include "bench/scenario.hpp"
#include "cohort/cpu.hpp"
#include "src/program/process.hpp"
#ifdef COHORT_CUDA_PAPER
#include "cohort/cuda.hpp"
#endif

namespace cohort::bench {
namespace {

/// An app, its inputs, and the settings with which the C++ app uses the paper's algorithm.
struct Input {
  std::string_view app;
  const char* spec;
  const char* quick;
  std::vector<std::string> settings;
};

const std::vector<Input>& inputs() {
  static const std::vector<Input> all{
      {"color", "grid:1000x1000", "grid:100x100", {"algorithm=paper"}},
      {"color", "rmat:14", "rmat:10", {"algorithm=paper"}},
      {"mis", "grid:1000x1000", "grid:100x100", {"algorithm=paper"}},
      {"mis", "rmat:16", "rmat:10", {"algorithm=paper"}},
      {"p-sssp", "grid:100x100", "grid:40x40", {"algorithm=paper"}},
      {"p-sssp", "rmat:16", "rmat:10", {"algorithm=paper"}},
      {"bfs", "grid:1500x1500", "grid:200x200", {"algorithm=paper", "lists=shared"}},
      {"bfs", "rmat:18", "rmat:10", {"algorithm=paper", "lists=shared"}},
      {"l-sssp", "grid:400x400", "grid:60x60", {"algorithm=paper", "lists=shared"}},
      {"l-sssp", "rmat:16", "rmat:10", {"algorithm=paper", "lists=shared"}},
      {"octree", "particles:1000000", "particles:20000", {"pools=mutex"}},
      {"game", "connect4:7", "connect4:5", {"pools=mutex", "grain=0"}},
  };
  return all;
}

/// Run times of an app, collected for a while but at least once. The first run is verified.
Contender contender(const char* name,
                    const std::function<apps::AppRun(const apps::RunOptions&)>& run,
                    const Input& input, const apps::RunOptions& options, bool reference) {
  const auto once = [=](bool verify) {
    apps::RunOptions how = options;
    how.results = verify;
    const apps::Outcome outcome = apps::outcome(run(how), verify);
    if (outcome.report.status != Status::finished || !outcome.verified.value_or(true)) {
      throw Error{Errc::broken_contract,
                  std::string{input.app} + " (" + name + ") came out wrong: " + outcome.difference};
    }
    return outcome.report.run_time;
  };
  static_cast<void>(once(true));
  return {.name = name,
          .measure =
              [once] {
                std::vector<double> times;
                for (std::chrono::nanoseconds sum{0};
                     times.empty() || (sum < std::chrono::milliseconds{20} && times.size() < 8);) {
                  const std::chrono::nanoseconds time = once(false);
                  times.push_back(static_cast<double>(time.count()));
                  sum += time;
                }
                return times;
              },
          .reference = reference};
}

/// Measures all apps on one engine.
template <class Engine>
nlohmann::ordered_json measure_apps(Engine& engine, const std::string& engine_name,
                                    const apps::RunOptions& how, const ScenarioOptions& options) {
  const Repetitions plan{.count = options.repetitions, .warm_ups = 1, .stop = options.stop};
  auto measurements = nlohmann::ordered_json::array();
  std::vector<double> all;
  for (const Input& input : inputs()) {
    const std::string spec = options.quick ? input.quick : input.spec;
    const std::string name = std::string{input.app} + " on " + spec;
    if (name.find(options.only) == std::string::npos) continue;
    const apps::AppInfo& app = apps::find_app(input.app);
    const apps::Ready by_hand = app.prepare(spec, apps::Settings{input.settings});
    const apps::Ready dialect = apps::prepare_dialect(app, spec, {});
    const ProgramKernel kernel = apps::dialect_kernel(app, engine_name);
    const Measurement measurement = measure(
        name, "ns",
        {contender(
             "C++, by hand",
             [&](const apps::RunOptions& its) { return apps::run_app(by_hand, engine, its); },
             input, how, true),
         contender(
             "OpenCL C, by cohortc",
             [&](const apps::RunOptions& its) {
               return apps::run_dialect(dialect, engine, kernel, its);
             },
             input, how, false)},
        plan);
    auto entry = reported(measurement);
    const double ratio =
        median(ratios(measurement.at("OpenCL C, by cohortc"), measurement.at("C++, by hand")));
    all.push_back(ratio);
    entry["ratio"] = ratio;
    measurements.push_back(std::move(entry));
  }
  if (all.empty())
    throw Error{Errc::bad_options,
                "--only '" + options.only + "': no such pair; try bfs, color or octree"};
  const double mean = geometric_mean(all);
  const double worst = percentile(all, 100);
  std::cout << std::fixed << std::setprecision(3) << "dialect / by hand: geometric mean " << mean
            << ", worst " << worst << '\n';
  return {{"engine", engine_name},
          {"groups", *how.launch.max_groups},
          {"summary", {{"geomean", mean}, {"worst", worst}}},
          {"measurements", std::move(measurements)}};
}

/// Duration of a command in nanoseconds. Throws Error{unsupported} if it fails.
double time_of(const std::vector<std::string>& command) {
  const auto start = std::chrono::steady_clock::now();
  const program::Finished finished = program::run(command);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  if (finished.status != 0)
    throw Error{Errc::unsupported, command[0] + " failed: " + finished.text};
  return time.count();
}

Measurement measure_compilers(const Repetitions& plan) {
  const std::string source = COHORT_DIALECT_APPS "/octree.cl";
  const std::string plain = std::filesystem::temp_directory_path() / "cohort-bench-octree.cl";
  time_of({COHORT_CC_FILE, source, "--emit=plain", "-o", plain});
  const Contender ours{.name = "cohortc --emit=cpu", .measure = [source] {
                         return std::vector{time_of({COHORT_CC_FILE, source, "-o", "/dev/null"})};
                       }};
  const Contender clang{.name = "clang -c, of the plain kernel",
                        .measure =
                            [plain] {
                              return std::vector{time_of(
                                  {"clang-14", "-x", "cl", "-cl-std=CL3.0",
                                   "-D__opencl_c_work_group_collective_functions=1", "-target",
                                   "spir64", "-O2", "-emit-llvm", "-c", plain, "-o", "/dev/null"})};
                            },
                        .reference = true};
  return measure("compiling octree, the largest app", "ns", {ours, clang}, plan);
}

nlohmann::ordered_json run_dialect(const ScenarioOptions& options) {
  cpu::Engine engine{{.capacity = 2, .pin_workers = true}};
  apps::RunOptions how;
  how.launch.max_groups = engine.capacity();
  auto result = measure_apps(engine, "cpu", how, options);
  if (options.only.empty() || std::string_view{"compiling"}.find(options.only) == 0) {
    result["measurements"].push_back(reported(
        measure_compilers({.count = options.repetitions, .warm_ups = 1, .stop = options.stop})));
  }
  return result;
}

}  // namespace

const Scenario dialect_scenario{
    .name = "dialect",
    .summary = "apps compiled by cohortc next to hand-written ones; cohortc next to Clang",
    .run = &run_dialect,
    .accepts = {.only = true}};

#ifdef COHORT_CUDA_PAPER
namespace {

nlohmann::ordered_json run_cuda_dialect(const ScenarioOptions& options) {
  cuda::Engine engine{{.capacity = options.capacity}};
  apps::RunOptions how;
  how.launch.max_groups = engine.capacity();
  return measure_apps(engine, "cuda", how, options);
}

}  // namespace

const Scenario cuda_dialect_scenario{
    .name = "dialect",
    .summary = "apps compiled by cohortc next to hand-written ones",
    .run = &run_cuda_dialect,
    .accepts = {.only = true}};
#endif

}  // namespace cohort::bench
