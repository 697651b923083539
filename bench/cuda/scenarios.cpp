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

nlohmann::ordered_json run_cuda_barrier(const ScenarioOptions& options) {
  nlohmann::ordered_json record{{"device", described()}};
  const auto sms = record["device"]["sms"].get<std::uint32_t>();
  Bench bench;
  const Repetitions plan{.count = options.repetitions, .stop = options.stop};
  auto measurements = nlohmann::ordered_json::array();
  for (const std::uint32_t on_an_sm : {1U, 2U}) {
    const Bench::Load load{.blocks = on_an_sm * sms,
                           .batches = options.quick ? 5U : 20U,
                           .barriers = options.quick ? 200U : 2000U};
    measurements.push_back(reported(measure(
        std::to_string(load.blocks) + " blocks of 256", "ns per barrier",
        {
            {.name = "cohort resizing", .measure = [&] { return bench.resizing_barrier(load); }},
            {.name = "cohort global", .measure = [&] { return bench.global_barrier(load); }},
            {.name = "cohort static", .measure = [&] { return bench.static_barrier(load); }},
            {.name = "grid.sync",
             .measure = [&] { return bench.grid_sync(load); },
             .reference = true},
        },
        plan)));
  }
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
    double allowed;  // over the idle GPU, beyond T
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

const Scenario cuda_fairness_scenario{
    .name = "fairness",
    .summary = "a barrier of more groups than fit: plain CUDA hangs, cohort finishes",
    .run = &run_cuda_fairness};

void cuda_spin_barrier() { device::spin_for_ever(); }

}  // namespace cohort::bench
