#include "bench/harness.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cohort/error.hpp"

namespace cohort::bench {
namespace {

std::vector<double> pooled(const Series& series) {
  std::vector<double> all;
  for (const auto& batches : series.repetitions)
    all.insert(all.end(), batches.begin(), batches.end());
  return all;
}

}  // namespace

const Series& Measurement::at(const std::string& contender) const {
  for (const Series& each : series) {
    if (each.name == contender) return each;
  }
  throw Error{Errc::bad_options, name + ": there is no contender '" + contender + "'"};
}

const Series* Measurement::best_reference() const {
  const Series* best = nullptr;
  for (const Series& each : series) {
    if (!each.reference) continue;
    if (best == nullptr || median(pooled(each)) < median(pooled(*best))) best = &each;
  }
  return best;
}

Statistics statistics(const Series& series) {
  const std::vector<double> all = pooled(series);
  return {.p50 = median(all),
          .p99 = percentile(all, 99),
          .min = percentile(all, 0),
          .max = percentile(all, 100),
          .spread = percentile(all, 75) - percentile(all, 25)};
}

std::vector<double> ratios(const Series& series, const Series& baseline) {
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(series.repetitions.size(), baseline.repetitions.size()); ++i)
    result.push_back(median(series.repetitions[i]) / median(baseline.repetitions[i]));
  return result;
}

Measurement measure(std::string name, std::string unit, const std::vector<Contender>& contenders,
                    const Repetitions& plan) {
  Measurement result{.name = std::move(name), .unit = std::move(unit), .series = {}};
  for (const Contender& each : contenders)
    result.series.push_back({.name = each.name, .reference = each.reference, .repetitions = {}});

  const Progress progress;
  const auto begin = std::chrono::steady_clock::now();
  const std::uint32_t rounds = plan.warm_ups + plan.count;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const std::size_t turn = (i + round) % contenders.size();
      if (plan.stop.stop_requested()) throw Stopped{};
      progress.show(result.name + ", " + std::to_string(round + 1) + "/" + std::to_string(rounds) +
                    ": " + contenders[turn].name);
      std::vector<double> batches = contenders[turn].measure();
      if (plan.stop.stop_requested()) throw Stopped{};
      result.series[turn].repetitions.push_back(std::move(batches));
    }
    if (std::chrono::steady_clock::now() - begin < plan.enough) {
      if (round >= plan.warm_ups) continue;
      for (Series& each : result.series) each.repetitions.clear();
    } else if (result.series[0].repetitions.size() >= 3) {
      break;
    }
  }
  return result;
}

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

void print(std::ostream& out, const Measurement& measurement) {
  std::size_t width = measurement.name.size();
  for (const Series& each : measurement.series) width = std::max(width, each.name.size() + 2);
  const Series* const best = measurement.best_reference();
  const auto column = static_cast<int>(width);

  out << std::left << std::setw(column) << measurement.name << std::right << std::setw(12)
      << "p50 ns" << std::setw(12) << "p99 ns";
  if (best != nullptr) out << "   x " << best->name;
  out << '\n' << std::fixed;
  for (const Series& each : measurement.series) {
    const Statistics numbers = statistics(each);
    out << "  " << std::left << std::setw(column - 2) << each.name << std::right
        << std::setprecision(1) << std::setw(12) << numbers.p50 << std::setw(12) << numbers.p99;
    if (best != nullptr) out << std::setprecision(2) << std::setw(8) << median(ratios(each, *best));
    out << '\n';
  }
}

nlohmann::ordered_json to_json(const Measurement& measurement) {
  const Series* const best = measurement.best_reference();
  auto contenders = nlohmann::ordered_json::array();
  for (const Series& each : measurement.series) {
    const Statistics numbers = statistics(each);
    nlohmann::ordered_json entry{{"name", each.name},       {"reference", each.reference},
                                 {"p50", numbers.p50},      {"p99", numbers.p99},
                                 {"min", numbers.min},      {"max", numbers.max},
                                 {"spread", numbers.spread}};
    if (best != nullptr) {
      const std::vector<double> paired = ratios(each, *best);
      entry["ratio"] = median(paired);
      entry["ratios"] = paired;
    }
    entry["samples"] = each.repetitions;
    contenders.push_back(std::move(entry));
  }
  nlohmann::ordered_json result{{"name", measurement.name}, {"unit", measurement.unit}};
  if (best != nullptr) result["baseline"] = best->name;
  result["contenders"] = std::move(contenders);
  return result;
}

nlohmann::ordered_json reported(const Measurement& measurement) {
  print(std::cout, measurement);
  std::cout << std::endl;
  return to_json(measurement);
}

}  // namespace cohort::bench
