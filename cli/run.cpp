// cohort run: runs one app on one input, optionally while groups join and leave. Prints a summary
// and, on request, writes JSON.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/kernel_file.hpp"
#include "cli/options.hpp"
#include "cli/resize.hpp"
#include "cli/run_ranks.hpp"
#include "src/choices.hpp"
#include "tool/app_engine.hpp"
#include "tool/load.hpp"
#include "tool/record.hpp"
#include "tool/statistics.hpp"
#include "tool/timeline.hpp"

namespace cohort::cli {
namespace {

constexpr std::uint32_t any_number = std::numeric_limits<std::uint32_t>::max();

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
  std::string device;
  std::string scheduler = "host";
  std::optional<std::uint32_t> groups;
  std::optional<std::uint32_t> local_size;
  std::optional<std::uint32_t> capacity;
  std::string share;
  std::string resize = "none";
  bool fixed = false;
  bool dialect = false;
  std::string barrier = "one-pass";
  std::vector<std::string> settings;
  std::string task = "none";
  std::string task_groups = "half";
  bool verify = false;
  bool check_trace = false;
  std::size_t trace_limit = TraceLog::default_limit;
  std::string trace;
  std::string checkpoint;
  std::uint32_t suspend_after = 0;
  std::string restore;
  std::string json;
  std::uint32_t repeat = 1;
  std::uint32_t shards = 64;
  std::optional<double> every;
  KernelFileOptions kernel_file;
};

/// One of the runs of --repeat. Outcome describes the last one.
struct Run {
  std::chrono::nanoseconds time;
  std::uint64_t joins;
  std::uint64_t leaves;
  std::optional<bool> verified;
};

/// Tasks served next to the job; `kind` is null if there are none.
struct Tasks {
  const tool::LoadClass* kind = nullptr;
  std::uint32_t groups = 0;
  std::uint32_t side = 0;
  std::vector<tool::TaskSample> served;
  std::uint64_t wrong = 0;
};

/// The trace checker's verdict on a run.
struct Judgement {
  std::uint64_t events = 0;
  std::optional<bool> legal = true;  // empty if the trace is incomplete
  std::string error;                 // the first illegal event, or why there is no verdict
};

Judgement judge(const std::deque<apps::JobTrace>& traces) {
  Judgement judgement;
  for (const apps::JobTrace& trace : traces) {
    judgement.events += trace.log.events().size();
    if (!judgement.error.empty()) continue;
    if (trace.log.dropped() > 0) {
      judgement.legal = {};
      judgement.error = std::to_string(trace.log.dropped()) +
                        " events were dropped; raise --trace-limit, or choose a smaller input";
    } else if (const auto refusal = check_trace(trace.log.events(), trace.rules, trace.status)) {
      judgement.legal = false;
      judgement.error = *refusal;
    }
  }
  return judgement;
}

/// Times of several runs. The first run is cold: it touches the job's memory for the first time.
struct Spread {
  double cold;
  double warm;  ///< median of the other runs
  double low;   ///< lower quartile of the other runs; then the upper
  double high;
};
Spread spread_of(const std::vector<Run>& runs) {
  std::vector<double> warm;
  for (const Run& run : runs) warm.push_back(static_cast<double>(run.time.count()));
  const double cold = warm.front();
  if (warm.size() > 1) warm.erase(warm.begin());
  return {.cold = cold,
          .warm = tool::median(warm),
          .low = tool::percentile(warm, 25),
          .high = tool::percentile(warm, 75)};
}
/// Number of edges of the input, divided by the seconds of a warm run.
double edges_per_second(std::uint64_t edges, const Spread& spread) {
  return static_cast<double>(edges) * 1e9 / std::max(spread.warm, 1.0);
}

nlohmann::ordered_json to_json(const Options& options, std::uint32_t groups, std::uint32_t capacity,
                               const apps::Outcome& outcome, const std::vector<Run>& runs,
                               std::uint64_t edges, const Tasks& tasks,
                               const std::optional<Judgement>& judgement) {
  const Report& report = outcome.report;
  auto sizes = nlohmann::ordered_json::array();
  for (const Report::Size& size : report.sizes)
    sizes.push_back({{"ns", size.nanoseconds}, {"groups", size.groups}});
  nlohmann::ordered_json result{
      {"app", options.app},
      {"input", options.input},
      {"engine", options.engine},
      {"groups", groups},
      {"local_size", *options.local_size},
      {"capacity", capacity},
      {"resize", options.resize},
      {"static", options.fixed},
      {"dialect", options.dialect},
      {"barrier", options.barrier},
      {"options", options.settings},
      {"status", to_string(report.status)},
      {"verified", nullptr},
      {"result", nlohmann::ordered_json::object()},
      {"trace", nullptr},
      {"start_groups", report.start_groups},
      {"joins", report.joins},
      {"leaves", report.leaves},
      {"run_time_ns", report.run_time.count()},
      {"gather", tool::to_json(report.gather)},
      {"offers", tool::to_json(report.offers)},
      {"sizes", std::move(sizes)},
      {"runs", nlohmann::ordered_json::array()},
  };
  for (const Run& run : runs) {
    result["runs"].push_back(
        {{"run_time_ns", run.time.count()}, {"joins", run.joins}, {"leaves", run.leaves}});
    result["runs"].back()["verified"] = nullptr;
    if (run.verified) result["runs"].back()["verified"] = *run.verified;
  }
  if (runs.size() > 1) {
    const Spread spread = spread_of(runs);
    result["times"] = {{"cold_ns", spread.cold},
                       {"warm_p50_ns", spread.warm},
                       {"warm_p25_ns", spread.low},
                       {"warm_p75_ns", spread.high}};
    if (edges > 0) result["times"]["edges_per_s"] = edges_per_second(edges, spread);
  }
  for (const auto& [name, number] : outcome.result) result["result"][name] = number;
  if (outcome.verified) result["verified"] = *outcome.verified;
  if (tasks.kind != nullptr) {
    auto served = nlohmann::ordered_json::array();
    for (const tool::TaskSample& each : tasks.served) {
      served.push_back(
          {{"start_ns", each.start}, {"gather_ns", each.gather}, {"run_ns", each.run}});
    }
    result["tasks"] = {{"class", tasks.kind->name},
                       {"groups", tasks.groups},
                       {"period_ns", std::chrono::nanoseconds{tasks.kind->period}.count()},
                       {"matrix_side", tasks.side},
                       {"wrong", tasks.wrong},
                       {"served", std::move(served)}};
  }
  if (judgement) {
    result["trace"] = {{"events", judgement->events}, {"legal", nullptr}};
    if (judgement->legal) result["trace"]["legal"] = *judgement->legal;
    if (!judgement->error.empty()) result["trace"]["error"] = judgement->error;
  }
  result.update(tool::provenance());
  return result;
}

void print(const Tasks& tasks) {
  if (tasks.kind == nullptr) return;
  std::cout << tasks.served.size() << ' ' << tasks.kind->name << " tasks on " << tasks.groups
            << " groups, products of " << tasks.side << " x " << tasks.side << " matrices";
  if (!tasks.served.empty()) {
    std::vector<double> gather;
    std::vector<double> run;
    for (const tool::TaskSample& each : tasks.served) {
      gather.push_back(static_cast<double>(each.gather) / 1e6);
      run.push_back(static_cast<double>(each.run) / 1e6);
    }
    std::cout << std::setprecision(2) << ": gathered in " << tool::median(gather)
              << " ms, then done in " << tool::median(run) << " ms (p50)";
    if (const auto period = tool::median_period(tasks.served)) {
      std::cout << ", one every " << std::setprecision(0) << *period / 1e6 << " ms (due every "
                << tasks.kind->period.count() << " ms)";
    }
  }
  std::cout << "; "
            << (tasks.wrong == 0 ? "all right" : std::to_string(tasks.wrong) + " of them WRONG")
            << '\n';
}

/// Prints the spread of several runs.
void print(const std::vector<Run>& runs, std::uint64_t edges) {
  if (runs.size() == 1) return;
  const Spread spread = spread_of(runs);
  const auto ms = [](double time) { return tool::three_digits(time / 1e6); };
  std::cout << runs.size() << " runs: cold " << ms(spread.cold) << " ms, warm " << ms(spread.warm)
            << " ms (quartiles " << ms(spread.low) << " to " << ms(spread.high) << " ms)";
  if (edges > 0) {
    std::cout << ", " << tool::three_digits(edges_per_second(edges, spread) / 1e6)
              << " million edges/s";
  }
  std::cout << '\n';
}

void print(const Options& options, const apps::Ready& app, std::uint32_t groups,
           const apps::Outcome& outcome, const std::vector<Run>& runs,
           const std::optional<Judgement>& judgement) {
  const Report& report = outcome.report;
  const auto micro = [](std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e3;
  };
  std::cout << std::fixed << std::setprecision(1) << options.app << " on " << options.input << ": "
            << app.input << '\n'
            << (runs.size() > 1 ? "last run: " : "") << to_string(report.status) << " in "
            << micro(static_cast<std::uint64_t>(report.run_time.count())) / 1e3 << " ms, at most "
            << groups << " groups of " << *options.local_size << ", " << report.joins << " joined, "
            << report.leaves << " left\n";
  print(runs, app.edges);
  // Tasks have a line of their own in the output.
  if (report.gather.count > 0 && options.task == "none") {
    std::cout << std::setprecision(1) << "gather time p50 " << micro(report.gather.p50)
              << " us, p99 " << micro(report.gather.p99) << " us, max " << micro(report.gather.max)
              << " us\n";
  }
  for (const auto& [name, number] : outcome.result) std::cout << name << ' ' << number << "  ";
  if (!outcome.result.empty()) std::cout << '\n';
  if (outcome.verified)
    std::cout << (*outcome.verified ? "verified" : "WRONG: " + outcome.difference) << '\n';
  if (judgement && judgement->error.empty()) {
    std::cout << "legal: " << judgement->events << " events keep the rules of the model\n";
  } else if (judgement) {
    std::cout << (judgement->legal ? "ILLEGAL: " : "NOT JUDGED: ") << judgement->error << '\n';
  }
}

/// Suspends the job after a while and writes its checkpoint, unless it has finished by then.
std::function<Report(const Job&)> suspender(const Options& options) {
  return [file = options.checkpoint, after = options.suspend_after](const Job& job) {
    if (const auto report = job.wait_for(std::chrono::milliseconds{after})) return *report;
    if (job.suspend() == Status::suspended) job.checkpoint(file);
    return job.report();
  };
}

/// Writes a checkpoint at intervals, and a last one when a signal asks for the end.
std::function<Report(const Job&)> saver(const Options& options, std::stop_token stop) {
  using Clock = std::chrono::steady_clock;
  const auto every = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>{options.every.value_or(0)});
  return [file = options.checkpoint, every, stop = std::move(stop)](const Job& job) {
    constexpr std::chrono::milliseconds look{20};  // interval at which it checks for a signal
    for (auto due = Clock::now() + every;;) {
      if (auto report = job.wait_until(std::min(due, Clock::now() + look))) return *report;
      if (Clock::now() < due && !stop.stop_requested()) continue;
      if (job.suspend() != Status::suspended) return job.wait();
      job.checkpoint(file);
      if (stop.stop_requested()) return job.report();
      job.resume();
      due = Clock::now() + every;
    }
  };
}

/// Runs a kernel from a source file instead of an app.
int run_source(const Options& options, Interrupt& interrupt) {
#ifdef COHORT_WITH_COMPILER
  KernelFileOptions how = options.kernel_file;
  how.file = options.app;
  how.engine = {.engine = options.engine,
                .capacity = options.capacity,
                .device = options.device,
                .pinned = !options.share.empty(),
                .share = share_name(options.share)};
  how.barrier = choose("barrier", options.barrier, barriers).barrier;
  how.resize = options.resize;
  how.launch.max_groups = options.groups;
  how.launch.local_size = options.local_size;
  how.launch.resizable = !options.fixed;
  how.launch.stop = interrupt.token();
  return run_kernel_file(how, interrupt);
#else
  static_cast<void>(interrupt);
  throw Error{
      Errc::bad_options,
      "'" + options.app +
          "' is a source file, and this build has no compiler; configure with COHORT_COMPILER=ON"};
#endif
}

/// Lets signals stop the job while it runs. Before and after, they end the program.
std::function<Report(const Job&)> gracefully(std::function<Report(const Job&)> drive,
                                             Interrupt& interrupt) {
  return [drive = std::move(drive), &interrupt](const Job& job) {
    const Interrupt::Graceful graceful{interrupt};
    return drive(job);
  };
}

/// Runs an app on all ranks of an MPI job.
int run_mpi(const Options& options, Interrupt& interrupt) {
#ifdef COHORT_WITH_MPI
  if (options.input.empty())
    throw Error{Errc::bad_options,
                "run " + options.app + ": no input; give --input, e.g. --input rmat:20"};
  apps::RankedRun run{.app = options.app,
                      .input = options.input,
                      .settings = apps::Settings{options.settings},
                      .verify = options.verify};
  run.options.shards = options.shards;
  run.options.launch.max_groups = options.groups;
  run.options.checkpoint = options.checkpoint;
  run.options.every =
      std::chrono::nanoseconds{static_cast<std::int64_t>(options.every.value_or(0) * 1e9)};
  return run_ranks(std::move(run), options.capacity, interrupt);
#else
  static_cast<void>(options);
  static_cast<void>(interrupt);
  throw Error{Errc::unsupported,
              "--engine mpi: this build has no MPI; run scripts/setup --mpi and build again"};
#endif
}

int run(Options options, Interrupt& interrupt) {
  if (options.engine == "mpi") return run_mpi(options, interrupt);
  const EngineKind& kind = engine_kind(options.engine);
  if (const std::string why = kind.lacking(); !why.empty())
    throw Error{Errc::unsupported, "--engine " + options.engine + ": " + why};
  if (options.engine == "cpu" && !options.device.empty())
    throw Error{Errc::bad_options, "--device is for --engine cuda and opencl; drop it"};
  if (is_kernel_file(options.app)) return run_source(options, interrupt);
  if (options.input.empty())
    throw Error{Errc::bad_options, "run " + options.app +
                                       ": no input; give --input, e.g. --input " +
                                       std::string{apps::find_app(options.app).examples.front()}};
  const ResizingBarrier barrier = choose("barrier", options.barrier, barriers).barrier;
  Tasks tasks;
  if (options.task != "none") tasks.kind = &choose("task", options.task, tool::load_classes);
  if (const std::string why = tool::apps_lacking(kind); !why.empty())
    throw Error{Errc::unsupported, "--engine " + options.engine + ": " + why};
  tool::AppEngine engine{{.engine = options.engine,
                          .capacity = options.capacity,
                          .device = options.device,
                          .scheduler = options.scheduler,
                          .pinned = !options.share.empty(),  // so that leases can name exact CPUs
                          .share = share_name(options.share)},
                         options.dialect};
  announce_share(share_name(options.share));
  if (!kind.traces && !options.trace.empty())
    throw Error{Errc::bad_options,
                "--trace does not work with --engine " + options.engine + "; drop it"};
  engine.load(options.app);
  for (const std::string& file : {options.json, options.trace, options.checkpoint}) {
    if (!file.empty()) tool::check_writable(file);
  }

  const apps::Ready app = engine.prepare(options.app, options.input, options.settings);
  if (!options.local_size) options.local_size = engine.default_local_size();
  const std::uint32_t groups =
      options.groups ? *options.groups : engine.default_groups(app, *options.local_size);
  apps::RunOptions how;
  how.launch.local_size = options.local_size;
  how.launch.resizable = !options.fixed;
  how.launch.stop = interrupt.token();
  how.barrier = barrier;
  how.launch.max_groups = groups;
  how.drive = resizer(options.resize, groups);

  tool::Timeline timeline;
  timeline.name_units(kind.unit);
  if (!options.trace.empty()) how.launch.tracer = &timeline.job(options.app);
  std::optional<tool::Load> load;
  if (tasks.kind != nullptr) {
    TaskOptions task{.groups = engine.capacity(), .local_size = options.local_size};
    tasks.groups = tool::groups_of(options.task_groups, engine.capacity());
    tasks.side = engine.side_for(tasks.kind->work, task);
    task.groups = tasks.groups;
    task.priority = 1;
    if (!options.trace.empty()) task.tracer = &timeline.task(options.task + " task");
    load.emplace(engine.product(tasks.side, task), tasks.kind->period);
    how.drive = [&load](const Job& job) {
      Report report = load->drive(job);
      load->rest();  // no tasks while results are compared
      return report;
    };
  }

  how.movable = !options.checkpoint.empty() || !options.restore.empty();
  how.restore = options.restore;
  if (how.movable) {  // a checkpoint of another name is refused
    how.launch.name = options.app + " on " + options.input;
    for (const std::string& each : options.settings) how.launch.name += " -o " + each;
  }
  if (options.every) {
    how.launch.stop = {};  // not a stop token, because a signal suspends the job instead
    if (std::filesystem::exists(options.checkpoint)) how.restore = options.checkpoint;
    how.drive = saver(options, interrupt.token());
  } else if (!options.checkpoint.empty()) {
    how.drive = suspender(options);
  }

  std::deque<apps::JobTrace> traces;
  if (options.check_trace) how.traces = &traces;
  how.trace_limit = options.trace_limit;
  how.drive = gracefully(std::move(how.drive), interrupt);
  apps::Outcome outcome;
  std::vector<Run> runs;
  const auto good = [&] {
    return outcome.report.status == Status::finished && outcome.verified.value_or(true);
  };
  do {
    outcome = apps::outcome(engine.run(app, how), options.verify);
    const Report& report = outcome.report;
    runs.push_back({report.run_time, report.joins, report.leaves, outcome.verified});
  } while (runs.size() < options.repeat && good());
  const auto judgement = options.check_trace ? std::optional{judge(traces)} : std::nullopt;
  if (load) {
    load->end();
    tasks.served = load->tasks();
    tasks.wrong = load->wrong();
  }
  print(options, app, groups, outcome, runs, judgement);
  print(tasks);
  const bool suspended = outcome.report.status == Status::suspended;
  if (suspended) {
    std::cout << "checkpoint in " << options.checkpoint
              << (options.every ? ": give the same command again to continue\n"
                                : ": continue it with --restore, on any engine\n");
  } else if (options.every && outcome.report.status == Status::finished) {
    if (!how.restore.empty()) std::cout << "continued from " << options.checkpoint << '\n';
    std::error_code ignored;
    std::filesystem::remove(options.checkpoint, ignored);
  }
  if (!options.trace.empty()) {
    timeline.write(options.trace);
    std::cout << "trace in " << options.trace << ": open it at https://ui.perfetto.dev";
    if (timeline.dropped() > 0)
      std::cout << " (without the last " << timeline.dropped() << " events)";
    std::cout << '\n';
  }
  if (!options.json.empty()) {
    tool::write_atomically(options.json, to_json(options, groups, engine.capacity(), outcome, runs,
                                                 app.edges, tasks, judgement)
                                                 .dump(2) +
                                             "\n");
  }
  const bool wrong = (outcome.verified && !*outcome.verified) || tasks.wrong > 0 ||
                     (judgement && !judgement->error.empty());
  return (outcome.report.status == Status::finished || suspended) && !wrong ? fine : failed;
}

constexpr const char* for_apps = "Options of apps";
constexpr const char* for_kernel_files = "Options of kernel files (FILE.cl)";

/// Rejects options that this kind of run would ignore.
void check_kind(const CLI::App& command, bool kernel_file, bool ranks) {
  constexpr std::array for_ranks{"app",        "--input",  "--option",     "--engine", "--groups",
                                 "--capacity", "--verify", "--checkpoint", "--shards", "--every"};
  for (const CLI::Option* const option : options_of(command)) {
    if (option->count() == 0) continue;
    const auto is = [option](const char* name) { return option->check_name(name); };
    if (ranks && std::ranges::none_of(for_ranks, is))
      throw Error{Errc::bad_options,
                  option->get_name() + " does not work with --engine mpi; drop it"};
    if (!ranks && is("--shards"))
      throw Error{Errc::bad_options, "--shards is for --engine mpi; drop it"};
    if (kernel_file && option->get_group() == for_apps) {
      throw Error{Errc::bad_options,
                  option->get_name() + " is for apps, not for a kernel file; drop it"};
    }
    if (!kernel_file && option->get_group() == for_kernel_files) {
      throw Error{Errc::bad_options,
                  option->get_name() + " is for a kernel file (FILE.cl), not for an app; drop it"};
    }
  }
}

void add_app_options(CLI::App& command, Options& options) {
  auto* const resize = command.get_option("--resize");
  const auto add = [&command](const std::string& name, auto& value, const std::string& type,
                              const std::string& text) {
    return add_value(command, name, value, type, text)->group(for_apps);
  };
  add("--input", options.input, "INPUT",
      "A graph file or a generated input, e.g. grid:1000x1000; see `cohort list`");
  add("-o,--option", options.settings, "KEY=VALUE",
      "Option of the app; may be repeated; see `cohort list`");
  command
      .add_flag("--dialect", options.dialect,
                "Run the app's kernel in the OpenCL C dialect, compiled by cohortc; --engine "
                "opencl always does")
      ->group(for_apps);
  add("--scheduler", options.scheduler, "WHERE",
      "With --engine opencl: where groups are scheduled, on the host or in a work-group of the "
      "device: host|group")
      ->capture_default_str();
  auto* const task =
      add("--task", options.task, "CLASS",
          "Periodic urgent tasks next to the app, as in the paper: none|light|medium|heavy. Matrix "
          "products that take 3, 3 or 10 ms on all groups, due every 70, 40 or 40 ms");
  task->capture_default_str()->excludes(resize);
  add("--task-groups", options.task_groups, "SHARE",
      "Groups of each task: one|quarter|half|all-but-one|all, or a number; all suspends the app "
      "meanwhile")
      ->capture_default_str()
      ->needs(task);
  auto* const trace = add("--trace", options.trace, "FILE",
                          "Write a timeline of all groups to FILE, for https://ui.perfetto.dev");
  auto* const checkpoint =
      add("--checkpoint", options.checkpoint, "FILE",
          "Suspend the app and write it to FILE, for --restore on this or another engine. With "
          "--every, or with --engine mpi, where FILE is a folder: a job that died or was ended "
          "continues when the same command is given again");
  checkpoint->excludes(resize)->excludes(task)->excludes(command.get_option("--static"));
  auto* const suspend_after =
      add_number(command, "--suspend-after", options.suspend_after, 0, any_number,
                 "With --checkpoint: milliseconds until the app is suspended");
  suspend_after->capture_default_str()->needs(checkpoint)->group(for_apps);
  auto* const restore = add("--restore", options.restore, "FILE",
                            "Continue the app that --checkpoint wrote to FILE, on the same input");
  restore->excludes(command.get_option("--static"));
  add_value(command, "--every", options.every, "SECONDS",
            "With --checkpoint: interval at which checkpoints are written while the app runs "
            "(default: with --engine mpi only when the job is ended, otherwise once, after "
            "--suspend-after)")
      ->check(positive_number("--every", 1e6))
      ->needs(checkpoint)
      ->excludes(suspend_after)
      ->excludes(restore)
      ->group(for_apps);
  command.add_flag("--verify", options.verify, "Compare the result with a sequential computation")
      ->group(for_apps);
  auto* const check_trace =
      command.add_flag("--check-trace", options.check_trace,
                       "Record the events of all groups and check them by the rules of the model");
  check_trace->excludes(trace)->group(for_apps);
  add_number(command, "--trace-limit", options.trace_limit, 1, any_number,
             "With --check-trace: upper limit on the events of a job")
      ->capture_default_str()
      ->needs(check_trace)
      ->group(for_apps);
  add_number(command, "--repeat", options.repeat, 1, 1'000'000,
             "Number of runs on one engine, with the input loaded once; prints the spread")
      ->capture_default_str()
      ->excludes(trace)
      ->excludes(checkpoint)
      ->excludes(restore)
      ->group(for_apps);
  add("--json", options.json, "FILE", "Write a report of the run to FILE");
}

void add_kernel_file_options(CLI::App& command, KernelFileOptions& source) {
  const auto add = [&command](const std::string& name, auto& value, const std::string& type,
                              const std::string& text) {
    return add_value(command, name, value, type, text)->group(for_kernel_files);
  };
  add("--kernel", source.kernel, "NAME", "Kernel to run, if the file has several");
  add("--arg", source.arguments, "NAME=VALUE",
      "Parameter of the kernel; may be repeated. The value of a buffer is COUNT, COUNT*VALUE, "
      "COUNT*iota, V,V,... or @FILE; that of local memory is local:BYTES")
      ->allow_extra_args(false);
  add("--print", source.prints, "NAME[:COUNT]", "Print a buffer afterwards; may be repeated")
      ->allow_extra_args(false);
  add("-D,--define", source.defines, "NAME[=VALUE]", "Define a macro; may be repeated")
      ->allow_extra_args(false);
  add("-I,--include", source.include_paths, "DIR",
      "Add a folder to the include path; may be repeated")
      ->allow_extra_args(false);
  add("--cl-std", source.standard, "VERSION", "Version of OpenCL C, like CL1.2 (default: CL3.0)");
  command
      .add_flag("--cl-fast-relaxed-math", source.fast_math,
                "Let the compiler trade accuracy for speed, as OpenCL's option does")
      ->group(for_kernel_files);
  auto* const global =
      add("--global", source.global, "SIZES",
          "Run over a range of work-items, like 64 or 64x48, for kernels without resizing points");
  add("--local", source.local, "SIZES", "Shape of the range's work-groups, like 8x8")
      ->needs(global);
  add("--transmit", source.transmit, "STATE",
      "What joining groups receive: annotated|live|all|per-thread")
      ->capture_default_str();
}

}  // namespace

void add_run(CLI::App& tool, Action& chosen, Interrupt& interrupt) {
  CLI::App* const command = tool.add_subcommand("run", "Run an app, or a kernel from a file");
  const auto options = std::make_shared<Options>();
  command->add_option("app", options->app, "An app, see `cohort list`; or a kernel file, FILE.cl")
      ->required();
  add_value(*command, "--engine", options->engine, "ENGINE",
            "cpu, cuda or opencl; or mpi, under mpirun: " + std::string{apps::ranked_apps} +
                " on the CPUs of several ranks")
      ->capture_default_str();
  add_value(*command, "--device", options->device, "DEVICE",
            "Number of the GPU; with --engine opencl also part of its name (default: the first "
            "usable one)");
  add_number(*command, "--groups", options->groups, 1, max_groups_limit,
             "Upper limit on active groups (default: the capacity; with --engine cuda as many per "
             "SM as suit the app and its input)");
  add_number(*command, "--local-size", options->local_size, 1, max_local_size,
             "Threads per group (default: 1; on a GPU 256)");
  add_number(*command, "--capacity", options->capacity, 1, max_groups_limit,
             "Groups that run at the same time (default: usable CPUs, or SMs)");
  add_share(*command, options->share);
  auto* const resize = add_value(*command, "--resize", options->resize, "HOW",
                                 "Keep changing the number of groups: none|random:SEED");
  resize->capture_default_str();
  auto* const barrier = add_value(
      *command, "--barrier", options->barrier, "BARRIER",
      "Resizing barrier: one-pass|query|plain|modelled; the first is ours, the others are "
      "the paper's");
  barrier->capture_default_str();
  command
      ->add_flag("--static", options->fixed,
                 "Fix the number of groups, with cooperation compiled out")
      ->excludes(resize)
      ->excludes(barrier);
  add_app_options(*command, *options);
  add_number(*command, "--shards", options->shards, 1, 1U << 20U,
             "With --engine mpi: number of parts of the input; at least one for each rank")
      ->capture_default_str()
      ->group(for_apps);
  add_kernel_file_options(*command, options->kernel_file);
  command->callback([command, options, &chosen, &interrupt] {
    check_kind(*command, is_kernel_file(options->app), options->engine == "mpi");
    if (options->task == "none" && command->count("--task-groups") > 0)
      throw Error{Errc::bad_options, "--task-groups needs --task light, medium or heavy; drop it"};
    chosen = [options, &interrupt] { return run(*options, interrupt); };
  });
}

}  // namespace cohort::cli
