// Scenario "decode": decoding with a Llama, alone and while tasks hold half of the units, next to
// reading its weights at full speed on the same engine.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/decode/host.hpp"
#include "bench/harness.hpp"
#include "bench/scenario.hpp"
#include "tool/app_engine.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Workload {
  std::string input;
  apps::DecodeOptions how;
};

std::vector<Workload> workloads(bool on_cuda, bool quick) {
  const auto at = [](std::string input, std::uint32_t context, std::uint32_t tokens) {
    return Workload{std::move(input), {.tokens = tokens, .context = context}};
  };
  if (!on_cuda) return {quick ? at("llama:100m", 128, 16) : at("llama:1b", 128, 8)};
  if (quick) return {at("llama:1b", 128, 64)};
  std::vector<Workload> all;
  for (const char* const input : {"llama:1b", "llama:8b"}) {
    for (const std::uint32_t context : {128U, 1024U, 8192U}) all.push_back(at(input, context, 128));
  }
  return all;
}

template <class Engine>
constexpr bool runs_apps = std::is_same_v<Engine, cpu::Engine>;
#ifdef COHORT_WITH_CUDA_APPS
template <>
constexpr bool runs_apps<cuda::Engine> = true;
#endif

/// Samples of all runs of a contender, in nanoseconds.
struct DecodeSamples {
  std::vector<double> tokens;  ///< time of each turn
  std::vector<double> gather;  ///< time until a task had its groups
  std::vector<double> tasks;   ///< time until a task was done
  /// Time of a run, relative to running its parts one after the other.
  std::vector<double> of_sequential;
};

class DecodeBench {
 public:
  DecodeBench(tool::AppEngine& engine, const Workload& workload, const ScenarioOptions& options)
      : apps_(engine),
        options_(options),
        app_{apps::known_llama(workload.input), workload.how},
        input_(workload.input),
        groups_(engine.capacity()),
        half_(std::max(engine.capacity() / 2, 1U)) {}

  Json run() {
    verify();
    side_ = apps_.side_for(std::chrono::milliseconds{10}, {.groups = half_});
    const TaskOptions half{.groups = half_, .priority = 1};
    task_ = apps_.product(side_, half);
    whole_task_ = apps_.product(side_, {.groups = groups_, .priority = 1});
    const auto decode = [this](const char* name, std::uint32_t groups, bool fixed, bool lends) {
      return Contender{.name = name, .measure = [=, this] {
                         return decode_once(samples_[name], groups, fixed, lends);
                       }};
    };
    const Measurement measurement =
        measure(input_ + ", context " + std::to_string(app_.how.context), "ns per token",
                {{.name = reading, .measure = [this] { return read_once(); }, .reference = true},
                 decode(fixed_all, groups_, true, false),
                 decode(cooperative, groups_, false, false),
                 decode(fixed_rest, std::max(groups_ - half_, 1U), true, false),
                 decode(lending, groups_, false, true)},
                {.count = options_.repetitions, .warm_ups = 1, .stop = options_.stop});
    return record(measurement);
  }

 private:
  static constexpr const char* reading = "reading the same bytes";
  static constexpr const char* fixed_all = "static";
  static constexpr const char* cooperative = "cooperative";
  static constexpr const char* fixed_rest = "static on the other half";
  static constexpr const char* lending = "lending half";

  apps::DecodeResult solve(const apps::decode::App& app, const apps::RunOptions& run_options) {
    return apps_.engine().visit([&]<class Engine>(Engine& engine) -> apps::DecodeResult {
      if constexpr (runs_apps<Engine>) return apps::solve(engine, app, run_options);
      throw Error{Errc::unsupported, "decode: no kernel for this engine"};
    });
  }
  [[nodiscard]] apps::RunOptions on(std::uint32_t groups, bool fixed) const {
    apps::RunOptions run_options;
    run_options.launch.max_groups = groups;
    run_options.launch.resizable = !fixed;
    return run_options;
  }

  /// Verifies a few tokens, since the reference takes longer than the kernel.
  void verify() {
    apps::decode::App few = app_;
    few.how.tokens = 3;
    if (const auto wrong = few.difference(solve(few, on(groups_, false))))
      throw Error{Errc::bad_state, "decode: " + input_ + ": " + *wrong};
  }

  /// Nanoseconds that it takes to only read the bytes of a token.
  std::vector<double> read_once() {
    apps::decode::App reads = app_;
    reads.how.reads = app_.how.tokens;
    const Report report = solve(reads, on(groups_, true)).report;
    const double per_byte = static_cast<double>(report.run_time.count()) / reads.how.reads /
                            static_cast<double>(app_.model->bytes());
    return {per_byte * bytes_per_token()};
  }
  [[nodiscard]] double bytes_per_token() const {
    const apps::Llama& shape = app_.model->shape();
    const double positions = app_.how.context + (app_.how.tokens - 1) / 2.0;
    return sizeof(apps::Bf16) * (static_cast<double>(app_.model->layout().read_per_token()) +
                                 2.0 * shape.layers * shape.kv_heads * shape.head_dim * positions);
  }

  std::vector<double> decode_once(DecodeSamples& samples, std::uint32_t groups, bool fixed,
                                  bool lends) {
    apps::RunOptions run_options = on(groups, fixed);
    std::size_t tasks = 0;
    if (lends) {
      run_options.drive = [&](const Job& job) {
        for (;;) {
          const tool::Load::Served served = task_();
          wrong_ += served.right ? 0 : 1;
          if (auto report = job.wait_for(std::chrono::nanoseconds{0})) return *report;
          ++tasks;
          const auto gather = static_cast<double>(served.report.gather.count());
          samples.gather.push_back(gather);
          samples.tasks.push_back(gather + static_cast<double>(served.report.run_time.count()));
        }
      };
    }
    const apps::DecodeResult result = solve(app_, run_options);
    if (expected_.empty()) expected_ = result.tokens;
    wrong_ += result.tokens == expected_ ? 0 : 1;
    const std::vector<double> turns = result.turn_times();
    samples.tokens.insert(samples.tokens.end(), turns.begin(), turns.end());
    const auto all = static_cast<double>(result.times.back() - result.times.front());
    if (lends && tasks > 0) {
      const auto alone = static_cast<double>(whole_task_().report.run_time.count());
      samples.of_sequential.push_back(
          all / (median(samples_[cooperative].tokens) * static_cast<double>(turns.size()) +
                 alone * static_cast<double>(tasks)));
    }
    return {all / static_cast<double>(turns.size())};
  }

  Json record(const Measurement& measurement) {
    const auto ratio = [&](const char* one, const char* other) {
      return median(ratios(measurement.at(one), measurement.at(other)));
    };
    const double token = median(samples_[cooperative].tokens);
    const double read = statistics(measurement.at(reading)).p50;
    const double gb_per_s = bytes_per_token() / read;
    const double share = ratio(reading, cooperative);
    const double cost = ratio(cooperative, fixed_all) - 1;
    std::cout << measurement.name << ", " << fixed(bytes_per_token() / 1e6, 0)
              << " MB per token, read at " << fixed(gb_per_s, 1) << " GB/s\n  " << std::left
              << std::setw(26) << "" << std::right << std::setw(14) << "token p50 us"
              << std::setw(12) << "p99 us" << std::setw(12) << "tokens/s" << std::setw(16)
              << "of the reading\n";
    Json rows = Json::array();
    for (const char* const name : {fixed_all, cooperative, fixed_rest, lending}) {
      const std::vector<double>& tokens = samples_[name].tokens;
      const double p50 = median(tokens);
      std::cout << "  " << std::left << std::setw(26) << name << std::right << std::setw(14)
                << fixed(p50 / 1e3, 1) << std::setw(12) << fixed(percentile(tokens, 99) / 1e3, 1)
                << std::setw(12) << fixed(1e9 / p50, 1) << std::setw(13)
                << fixed(100 * ratio(reading, name), 0) << " %\n";
      rows.push_back({{"name", name},
                      {"token_p50_ns", p50},
                      {"token_p99_ns", percentile(tokens, 99)},
                      {"share_of_read_bandwidth", ratio(reading, name)},
                      {"token_ns", tokens}});
    }
    const DecodeSamples& lent = samples_[lending];
    std::cout << "  cost of cooperation " << fixed(100 * cost, 1) << " %";
    Json tasks = nullptr;
    if (!lent.tasks.empty()) {
      std::cout << "; " << lent.tasks.size() << " tasks on " << half_ << " groups, gathered in "
                << fixed(median(lent.gather) / 1e3, 1) << " us p50, "
                << fixed(percentile(lent.gather, 99) / 1e3, 1) << " us p99; together "
                << fixed(median(lent.of_sequential), 2) << "x of one after the other";
      tasks = {{"matrix_side", side_},
               {"groups", half_},
               {"number", lent.tasks.size()},
               {"gather_p50_ns", median(lent.gather)},
               {"gather_p99_ns", percentile(lent.gather, 99)},
               {"latency_p50_ns", median(lent.tasks)},
               {"latency_p99_ns", percentile(lent.tasks, 99)},
               {"of_sequential", median(lent.of_sequential)},
               {"gather_ns", lent.gather},
               {"latency_ns", lent.tasks}};
    }
    std::cout << (wrong_ == 0 ? "; all results are right"
                              : "; " + std::to_string(wrong_) + " results are WRONG")
              << "\n"
              << std::endl;
    const Json measured = to_json(measurement);
    Json result{{"input", input_},
                {"context", app_.how.context},
                {"tokens", app_.how.tokens},
                {"batch", app_.how.batch},
                {"groups", groups_},
                {"bytes_per_token", bytes_per_token()},
                {"read_gb_per_s", gb_per_s},
                {"token_p50_ns", token},
                {"share_of_read_bandwidth", share},
                {"cooperation_cost", cost},
                {"token_p99_lending_of_ideal",
                 percentile(lent.tokens, 99) / median(samples_[fixed_rest].tokens)},
                {"wrong_results", wrong_},
                {"decoders", std::move(rows)},
                {"tasks", std::move(tasks)}};
    result.update(measured);
    return result;
  }

  tool::AppEngine& apps_;
  const ScenarioOptions& options_;
  apps::decode::App app_;
  std::string input_;
  std::uint32_t groups_;
  std::uint32_t half_;
  std::uint32_t side_ = 0;
  std::function<tool::Load::Served()> task_;
  std::function<tool::Load::Served()> whole_task_;
  std::map<std::string, DecodeSamples> samples_;
  std::vector<std::vector<std::uint32_t>> expected_;  ///< the tokens that every run must produce
  std::uint64_t wrong_ = 0;
};

Json run_decode(const ScenarioOptions& options) {
  EngineSpec spec{.engine = options.engine, .capacity = options.capacity};
  if (options.engine == "cpu") {
    spec.pinned = true;
    if (!spec.capacity) spec.capacity = std::min(cpu::usable_cpus(), 2U);
  }
  tool::AppEngine engine{spec};
  Json all = Json::array();
  for (const Workload& workload : workloads(options.engine == "cuda", options.quick)) {
    const std::string name = workload.input + " " + std::to_string(workload.how.context);
    if (name.find(options.only) == std::string::npos) continue;
    all.push_back(DecodeBench{engine, workload, options}.run());
  }
  if (all.empty()) {
    throw Error{Errc::bad_options, "--only '" + options.only + "': no such workload; try llama:1b"};
  }
  return {{"decode", std::move(all)}};
}

}  // namespace

const Scenario decode_scenario{
    .name = "decode",
    .summary = "decoding with a Llama, alone and while tasks hold half of the units",
    .run = &run_decode,
    .accepts = {.capacity = true, .only = true}};

}  // namespace cohort::bench
