// cohort run: one app, on one input, with groups that may come and go; what happened in a few lines
// and, if wanted, in JSON.
#include <array>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/registry.hpp"
#include "bench/record.hpp"
#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/engines.hpp"
#include "cli/resize.hpp"
#include "cohort/cpu.hpp"

namespace cohort::cli {
namespace {

struct BarrierKind {
  std::string_view name;
  ResizingBarrier barrier;
};
constexpr std::array barriers{
    BarrierKind{"one-pass", ResizingBarrier::one_pass},
    BarrierKind{"query", ResizingBarrier::query},
    BarrierKind{"plain", ResizingBarrier::plain},
    BarrierKind{"modelled", ResizingBarrier::modelled},
};

struct Options {
  std::string app;
  std::string input;
  std::string engine = "cpu";
  std::optional<std::uint32_t> groups;
  std::uint32_t local_size = 1;
  std::optional<std::uint32_t> capacity;
  std::string resize = "none";
  bool fixed = false;
  std::string barrier = "one-pass";
  std::vector<std::string> settings;
  bool verify = false;
  std::string json;
};

nlohmann::ordered_json to_json(const Summary& summary) {
  return {
      {"count", summary.count}, {"p50", summary.p50}, {"p99", summary.p99}, {"max", summary.max}};
}

nlohmann::ordered_json to_json(const Options& options, std::uint32_t groups, std::uint32_t capacity,
                               const apps::Outcome& outcome) {
  const Report& report = outcome.report;
  auto sizes = nlohmann::ordered_json::array();
  for (const Report::Size& size : report.sizes)
    sizes.push_back({{"ns", size.nanoseconds}, {"groups", size.groups}});
  nlohmann::ordered_json result{
      {"app", options.app},
      {"input", options.input},
      {"engine", options.engine},
      {"groups", groups},
      {"local_size", options.local_size},
      {"capacity", capacity},
      {"resize", options.resize},
      {"static", options.fixed},
      {"barrier", options.barrier},
      {"options", options.settings},
      {"status", to_string(report.status)},
      {"verified", nullptr},
      {"result", nlohmann::ordered_json::object()},
      {"start_groups", report.start_groups},
      {"joins", report.joins},
      {"leaves", report.leaves},
      {"run_time_ns", report.run_time.count()},
      {"gather", to_json(report.gather)},
      {"offers", to_json(report.offers)},
      {"sizes", std::move(sizes)},
  };
  for (const auto& [name, number] : outcome.result) result["result"][name] = number;
  if (outcome.verified) result["verified"] = *outcome.verified;
  result.update(bench::provenance());
  return result;
}

void print(const Options& options, std::uint32_t groups, const apps::Outcome& outcome) {
  const Report& report = outcome.report;
  const auto micro = [](std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e3;
  };
  std::cout << std::fixed << std::setprecision(1) << options.app << " on " << options.input << ": "
            << outcome.input << '\n'
            << to_string(report.status) << " in "
            << micro(static_cast<std::uint64_t>(report.run_time.count())) / 1e3 << " ms, at most "
            << groups << " groups of " << options.local_size << ", " << report.joins << " joined, "
            << report.leaves << " left\n";
  if (report.gather.count > 0) {
    std::cout << "gather time p50 " << micro(report.gather.p50) << " us, p99 "
              << micro(report.gather.p99) << " us, max " << micro(report.gather.max) << " us\n";
  }
  for (const auto& [name, number] : outcome.result) std::cout << name << ' ' << number << "  ";
  if (!outcome.result.empty()) std::cout << '\n';
  if (outcome.verified)
    std::cout << (*outcome.verified ? "verified" : "WRONG: " + outcome.difference) << '\n';
}

int run(const Options& options, std::stop_token stop) {
  const apps::App& app = choose("app", options.app, apps::all());
  choose("engine", options.engine, engines);
  const ResizingBarrier barrier = choose("barrier", options.barrier, barriers).barrier;
  if (!options.json.empty()) bench::check_writable(options.json);

  cpu::Engine engine{{.capacity = options.capacity}};
  const std::uint32_t groups = options.groups.value_or(engine.capacity());
  apps::Request request{.input = options.input,
                        .settings = apps::Settings{options.settings},
                        .options = {},
                        .verify = options.verify};
  apps::RunOptions& how = request.options;
  how.launch.max_groups = groups;
  how.launch.local_size = options.local_size;
  how.launch.resizable = !options.fixed;
  how.launch.stop = std::move(stop);
  how.barrier = barrier;
  how.drive = resizer(options.resize, groups);
  const apps::Outcome outcome = app.run(engine, request);
  print(options, groups, outcome);
  if (!options.json.empty()) {
    bench::write_atomically(options.json,
                            to_json(options, groups, engine.capacity(), outcome).dump(2) + "\n");
  }
  const bool wrong = outcome.verified && !*outcome.verified;
  return outcome.report.status == Status::finished && !wrong ? fine : failed;
}

}  // namespace

void add_run(CLI::App& tool, Action& chosen, const std::stop_token& stop) {
  CLI::App* const command = tool.add_subcommand("run", "Run an app");
  const auto options = std::make_shared<Options>();
  command->add_option("app", options->app, "Which one; see `cohort list`")->required();
  command->add_option("--input", options->input, "What on, e.g. grid:1000x1000")->required();
  command->add_option("--engine", options->engine, "Where")->capture_default_str();
  command->add_option("--groups", options->groups, "At most so many groups (default: capacity)");
  command->add_option("--local-size", options->local_size, "Threads in a group")
      ->capture_default_str();
  command->add_option("--capacity", options->capacity,
                      "Groups that run at a time (default: usable CPUs)");
  auto* const resize = command->add_option("--resize", options->resize,
                                           "Who changes the number of groups: none|random:SEED");
  resize->capture_default_str();
  auto* const barrier =
      command->add_option("--barrier", options->barrier,
                          "Resizing barrier: one-pass (ours), or the paper's query|plain|modelled");
  barrier->capture_default_str();
  command
      ->add_flag("--static", options->fixed,
                 "A fixed number of groups, with cooperation compiled out")
      ->excludes(resize)
      ->excludes(barrier);
  command->add_option("-o,--option", options->settings,
                      "The app's own options, as KEY=VALUE; see `cohort list`");
  command->add_flag("--verify", options->verify, "Compare with a sequential computation");
  command->add_option("--json", options->json, "Write a report to this file");
  command->callback(
      [options, &chosen, stop] { chosen = [options, stop] { return run(*options, stop); }; });
}

}  // namespace cohort::cli
