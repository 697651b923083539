// cohort bench: the scenarios, and their records.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/openmp_barrier.hpp"
#include "bench/record.hpp"
#include "bench/scenario.hpp"
#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/engines.hpp"
#include "cohort/error.hpp"
#ifdef COHORT_WITH_CUDA
#include "bench/cuda/scenarios.hpp"
#endif

namespace cohort::cli {
namespace {

struct Options {
  std::string engine;
  std::optional<std::uint32_t> repetitions;
  bool quick = false;
  std::string json;
  std::string out;
};

/// Where the record goes; empty for nowhere.
std::filesystem::path record_file(const bench::Scenario& scenario, const Options& options) {
  if (options.out.empty()) return options.json;
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) {
    throw Error{Errc::bad_options, "cannot make the folder '" + options.out +
                                       "': " + error.message() + "; choose another for --out"};
  }
  return std::filesystem::path{options.out} / (std::string{scenario.name} + ".json");
}

/// The scenario of that name on the engine that was asked for; the first that has one otherwise.
const bench::Scenario& scenario_of(std::string_view name, const Options& options) {
  if (!options.engine.empty()) choose("engine", options.engine, engines);
  for (const auto& [engine, scenarios] :
       {std::pair{"cpu", bench::scenarios()}, std::pair{"cuda", bench::cuda_scenarios()}}) {
    if (!options.engine.empty() && options.engine != engine) continue;
    for (const bench::Scenario& each : scenarios) {
      if (each.name == name) return each;
    }
  }
  throw Error{Errc::bad_options, "bench " + std::string{name} + ": not for the engine '" +
                                     options.engine + "'; leave --engine out"};
}

int run(const bench::Scenario& scenario, const Options& options, std::stop_token stop) {
  if (options.repetitions && *options.repetitions == 0)
    throw Error{Errc::bad_options, "--reps 0: nothing would be measured; give 1 or more"};
  const std::filesystem::path file = record_file(scenario, options);
  if (!file.empty()) bench::check_writable(file);

  const bench::ScenarioOptions how{
      .repetitions = options.repetitions.value_or(options.quick ? 3 : 9),
      .quick = options.quick,
      .stop = std::move(stop)};
  nlohmann::ordered_json record{{"scenario", scenario.name}};
  record.update(bench::provenance());
  record["repetitions"] = how.repetitions;
  record["quick"] = how.quick;
  record.update(scenario.run(how));
  if (!file.empty()) bench::write_atomically(file, record.dump(1) + "\n");
  return fine;
}

/// Not for people: a scenario starts it in a process of its own, and reads its output.
void add_openmp_barrier(CLI::App& bench, Action& chosen) {
  CLI::App* const command = bench.add_subcommand("openmp-barrier")->group("");
  const auto load = std::make_shared<bench::BarrierLoad>();
  command->add_option("--threads", load->threads);
  command->add_option("--batches", load->batches);
  command->add_option("--barriers", load->barriers);
  command->add_flag("--pinned", load->pinned);
  command->callback([load, &chosen] {
    chosen = [load] {
      for (const double each : bench::openmp_barrier(*load)) std::cout << each << '\n';
      return fine;
    };
  });
}

}  // namespace

void add_bench(CLI::App& tool, Action& chosen, const std::stop_token& stop) {
  CLI::App* const command = tool.add_subcommand("bench", "Run a benchmark scenario");
  const auto options = std::make_shared<Options>();
  std::vector<bench::Scenario> all(bench::scenarios().begin(), bench::scenarios().end());
  for (const bench::Scenario& each : bench::cuda_scenarios()) {
    const auto same = [&each](const bench::Scenario& other) { return other.name == each.name; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(each);
  }
  for (const bench::Scenario& scenario : all) {
    CLI::App* const sub =
        command->add_subcommand(std::string{scenario.name}, std::string{scenario.summary});
    sub->add_option("--engine", options->engine, "Where (default: cpu, if it has this one)");
    sub->add_option("--reps", options->repetitions, "Repetitions (default 9; 3 with --quick)");
    sub->add_flag("--quick", options->quick, "Measure less, to see that it works");
    auto* const json = sub->add_option("--json", options->json, "Write the record to this file");
    sub->add_option("--out", options->out, "Write the record into this folder, made if need be")
        ->excludes(json);
    sub->callback([name = scenario.name, options, &chosen, stop] {
      chosen = [name, options, stop] { return run(scenario_of(name, *options), *options, stop); };
    });
  }
#ifdef COHORT_WITH_CUDA
  CLI::App* const spin = command->add_subcommand("cuda-spin-barrier")->group("");
  spin->callback([&chosen] {
    chosen = [] {
      bench::cuda_spin_barrier();
      return fine;
    };
  });
#endif
  add_openmp_barrier(*command, chosen);
  command->callback([&chosen] {  // after those of the scenarios
    if (!chosen) throw Error{Errc::bad_options, "bench: no scenario given; see `cohort list`"};
  });
}

}  // namespace cohort::cli
