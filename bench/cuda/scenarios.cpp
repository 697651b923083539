#include "bench/cuda/scenarios.hpp"

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/child.hpp"
#ifdef COHORT_WITH_CUDA_APPS
#include "bench/cuda/beside.hpp"
#endif
#include "bench/cuda/device.hpp"
#include "bench/cuda/words.hpp"
#include "bench/harness.hpp"
#include "cohort/error.hpp"

namespace cohort::bench {
namespace {

using device::Bench;

/// Times barriers of blocks of 256 threads, with one and with two blocks on an SM.
template <class Contenders>
nlohmann::ordered_json measure_barriers(std::uint32_t sms, const ScenarioOptions& options,
                                        Contenders&& contenders) {
  const Repetitions plan{.count = options.repetitions, .stop = options.stop};
  auto measurements = nlohmann::ordered_json::array();
  for (const std::uint32_t on_an_sm : {1U, 2U}) {
    const Bench::Load load{.blocks = on_an_sm * sms,
                           .batches = options.quick ? 5U : 20U,
                           .barriers = options.quick ? 200U : 2000U};
    measurements.push_back(reported(measure(std::to_string(load.blocks) + " blocks of 256",
                                            "ns per barrier", contenders(load), plan)));
  }
  return measurements;
}

nlohmann::ordered_json run_cuda_barrier(const ScenarioOptions& options) {
  nlohmann::ordered_json record{{"device", described()}};
  const auto sms = record["device"]["sms"].get<std::uint32_t>();
  Bench bench;
  auto measurements = measure_barriers(sms, options, [&](const Bench::Load& load) {
    return std::vector<Contender>{
        {.name = "cohort resizing",
         .measure = [&bench, load] { return bench.resizing_barrier(load); }},
        {.name = "cohort global", .measure = [&bench, load] { return bench.global_barrier(load); }},
        {.name = "cohort static", .measure = [&bench, load] { return bench.static_barrier(load); }},
        {.name = "grid.sync",
         .measure = [&bench, load] { return bench.grid_sync(load); },
         .reference = true},
    };
  });
  record["measurements"] = std::move(measurements);
  return record;
}

nlohmann::ordered_json run_cuda_gather(const ScenarioOptions& options) {
  nlohmann::ordered_json record{{"device", described()}};
  const auto sms = record["device"]["sms"].get<std::uint32_t>();
#ifdef COHORT_WITH_CUDA_APPS
  record["apps"] = gather_beside_apps(options);
  if (!options.only.empty()) return record;
#endif
  constexpr std::uint32_t interval = 10'000;
  record["offer_interval_ns"] = interval;
  Bench bench;
  auto measurements = nlohmann::ordered_json::array();
  struct Kind {
    Bench::Beside beside;
    const char* name;
    double allowed;  // allowed time beyond T, in addition to the idle GPU's time
  };
  constexpr Kind kinds[] = {{Bench::Beside::any, "any order", 20'000},
                            {Bench::Beside::barrier, "resizing barrier", 20'000},
                            {Bench::Beside::highest_first, "highest first", 30'000}};
  using By = Bench::By;
  for (const auto& [by, name] : {std::pair{By::lease, "lease"}, std::pair{By::submit, "submit"}}) {
    for (const std::uint32_t wanted : {1U, sms / 4, sms / 2, sms - 1}) {
      const auto measure = [&, how = by](Bench::Beside beside) {
        return bench.gather({.beside = beside,
                             .sms = wanted,
                             .trials = options.quick ? 20U : 200U,
                             .interval_ns = interval,
                             .by = how},
                            options.stop);
      };
      head(std::to_string(wanted) + " of " + std::to_string(sms) + " SMs, " + "by " + name +
           ", offers every 10 us");
      const std::vector<double> idle = measure(Bench::Beside::nothing);
      row("idle GPU", idle);
      nlohmann::ordered_json entry{{"sms", wanted}, {"by", name}, {"idle", numbers(idle)}};
      for (const Kind& kind : kinds) {
        std::vector<double> times;
        try {
          times = measure(kind.beside);
        } catch (const Error& error) {
          const bool known = error.code() == Errc::bad_state || error.code() == Errc::bad_options;
          if (!known || options.stop.stop_requested()) throw;
          std::cout << "  " << kind.name << ", " << wanted << " SMs: FAILED, " << error.what()
                    << std::endl;
          entry[kind.name] = {{"failed", error.what()}};
          record["failed"] = true;
          continue;
        }
        row(kind.name, times);
        const double extra = percentile(times, 50) - percentile(idle, 50);
        const double extra99 = percentile(times, 99) - percentile(idle, 50);
        const double limit = interval + kind.allowed;
        std::cout << "    over the idle GPU: p50 " << in_us(extra) << " us ("
                  << (extra <= limit ? "within " : "NOT within ") << in_us(limit, 0) << "), p99 "
                  << in_us(extra99) << " us\n";
        nlohmann::ordered_json beside = numbers(times);
        beside["extra_p50"] = extra;
        beside["extra_p99"] = extra99;
        beside["limit"] = limit;
        beside["within"] = extra <= limit;
        entry[kind.name] = std::move(beside);
      }
      std::cout << std::endl;
      measurements.push_back(std::move(entry));
    }
  }
  record["gather"] = std::move(measurements);
  return record;
}

nlohmann::ordered_json run_cuda_lease(const ScenarioOptions& options) {
  nlohmann::ordered_json record{{"device", described()}};
  const auto sms = record["device"]["sms"].get<std::uint32_t>();
#ifdef COHORT_WITH_CUDA_APPS
  record["apps"] = lease_beside_apps(options);
  if (!options.only.empty()) return record;
#endif
  Bench bench;
  auto entries = nlohmann::ordered_json::array();
  for (const std::uint32_t size : {512U, 2048U}) {
    for (const std::uint32_t wanted : {sms / 4, sms / 2, sms - 1}) {
      const Bench::Products products = bench.products(size, wanted, options.quick ? 10 : 100);
      if (products.alone.empty()) {
        std::cout << "no cuBLAS on this machine\n";
        record["cublas"] = false;
        return record;
      }
      head("cublasSgemm " + std::to_string(size) + ", a lease of " + std::to_string(wanted) +
           " SMs next to a kernel with a barrier every 10 us: " +
           (products.verified ? "both verified" : "WRONG"));
      row("alone, all SMs", products.alone);
      row("under the lease", products.leased);
      std::cout << std::endl;
      entries.push_back({{"size", size},
                         {"sms", wanted},
                         {"verified", products.verified},
                         {"leaves", products.leaves},
                         {"alone", numbers(products.alone)},
                         {"leased", numbers(products.leased)}});
    }
  }
  record["products"] = std::move(entries);
  return record;
}

nlohmann::ordered_json run_cuda_function(const ScenarioOptions& options) {
  nlohmann::ordered_json record{{"device", described()}};
  const auto sms = record["device"]["sms"].get<std::uint32_t>();
  Bench bench;
  const Repetitions plan{.count = options.repetitions, .stop = options.stop};
  auto measurements = measure_barriers(sms, options, [&](const Bench::Load& load) {
    return std::vector<Contender>{
        {.name = "__global__", .measure = [&bench, load] { return bench.grid_function(load); }},
        {.name = "function object",
         .measure = [&bench, load] { return bench.resizing_barrier(load); }},
        {.name = "grid.sync",
         .measure = [&bench, load] { return bench.grid_sync(load); },
         .reference = true},
    };
  });

  std::vector<double> ported;
  std::vector<double> original;
  const std::uint32_t steps = options.quick ? 200 : 1000;
  measurements.push_back(reported(
      measure("conjugate gradients", "ns per iteration",
              {
                  {.name = "port", .measure = [&] { return bench.solve(true, steps, ported); }},
                  {.name = "cooperative groups",
                   .measure = [&] { return bench.solve(false, steps, original); },
                   .reference = true},
              },
              plan)));
  const bool same = ported == original;
  std::cout << "both solvers give " << (same ? "the same bits" : "DIFFERENT RESULTS") << '\n';
  record["measurements"] = std::move(measurements);
  record["same_bits"] = same;

  auto gathers = nlohmann::ordered_json::array();
  for (const std::uint32_t wanted : {1U, sms / 4, sms / 2, sms - 1}) {
    const auto measure_next_to = [&](Bench::Beside beside) {
      return bench.gather({.beside = beside, .sms = wanted, .trials = options.quick ? 20U : 200U},
                          options.stop);
    };
    head("a lease of " + std::to_string(wanted) + " of " + std::to_string(sms) + " SMs");
    const std::vector<double> idle = measure_next_to(Bench::Beside::nothing);
    const std::vector<double> beside = measure_next_to(Bench::Beside::solver);
    row("idle GPU", idle);
    row("next to the solver", beside);
    const double extra = percentile(beside, 50) - percentile(idle, 50);
    std::cout << "    over the idle GPU: p50 " << in_us(extra) << " us\n" << std::endl;
    gathers.push_back({{"sms", wanted},
                       {"idle", numbers(idle)},
                       {"solver", numbers(beside)},
                       {"extra_p50", extra}});
  }
  record["gather"] = std::move(gathers);
  return record;
}

nlohmann::ordered_json run_cuda_fairness(const ScenarioOptions& options) {
  nlohmann::ordered_json record{{"device", described()}};
  const auto seconds = options.quick ? 2U : 5U;
  const bool ended = Child{{"bench", "cuda-spin-barrier"}}
                         .output_within(std::chrono::seconds{seconds})
                         .has_value();
  std::cout << "a plain spin barrier, one block more than fit: "
            << (ended ? "FINISHED, unexpectedly" : "hangs") << " (" << seconds << " s given)\n";
  Bench bench;
  std::uint32_t groups = 0;
  const std::uint32_t rounds = options.quick ? 100 : 10'000;
  const bool finished = bench.many_groups_finish(4, rounds, &groups);
  std::cout << "on cohort, " << groups << " groups, " << rounds
            << " barriers: " << (finished ? "finishes" : "DOES NOT FINISH") << std::endl;
  record["spin_barrier_hangs"] = !ended;
  record["seconds_given"] = seconds;
  record["groups"] = groups;
  record["rounds"] = rounds;
  record["cohort_finishes"] = finished;

  const auto sms = record["device"]["sms"].get<std::uint32_t>();
  constexpr std::uint32_t barriers = 10'000;
  std::cout << "\na kernel of another stream holds SMs until kernels with " << barriers
            << " barriers are done:\n";
  auto held = nlohmann::ordered_json::array();
  for (const std::uint32_t each : {0U, 1U, sms / 4, sms - 1}) {
    const std::string fixed = Child{{"bench", "cuda-fixed-barrier", std::to_string(each)}}
                                  .output_within(std::chrono::seconds{20})
                                  .value_or("hangs\n");
    const bool fixed_finishes = fixed == "finishes\n";
    nlohmann::ordered_json entry{{"sms_held", each}, {"fixed_finishes", fixed_finishes}};
    std::cout << "  " << each << " of " << sms << " SMs held: a fixed number of blocks "
              << (fixed_finishes ? "finishes" : "hangs");
    if (each != 0) {
      const Bench::NextToHeld ours = bench.function_next_to(each, barriers);
      entry["cohort_finishes"] = ours.finishes;
      entry["groups"] = ours.groups;
      entry["seconds"] = ours.seconds;
      std::cout << ", cohort " << (ours.finishes ? "finishes" : "DOES NOT FINISH") << " with "
                << ours.groups << " groups in " << bench::fixed(ours.seconds * 1e3, 1) << " ms";
    }
    std::cout << std::endl;
    held.push_back(std::move(entry));
  }
  record["barriers"] = barriers;
  record["next_to_held_sms"] = std::move(held);
  return record;
}

}  // namespace

const Scenario cuda_barrier_scenario{
    .name = "barrier",
    .summary = "barriers with no request pending, next to cooperative groups' grid.sync",
    .run = &run_cuda_barrier};

const Scenario cuda_gather_scenario{
    .name = "gather",
    .summary = "how long a request for SMs waits on a full GPU, by kill order",
    .run = &run_cuda_gather,
    .accepts = {.only = true}};

const Scenario cuda_lease_scenario{
    .name = "lease",
    .summary = "cuBLAS products under a lease, next to a kernel that fills the GPU",
    .run = &run_cuda_lease,
    .accepts = {.only = true}};

const Scenario cuda_function_scenario{
    .name = "function",
    .summary = "a __global__ function, next to a function object and to cooperative groups",
    .run = &run_cuda_function};

const Scenario cuda_fairness_scenario{
    .name = "fairness",
    .summary = "a barrier of more groups than fit: plain CUDA hangs, cohort finishes",
    .run = &run_cuda_fairness};

void cuda_spin_barrier() { device::spin_for_ever(); }

void cuda_fixed_barrier(std::uint32_t sms) {
  std::cout << (device::fixed_finishes_next_to(sms, 1000) ? "finishes" : "hangs") << std::endl;
}

}  // namespace cohort::bench
