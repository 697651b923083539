// cohort bench: the scenarios, and their records.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "bench/harness.hpp"
#include "bench/openmp_barrier.hpp"
#include "bench/scenario.hpp"
#include "bench/tenants.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cohort/any_engine.hpp"
#include "cohort/error.hpp"
#include "cohort/job.hpp"
#include "tool/other_programs.hpp"
#include "tool/record.hpp"
#ifdef COHORT_BENCH_MPI
#include "bench/ranks_mpi.hpp"
#endif
#ifdef COHORT_WITH_CUDA
#include "bench/cuda/scenarios.hpp"
#endif

namespace cohort::cli {
namespace {

constexpr std::uint32_t most_repetitions = 1'000'000;

struct Options {
  std::string engine;
  std::optional<std::uint32_t> repetitions;
  bool quick = false;
  std::string json;
  std::string out;
  std::optional<std::uint32_t> capacity;
  std::string only;
  bool fixed_duration = false;
  std::string scheduler = "host";
  std::string frames;
  std::optional<double> minutes;
};

/// Requests a stop when another stop token does, or at the time limit, whichever comes first.
class TimeLimit {
 public:
  TimeLimit(const std::stop_token& outside, std::optional<double> minutes)
      : forward_(outside, [this] { source_.request_stop(); }) {
    if (!minutes) return;
    timer_ = std::jthread{
        [this, time = std::chrono::duration<double>{*minutes * 60}](const std::stop_token& over) {
          std::mutex mutex;
          std::unique_lock lock{mutex};
          std::condition_variable_any{}.wait_for(lock, over, time, [] { return false; });
          if (over.stop_requested()) return;
          reached_.store(true, std::memory_order_relaxed);  // ordered by request_stop()
          source_.request_stop();
        }};
  }

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  [[nodiscard]] bool reached() const { return reached_.load(std::memory_order_relaxed); }

 private:
  std::stop_source source_;
  std::atomic<bool> reached_{false};
  std::stop_callback<std::function<void()>> forward_;
  std::jthread timer_;  // last member: the thread uses all of the above
};

/// Runs `work` under --time-limit. Samples measured before the limit are kept.
int within(const Options& options, Interrupt& interrupt,
           const std::function<int(const std::stop_token&)>& work) {
  const Interrupt::Graceful graceful{interrupt};
  const TimeLimit limit{interrupt.token(), options.minutes};
  try {
    return work(limit.token());
  } catch (const tool::Stopped&) {
    if (!limit.reached()) throw;
    std::cout << std::flush;
    std::cerr << "cohort: the time limit is reached; the same command resumes here\n";
    return failed;
  }
}

void make_folder(const std::string& option, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error{Errc::bad_options,
                option + " '" + folder + "': " + error.message() + "; choose another folder"};
  }
  tool::check_writable(std::filesystem::path{folder} / "samples");
}

using bench::ListedScenario;

bool keeps_samples(const bench::Scenario& scenario) {
  return scenario.keeps == bench::Scenario::Keeps::samples;
}

/// Path of the record; empty if the scenario stores samples instead.
std::filesystem::path record_file(const ListedScenario& chosen, const Options& options) {
  if (options.out.empty()) return options.json;
  if (keeps_samples(chosen.scenario)) return {};
  return std::filesystem::path{options.out} /
         tool::file_of(chosen.scenario.name,
                       bench::engine_in_files(chosen.engine, options.scheduler), ".json");
}

std::uint32_t repetitions_of(const bench::Scenario& scenario, const Options& options) {
  if (options.repetitions) return *options.repetitions;
  if (keeps_samples(scenario)) return options.quick ? 1 : 10;  // the paper has 10
  return options.quick ? scenario.quick_repetitions : 9;
}

/// The scenario `name` on the requested engine. If no engine is requested, on the first engine that
/// has the scenario.
const ListedScenario& scenario_of(std::string_view name, const Options& options) {
  if (!options.engine.empty()) (void)engine_kind(options.engine);
  for (const ListedScenario& each : bench::scenarios()) {
    if (each.scenario.name != name) continue;
    if (!options.engine.empty() && options.engine != each.engine) continue;
    if (const std::string why = engine_kind(each.engine).lacking(); !why.empty())
      throw Error{Errc::unsupported, "--engine " + std::string{each.engine} + ": " + why};
    return each;
  }
  throw Error{Errc::bad_options, "bench " + std::string{name} + ": not available for --engine " +
                                     options.engine + "; leave --engine out"};
}

void check(const Options& options) {
  for (const auto& [name, folder] :
       {std::pair{"--out", options.out}, {"--frames", options.frames}}) {
    if (!folder.empty()) make_folder(name, folder);
  }
  if (!options.json.empty()) tool::check_writable(options.json);
}

int run(const ListedScenario& chosen, const Options& options, std::stop_token stop) {
  check(options);
  const bench::Scenario& scenario = chosen.scenario;
  check_scheduler(options.scheduler, chosen.engine);
  const std::filesystem::path file = record_file(chosen, options);
  if (!file.empty()) tool::check_writable(file);

  const bench::ScenarioOptions how{.engine = std::string{chosen.engine},
                                   .repetitions = repetitions_of(scenario, options),
                                   .quick = options.quick,
                                   .stop = std::move(stop),
                                   .folder = options.out,
                                   .capacity = options.capacity,
                                   .only = options.only,
                                   .fixed_duration = options.fixed_duration,
                                   .scheduler = options.scheduler,
                                   .frames = options.frames};
  nlohmann::ordered_json record{{"scenario", scenario.name}};
  record.update(tool::provenance());
  record["engine"] = how.engine;
  if (how.engine == "opencl") record["scheduler"] = how.scheduler;
  record["repetitions"] = how.repetitions;
  record["quick"] = how.quick;
  const tool::OtherPrograms others;
  nlohmann::ordered_json measured = scenario.run(how);
  record["disturbed"] = others.share();
  record["warning"] = tool::busy_warning(record["disturbed"]);
  if (record["warning"] != "")
    std::cout << "note: " << record["warning"].get<std::string>() << "\n\n";
  record.update(measured);
  if (!file.empty()) tool::write_atomically(file, tool::record_text(record));
  return fine;
}

/// Whether an earlier `bench all` already wrote this record.
bool is_done(const ListedScenario& chosen, const Options& options) {
  std::ifstream file{record_file(chosen, options)};
  if (keeps_samples(chosen.scenario) || !file) return false;
  const auto record = nlohmann::json::parse(file, nullptr, false);
  return record.is_object() && record.value("commit", "") == tool::commit() &&
         record.value("quick", false) == options.quick &&
         record.value("repetitions", 0U) == repetitions_of(chosen.scenario, options);
}

int run_all(const Options& wish, const std::stop_token& stop) {
  check(wish);
  for (const ListedScenario& chosen : bench::scenarios()) {
    if (chosen.engine != "cpu") continue;
    Options options = wish;
    if (wish.quick && !keeps_samples(chosen.scenario))
      options.repetitions = wish.repetitions.value_or(3);
    std::cout << "== " << chosen.scenario.name << '\n';
    if (is_done(chosen, options)) {
      std::cout << "done before: " << record_file(chosen, options).string() << "\n\n";
    } else {
      run(chosen, options, stop);
    }
  }
  return write_report({wish.out});
}

void add_time_limit(CLI::App& command, Options& options) {
  command
      .add_option("--time-limit", options.minutes,
                  "Stop after that time, with status 1; the same command resumes then")
      ->type_name("MINUTES")
      ->check(positive_number("--time-limit", 1e6));
}

/// A hidden command. The barrier scenario runs it as a child process and reads its output.
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

/// A hidden command. The tenants scenario runs its processes with it.
void add_tenants_part(CLI::App& bench, Action& chosen) {
  CLI::App* const command = bench.add_subcommand("tenants-part")->group("");
  const auto part = std::make_shared<bench::TenantsPart>();
  command->add_option("what", part->what)->required();
  command->add_option("--shared", part->engine);
  command->add_option("--begin", part->begin);
  command->add_option("--length", part->length);
  command->add_option("--work", part->work);
  command->add_option("--workers", part->workers);
  command->add_option("--rate", part->rate);
  command->add_option("--seed", part->seed);
  command->add_option("--nice", part->nice);
  command->add_flag("--apart", part->apart);
  command->add_option("--cgroup", part->cgroup);
  command->callback([part, &chosen] {
    chosen = [part] {
      bench::tenants_part(*part);
      return fine;
    };
  });
}

}  // namespace

std::vector<std::pair<std::string, std::string>> benchmarks() {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [engine, scenario] : bench::scenarios()) {
    result.emplace_back(
        std::string{scenario.name} + (engine == "cpu" ? "" : " --engine " + std::string{engine}),
        scenario.summary);
  }
  return result;
}

void add_bench(CLI::App& tool, Action& chosen, Interrupt& interrupt) {
  CLI::App* const command = tool.add_subcommand("bench", "Run a benchmark scenario");
  const auto options = std::make_shared<Options>();
  std::set<std::string> names;
  for (const ListedScenario& listed : bench::scenarios()) {
    const bench::Scenario& scenario = listed.scenario;
    const std::string name{scenario.name};
    if (!names.insert(name).second) continue;  // another engine has a scenario with this name
    CLI::App* const sub = command->add_subcommand(name, std::string{scenario.summary});
    add_value(*sub, "--engine", options->engine, "ENGINE",
              "cpu, cuda or opencl (default: the first that has this scenario)");
    add_number(*sub, "--reps", options->repetitions, 1, most_repetitions,
               keeps_samples(scenario)
                   ? "Rounds (default: 10; 1 with --quick)"
                   : "Repetitions (default: 9; " + std::to_string(scenario.quick_repetitions) +
                         " with --quick)");
    sub->add_flag("--quick", options->quick, "Small inputs and little time, for a first look");
    auto* const json = add_value(*sub, "--json", options->json, "FILE", "Write the record to FILE");
    add_value(*sub, "--out", options->out, "FOLDER",
              "Write the record into FOLDER, made if it is missing")
        ->excludes(json);
    if (scenario.accepts.frames) {
      add_value(*sub, "--frames", options->frames, "FOLDER",
                "Write a picture of each rate into FOLDER as PNG, made if it is missing");
    }
    if (scenario.accepts.capacity) {
      add_number(*sub, "--capacity", options->capacity, 1, max_groups_limit,
                 "Groups of the engine (default: chosen by the scenario)");
    }
    if (std::ranges::any_of(bench::scenarios(), [&](const ListedScenario& each) {
          return each.scenario.name == name && each.engine == "opencl";
        })) {
      add_value(*sub, "--scheduler", options->scheduler, "WHERE",
                "With --engine opencl: schedule on the host, or in a group of the device (default: "
                "host)");
    }
    if (std::ranges::any_of(bench::scenarios(), [&](const ListedScenario& each) {
          return each.scenario.name == name && each.scenario.accepts.only;
        })) {
      add_value(*sub, "--only", options->only, "PART",
                "Measure only pairs of app and input, or ways to share a GPU, whose name contains "
                "PART, e.g. bfs");
    }
    if (keeps_samples(scenario)) {
      add_time_limit(*sub, *options);
      sub->add_flag(
          "--fixed-duration", options->fixed_duration,
          "Another load: tasks take E on their share, so larger shares do more work; stored "
          "separately");
    }
    sub->callback([name, options, &chosen, &interrupt] {
      chosen = [name, options, &interrupt] {
        return within(*options, interrupt, [&](const std::stop_token& limited) {
          return run(scenario_of(name, *options), *options, limited);
        });
      };
    });
  }
  CLI::App* const every =
      command->add_subcommand("all", "all scenarios of the CPU engine, and the report");
  add_value(*every, "--out", options->out, "FOLDER",
            "Write all records and report.html into FOLDER, made if it is missing; required")
      ->required();
  every->add_flag("--quick", options->quick, "Small inputs and little time: all of it in minutes");
  add_number(*every, "--reps", options->repetitions, 1, most_repetitions,
             "Repetitions of each scenario (default: its own; 3 with --quick)");
  add_number(*every, "--capacity", options->capacity, 1, max_groups_limit,
             "Groups of the engine (default: chosen by each scenario)");
  add_time_limit(*every, *options);
  every->callback([options, &chosen, &interrupt] {
    chosen = [options, &interrupt] {
      return within(*options, interrupt,
                    [&](const std::stop_token& limited) { return run_all(*options, limited); });
    };
  });
#ifdef COHORT_WITH_CUDA
  CLI::App* const spin = command->add_subcommand("cuda-spin-barrier")->group("");
  spin->callback([&chosen] {
    chosen = [] {
      bench::cuda_spin_barrier();
      return fine;
    };
  });
  CLI::App* const fixed = command->add_subcommand("cuda-fixed-barrier")->group("");
  const auto held = std::make_shared<std::uint32_t>();
  fixed->add_option("sms", *held)->required();
  fixed->callback([held, &chosen] {
    chosen = [held] {
      bench::cuda_fixed_barrier(*held);
      return fine;
    };
  });
  CLI::App* const share = command->add_subcommand("cuda-sharing-part")->group("");
  const auto part = std::make_shared<std::string>();
  share->add_option("part", *part)->required();
  share->callback([part, &chosen] {
    chosen = [part] {
      bench::cuda_sharing_part(*part);
      return fine;
    };
  });
#endif
#ifdef COHORT_BENCH_MPI
  CLI::App* const ranks = command->add_subcommand("ranks-part")->group("");
  const auto ranks_part = std::make_shared<bench::RanksPart>();
  ranks->add_option("input", ranks_part->input)->required();
  ranks->add_option("repetitions", ranks_part->repetitions)->required();
  ranks->callback([ranks_part, &chosen] {
    chosen = [ranks_part] {
      bench::run_ranks_part(*ranks_part);
      return fine;
    };
  });
#endif
  add_openmp_barrier(*command, chosen);
  add_tenants_part(*command, chosen);
  command->footer(  // set after the commands above, so that they do not inherit it
      "Contenders are measured side by side, in turns. Records hold the raw samples, the machine\n"
      "and the commit. The paper's experiments store each sample at once: an interrupted run\n"
      "resumes when it is started again.\n\n"
      "  cohort bench all --quick --out results           everything in minutes, for a first look\n"
      "  cohort bench all --out results                   everything; an hour on 2 CPUs\n"
      "  cohort bench all --out results --time-limit 10   ten minutes of it; again to resume\n"
      "  cohort report results                            results/report.html");
  command->callback([&chosen] {  // runs after the callbacks of the scenarios
    if (!chosen) throw Error{Errc::bad_options, "no scenario given; see `cohort bench --help`"};
  });
}

}  // namespace cohort::cli
