#include "bench/multitask.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "bench/device_record.hpp"
#include "bench/harness.hpp"
#include "bench/pairs.hpp"
#include "bench/store.hpp"
#include "bench/summary.hpp"
#include "tool/app_engine.hpp"
#include "tool/load.hpp"
#include "tool/other_programs.hpp"
#include "tool/product.hpp"
#include "tool/progress.hpp"
#include "tool/record.hpp"
#include "tool/timeline.hpp"
#ifdef COHORT_WITH_CUDA
#include "bench/cuda/scenarios.hpp"
#endif

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using std::chrono::milliseconds;

/// A configuration to measure. Every round measures it once more.
struct Configuration {
  const Pair* pair;
  NamedBarrier barrier;
  const tool::LoadClass* load;  // null if the app runs alone
  std::string_view share;       // share of the groups that the tasks get

  [[nodiscard]] std::string key() const {
    std::string result = pair->name() + " | " + std::string{barrier.name} + " | ";
    return load == nullptr ? result + "alone"
                           : result + std::string{load->name} + " | " + std::string{share};
  }
};

/// The part of the experiment that a scenario needs.
struct Wish {
  bool paper_barriers = false;
  std::span<const std::string_view> shares;
  bool time_slicing = false;                     // whether to measure the driver's time slicing too
  std::span<const std::string_view> pairs = {};  // only these pairs; if empty, all
};

std::vector<Configuration> configurations(const std::vector<Pair>& pairs, const Wish& wish,
                                          std::uint32_t capacity) {
  std::vector<Configuration> result;
  for (const Pair& pair : pairs) {
    if (!wish.pairs.empty() && std::ranges::find(wish.pairs, pair.name()) == wish.pairs.end())
      continue;
    for (const NamedBarrier& barrier : all_barriers) {
      if (barrier.kind != ResizingBarrier::one_pass &&
          !(wish.paper_barriers && pair.style == Style::barriers))
        continue;
      result.push_back({&pair, barrier, nullptr, ""});
      for (const tool::LoadClass& load : tool::load_classes) {
        std::set<std::uint32_t> seen;  // on a small machine, a quarter may be the same as one
        for (const std::string_view share : wish.shares) {
          if (share != tool::hybrid_share && !seen.insert(tool::groups_of(share, capacity)).second)
            continue;
          // The paper's outlier is one configuration. Its remedy, steps cut into chunks, is
          // measured only on that one.
          if (pair.chunked && (load.name != "medium" || share != "all-but-one")) continue;
          result.push_back({&pair, barrier, &load, share});
        }
      }
    }
  }
  return result;
}

/// Matrix sizes of the tasks by class and share: calibrated once, and stored with the samples.
class Products {
 public:
  Products(tool::AppEngine& engine, Store& store, bool fixed_duration)
      : engine_(engine), store_(store), fixed_duration_(fixed_duration) {}

  /// The side length of the matrices for a task on `groups` groups.
  std::uint32_t side(const tool::LoadClass& load, std::uint32_t groups) {
    const std::uint32_t on = fixed_duration_ ? groups : engine_.capacity();
    const std::string key = "calibration | " + std::to_string(load.work.count()) + " ms on " +
                            std::to_string(on) + " groups";
    if (const Json* const known = store_.find(key)) return (*known)["side"];
    const std::uint32_t side = engine_.side_for(load.work, {.groups = on});
    store_.add({{"key", key}, {"calibration", load.work.count()}, {"groups", on}, {"side", side}});
    return side;
  }

  /// The task. It is made once for each side, kind and number of groups, unless it is traced.
  std::function<tool::Load::Served()> at(std::uint32_t side, TaskOptions options) {
    const auto make = [&] { return engine_.product(side, options); };
    if (options.tracer != nullptr) return make();
    auto& product = products_[{side, options.groups, options.kind}];
    if (!product) product = make();
    return product;
  }

 private:
  tool::AppEngine& engine_;
  Store& store_;
  bool fixed_duration_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>,
           std::function<tool::Load::Served()>>
      products_;
};

/// Measures configurations and stores their samples.
class Experiment {
 public:
  Experiment(const ScenarioOptions& options, Store& store, tool::AppEngine& engine)
      : options_(options),
        store_(store),
        engine_(engine),
        products_(engine, store, options.fixed_duration) {
    for (const Json& each : store.samples()) {
      if (each.contains("lacking")) lacking_.insert(each["lacking"]);
      if (each.contains("job_ns")) learn(each);
    }
  }

  /// Whether a configuration still has to be measured in a round.
  [[nodiscard]] bool is_due(const Configuration& what, std::uint32_t round) const {
    return !store_.has(key_of(what, round)) && !lacking_.contains(barrier_of(what));
  }

  /// Expected time of a sample set: the mean of earlier sets, or else the nominal time, scaled as
  /// in other sets of the pair.
  [[nodiscard]] Seconds cost(const Configuration& what) const {
    if (const auto own = costs_.find(what.key()); own != costs_.end())
      return own->second.took / own->second.sets;
    const auto others = pair_costs_.find(what.pair->name());
    if (others == pair_costs_.end()) return span(what);
    return span(what) * (others->second.took / others->second.span);
  }

  /// Loads a pair's input and runs the app, which gives cost() a first estimate.
  void warm_up(const Pair& pair) {
    const Configuration alone{&pair, one_pass, nullptr, ""};
    (void)run(alone, {}, false, nullptr);
    if (pair_costs_.contains(pair.name())) return;
    const auto begin = Clock::now();
    const Outcome once = run(alone, {}, false, nullptr);
    const Seconds took = Clock::now() - begin;
    const Seconds job = std::chrono::nanoseconds{once.job_times.front()};
    const auto [jobs, meant] = enough(alone);
    pair_costs_[pair.name()] = {.took = took * std::max<double>(jobs, meant / job + 0.5),
                                .span = meant};
  }

  /// Measures a configuration.
  void measure(const Configuration& what, std::uint32_t round) {
    try {
      Json fresh = sample(what, round);
      learn(fresh);
      store_.add(std::move(fresh));
    } catch (const Error& error) {
      // An app that has only our barrier refuses the others in its first run without tasks. All
      // other errors are passed on.
      if (error.code() != Errc::bad_options || what.barrier.kind == ResizingBarrier::one_pass ||
          what.load != nullptr)
        throw;
      lacking_.insert(barrier_of(what));
      const std::string lacks = "lacking | " + barrier_of(what);
      if (!store_.has(lacks))
        store_.add({{"key", lacks}, {"lacking", barrier_of(what)}, {"why", error.what()}});
    }
  }

  /// Records a timeline while tasks come and go, like the paper's figure 1.
  void record_timeline(const Configuration& what, const std::filesystem::path& file) {
    tool::Timeline timeline{std::size_t{1} << 16U};
    timeline.name_units(engine_.engine().kind().unit);
    (void)run(what, {}, false, &timeline);
    timeline.write(file);
  }

 private:
  struct Outcome {
    std::vector<std::uint64_t> job_times;
    std::vector<tool::TaskSample> tasks;
    std::uint64_t wrong = 0;
    std::optional<bool> verified;
    std::uint32_t side = 0;
  };
  /// Minimum size of a sample set.
  struct Enough {
    std::uint32_t jobs = 1;
    milliseconds span{0};
  };
  /// Accumulated cost of sample sets.
  struct Cost {
    Seconds took{0};
    Seconds span{0};  ///< nominal length of these sets
    std::uint32_t sets = 0;
  };

  [[nodiscard]] std::uint32_t groups_of(const Configuration& what) const {
    return what.share == tool::hybrid_share ? engine_.capacity()
                                            : tool::groups_of(what.share, engine_.capacity());
  }

  static std::string barrier_of(const Configuration& what) {
    return what.pair->name() + " | " + std::string{what.barrier.name};
  }

  static std::string key_of(const Configuration& what, std::uint32_t round) {
    return what.key() + " | " + std::to_string(round);
  }

  /// Nominal length of a sample set: some periods of the tasks.
  [[nodiscard]] milliseconds span(const Configuration& what) const {
    constexpr milliseconds alone{40};
    return (options_.quick ? 3 : 6) * (what.load == nullptr ? alone : what.load->period);
  }

  [[nodiscard]] Enough enough(const Configuration& what) const {
    constexpr std::uint32_t runs = 10;  // runs per configuration, in all rounds together
    const std::uint32_t rounds = options_.quick ? runs : options_.repetitions;
    return {.jobs = (runs + rounds - 1) / rounds, .span = span(what)};
  }

  void learn(const Json& sample) {
    const std::string key = sample["key"];
    for (Cost* const each :
         {&costs_[key.substr(0, key.rfind(" | "))], &pair_costs_[sample["pair"]]}) {
      each->took += std::chrono::nanoseconds{sample["took_ns"].get<std::int64_t>()};
      each->span += milliseconds{sample["span_ms"].get<std::int64_t>()};
      ++each->sets;
    }
  }

  /// The app of a pair, with its input, which is loaded once.
  const apps::Ready& ready(const Pair& pair) {
    const auto found = ready_.find(pair.name());
    if (found != ready_.end()) return found->second;
    return ready_.emplace(pair.name(), engine_.prepare(pair.app, pair.input, pair.settings))
        .first->second;
  }

  /// Runs the app until there are enough jobs, and at least one period of the tasks.
  Outcome run(const Configuration& what, Enough enough, bool verify, tool::Timeline* timeline) {
    std::optional<tool::Load> load;
    Outcome outcome;
    std::size_t least_tasks = 0;
    if (what.load == nullptr) {
      load.emplace();
    } else {
      TaskOptions task{.groups = groups_of(what), .priority = 1};
      outcome.side = products_.side(*what.load, task.groups);
      if (timeline != nullptr)
        task.tracer = &timeline->task(std::string{what.load->name} + " task");
      if (what.share == tool::hybrid_share) {
        task.kind = what.key();
        task.finish_within = what.load->period;
      }
      load.emplace(products_.at(outcome.side, task), what.load->period);
      least_tasks = 2;
    }
    Tracer* const tracer = timeline == nullptr ? nullptr : &timeline->job(what.pair->app);
    const auto wanted = static_cast<std::uint64_t>(std::chrono::nanoseconds{enough.span}.count());
    do {
      apps::RunOptions how;
      how.launch.stop = options_.stop;
      how.launch.tracer = tracer;
      how.barrier = what.barrier.kind;
      how.results = verify && load->jobs().empty();
      how.drive = [&load, verified = how.results](const Job& job) {
        Report report = load->drive(job);
        if (verified) load->rest();  // no tasks while results are compared
        return report;
      };
      const apps::Outcome ran = apps::outcome(engine_.run(ready(*what.pair), how), true);
      if (options_.stop.stop_requested()) throw Stopped{};
      if (ran.report.status != Status::finished) {
        throw std::runtime_error{what.key() + ": the job is " + to_string(ran.report.status)};
      }
      if (ran.verified) outcome.verified = outcome.verified.value_or(true) && *ran.verified;
    } while (load->jobs().size() < enough.jobs || load->jobs().back().end < wanted ||
             load->begun() < least_tasks);
    load->end();
    for (const tool::Span& job : load->jobs()) outcome.job_times.push_back(job.end - job.begin);
    outcome.tasks = load->tasks();
    outcome.wrong = load->wrong();
    return outcome;
  }

  Json sample(const Configuration& what, std::uint32_t round) {
    const tool::OtherPrograms others;
    const auto begin = Clock::now();
    const Outcome outcome = run(what, enough(what), round == 0, nullptr);
    const std::chrono::nanoseconds took = Clock::now() - begin;
    Json result{
        {"key", key_of(what, round)},    {"pair", what.pair->name()}, {"app", what.pair->app},
        {"barrier", what.barrier.name},  {"class", nullptr},          {"round", round},
        {"span_ms", span(what).count()}, {"took_ns", took.count()},   {"disturbed", others.share()},
        {"job_ns", outcome.job_times},   {"verified", nullptr}};
    if (outcome.verified) result["verified"] = *outcome.verified;
    if (what.load != nullptr) {
      auto tasks = Json::array();
      for (const tool::TaskSample& each : outcome.tasks)
        tasks.push_back({each.start, each.gather, each.run, each.beside ? 1 : 0, each.groups});
      result["class"] = what.load->name;
      result["share"] = what.share;
      result["groups"] = groups_of(what);
      result["side"] = outcome.side;
      result["tasks"] = std::move(tasks);
      result["wrong"] = outcome.wrong;
    }
    return result;
  }

  const ScenarioOptions& options_;
  Store& store_;
  tool::AppEngine& engine_;
  Products products_;
  std::map<std::string, apps::Ready> ready_;  // indexed by pair
  std::set<std::string> lacking_;
  std::map<std::string, Cost> costs_;  // indexed by configuration
  std::map<std::string, Cost> pair_costs_;
};

Json header(const ScenarioOptions& options, const AnyEngine& engine, const Pairs& pairs) {
  Json result{{"experiment", "multitask"}};
  result.update(tool::provenance());
  result["engine"] = options.engine;
  result["device"] = device_record(engine);
  result["quick"] = options.quick;
  result["groups"] = engine.capacity();
  result["on_cpus"] = engine.on_cpus();
  result["load"] = options.fixed_duration ? "fixed duration: a task takes E on its share"
                                          : "fixed work: a task takes E on all groups";
  auto& list = result["pairs"] = Json::array();
  for (const Pair& pair : pairs.runnable) {
    list.push_back({{"name", pair.name()},
                    {"app", pair.app},
                    {"input", pair.input},
                    {"options", pair.settings},
                    {"note", pair.note}});
  }
  result["missing"] = pairs.missing;
  return result;
}

/// A sample set.
struct Step {
  const Configuration* what;
  std::uint32_t round;
};

/// Orders the sample sets round by round, so that a temporary disturbance affects all
/// configurations. A round goes pair by pair, in a rotating order. The first round begins with the
/// runs that show which barriers an app has.
std::vector<Step> steps(const std::vector<Pair>& pairs, const std::vector<Configuration>& all,
                        std::uint32_t rounds) {
  std::vector<Step> result;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (const Pair& pair : pairs) {
      std::vector<const Configuration*> of_pair;
      for (const Configuration& each : all) {
        if (each.pair == &pair) of_pair.push_back(&each);
      }
      for (std::size_t i = 0; i < of_pair.size(); ++i)
        result.push_back({of_pair[round == 0 ? i : (i + round) % of_pair.size()], round});
    }
  }
  return result;
}

std::string in_words(Seconds time) {
  const bool minutes = time > Seconds{100};
  return std::to_string(std::lround(time.count() / (minutes ? 60 : 1))) + (minutes ? " min" : " s");
}

/// Measures the missing sample sets. First prints how long that will take.
void measure_all(Experiment& experiment, const Pairs& pairs, const std::vector<Configuration>& all,
                 const ScenarioOptions& options) {
  std::vector<Step> left = steps(pairs.runnable, all, options.repetitions);
  const std::size_t wanted = left.size();
  std::erase_if(left, [&](const Step& step) { return !experiment.is_due(*step.what, step.round); });
  {
    const Progress progress;
    for (const Pair& pair : pairs.runnable) {
      if (std::ranges::none_of(left, [&](const Step& step) { return step.what->pair == &pair; }))
        continue;
      progress.show("loading " + pair.input);
      experiment.warm_up(pair);
    }
  }
  const auto rest = [&](std::size_t from) {
    Seconds sum{0};
    for (std::size_t i = from; i < left.size(); ++i) sum += experiment.cost(*left[i].what);
    return in_words(sum);
  };
  std::cout << all.size() << " configurations, " << options.repetitions << " rounds: " << wanted
            << " sample sets, " << wanted - left.size() << " of them done; the rest takes about "
            << rest(0) << std::endl;
  Progress progress{left.size()};
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto [what, round] = left[i];
    if (options.stop.stop_requested()) throw Stopped{};
    if (progress.on_terminal()) progress.step(rest(i) + " left  " + what->key());
    if (experiment.is_due(*what, round)) experiment.measure(*what, round);
  }
}

/// The pair to be traced. Its run should last for several tasks and have visibly distinct steps, or
/// no steps if there are many groups.
Pair shown(std::uint32_t groups) {
  if (groups <= 16) {
    return {.app = "color",
            .input = "grid:1000x1000",
            .title = "grid",
            .settings = {"algorithm=paper"},
            .style = Style::barriers,
            .note = {},
            .chunked = false};
  }
  return {.app = "octree",
          .input = "particles:3000000",
          .title = "particles",
          .settings = {},
          .style = Style::stealing,
          .note = {},
          .chunked = false};
}

void record_timeline(Experiment& experiment, const AnyEngine& engine,
                     const std::filesystem::path& file) {
  const std::optional<Pair> here = adapted(shown(engine.capacity()), engine.kind());
  if (here)
    experiment.record_timeline({&*here, one_pass, &tool::load_classes.back(), "half"}, file);
}

Json run(const ScenarioOptions& options, Wish wish) {
  EngineSpec spec{
      .engine = options.engine, .capacity = options.capacity, .scheduler = options.scheduler};
  // At least 8 groups, so that the shares differ.
  if (options.engine == "cpu" && !spec.capacity && wish.pairs.empty())
    spec.capacity = std::max(8U, cpu::usable_cpus());
  tool::AppEngine apps{spec};
  const AnyEngine& engine = apps.engine();
  const std::uint32_t capacity = engine.capacity();
  wish.paper_barriers = wish.paper_barriers && apps.paper_barriers();
  const Pairs pairs = pairs_on(engine, options.quick, options.only);
  for (const Pair& each : pairs.runnable) apps.load(each.app);
  const Json about = header(options, engine, pairs);
  std::optional<Store> store;
  if (options.folder.empty()) {
    store.emplace(about);
  } else {
    store.emplace(
        options.folder / multitask_file(engine_in_files(options.engine, options.scheduler),
                                        options.fixed_duration),
        about);
  }
  for (const std::string& each : pairs.missing) std::cout << "note: " << each << '\n';
  if (engine.on_cpus() && capacity > cpu::usable_cpus()) {
    std::cout
        << "note: " << capacity << " groups on " << cpu::usable_cpus()
        << " CPUs: groups take turns on the CPUs, so a task on few groups gets more of the machine "
           "than its share of the groups\n";
  }
  std::cout << std::flush;

  Experiment experiment{options, *store, apps};
  const std::filesystem::path timeline =
      options.folder / tool::file_of("timeline.trace", options.engine, ".json");
  if (!options.folder.empty() && engine.kind().traces && !std::filesystem::exists(timeline))
    record_timeline(experiment, engine, timeline);
#ifdef COHORT_WITH_CUDA
  constexpr const char* slicing = "time slicing";
  if (wish.time_slicing && options.engine == "cuda" && !store->has(slicing))
    store->add({{"key", slicing}, {"time_slicing", cuda_time_slicing(options)}});
#endif
  measure_all(experiment, pairs, configurations(pairs.runnable, wish, capacity), options);
  return summarise_multitask(store->header(), store->samples());
}

}  // namespace

std::string multitask_file(std::string_view engine, bool fixed_duration) {
  return tool::file_of(fixed_duration ? "multitask-fixed-duration" : "multitask", engine, ".jsonl");
}

namespace {

Json run_multitask(const ScenarioOptions& options) {
  Json summary =
      run(options, {.paper_barriers = true, .shares = std::span{tool::share_names}.first(4)});
  print_performance(summary);
  return summary;
}

Json run_preemption(const ScenarioOptions& options) {
  Json summary =
      run(options, {.paper_barriers = false, .shares = tool::share_names, .time_slicing = true});
  print_preemption(summary);
  return summary;
}

/// Pairs that are often, and pairs that are seldom at a resizing point; with and without barriers.
constexpr std::array<std::string_view, 4> hybrid_pairs{"color ecology1", "l-sssp rmat",
                                                       "l-sssp USA-road NY", "octree particles"};

Json run_hybrid(const ScenarioOptions& options) {
  std::vector<std::string_view> shares{tool::share_names.begin(), tool::share_names.end()};
  shares.push_back(tool::hybrid_share);
  ScenarioOptions in_memory = options;
  in_memory.folder.clear();
  const Json summary =
      run(in_memory, {.paper_barriers = false, .shares = shares, .pairs = hybrid_pairs});
  print_hybrid(summary);
  Json record;
  for (const char* name : {"device", "groups", "on_cpus", "load"})
    record[name] = summary["header"][name];
  for (const char* name :
       {"calibration", "sample_sets", "wrong_results", "hybrid", "configurations"})
    record[name] = summary[name];
  return record;
}

}  // namespace

const Scenario multitask_scenario{
    .name = "multitask",
    .summary = "section 5.4: apps next to tasks of 3 classes on 4 shares, with 3 barriers",
    .run = &run_multitask,
    .accepts = {.capacity = true, .only = true},
    .keeps = Scenario::Keeps::samples};

const Scenario preemption_scenario{
    .name = "preemption",
    .summary = "section 5.5: the smallest share that meets the period, and suspending",
    .run = &run_preemption,
    .accepts = {.capacity = true, .only = true},
    .keeps = Scenario::Keeps::samples};

const Scenario hybrid_scenario{
    .name = "hybrid",
    .summary = "section 5.5: the engine gathers or suspends, against each fixed choice",
    .run = &run_hybrid,
    .accepts = {.capacity = true, .only = true}};

}  // namespace cohort::bench
