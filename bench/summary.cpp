#include "bench/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>

#include "bench/harness.hpp"
#include "tool/load.hpp"
#include "tool/other_programs.hpp"
#include "tool/product.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The samples of one configuration, all rounds together.
struct Pooled {  // NOLINT(bugprone-exception-escape): Json's moves do not say that they cannot
                 // throw
  Json about;
  std::vector<double> slowdowns;  // one per round
  std::vector<double> gathers;
  std::vector<double> runs;
  std::vector<double> periods;                  // time from one start to the next, within a round
  std::map<std::string, std::uint32_t> chosen;  // number of tasks for each number of groups
  std::uint64_t tasks = 0;
  std::uint64_t wrong = 0;
  std::uint32_t rounds = 0;
};

double mean(const Json& values) {
  double sum = 0;
  for (const Json& each : values) sum += each.get<double>();
  return sum / static_cast<double>(values.size());
}

Json or_null(const std::vector<double>& values) {
  // With braces, the result would be an array.
  return values.empty() ? Json() : Json(median(values));
}

void pool(Pooled& into, const Json& sample, const Json* alone) {
  if (into.about.is_null()) {
    for (const char* name : {"pair", "app", "barrier", "class", "share", "groups", "side"})
      into.about[name] = sample[name];
  }
  ++into.rounds;
  into.wrong += sample["wrong"].get<std::uint64_t>();
  if (alone != nullptr) into.slowdowns.push_back(mean(sample["job_ns"]) / mean((*alone)["job_ns"]));
  std::vector<tool::TaskSample> tasks;
  for (const Json& task : sample["tasks"]) {
    tasks.push_back({.start = task[0], .gather = task[1], .run = task[2]});
    if (task.size() < 4 || task[3] != 0) into.gathers.push_back(task[1].get<double>());
    into.runs.push_back(task[2].get<double>());
    if (task.size() > 4) ++into.chosen[std::to_string(task[4].get<std::uint32_t>())];
  }
  into.tasks += tasks.size();
  const std::vector<double> fresh = periods(tasks);
  into.periods.insert(into.periods.end(), fresh.begin(), fresh.end());
}

Json to_json(const Pooled& pooled) {
  Json result = pooled.about;
  result["rounds"] = pooled.rounds;
  result["tasks"] = pooled.tasks;
  result["wrong"] = pooled.wrong;
  result["slowdown"] = or_null(pooled.slowdowns);
  result["slowdowns"] = pooled.slowdowns;
  result["period_ns"] = or_null(pooled.periods);
  result["gather_ns"] = or_null(pooled.gathers);
  result["gather_p99_ns"] = pooled.gathers.empty() ? Json() : Json(percentile(pooled.gathers, 99));
  result["run_ns"] = or_null(pooled.runs);
  return result;
}

bool is_chunked(const Json& about) {
  return about["pair"].get<std::string>().ends_with(" chunked");
}

/// Medians over the pairs, as in the paper's figure 6.
Json performance(const std::map<std::string, Pooled>& pooled) {
  auto result = Json::array();
  for (const NamedBarrier& barrier : all_barriers) {
    for (const tool::LoadClass& load : tool::load_classes) {
      for (const std::string_view share : tool::share_names) {
        std::vector<double> slowdowns;
        std::vector<double> periods;
        std::vector<double> gathers;
        double worst = 0;
        std::string worst_pair;
        for (const auto& [key, each] : pooled) {
          if (each.about["barrier"] != barrier.name || each.about["class"] != load.name ||
              each.about["share"] != share || is_chunked(each.about) || each.slowdowns.empty())
            continue;
          const double slowdown = median(each.slowdowns);
          slowdowns.push_back(slowdown);
          if (slowdown > worst) {
            worst = slowdown;
            worst_pair = each.about["pair"];
          }
          if (!each.periods.empty()) periods.push_back(median(each.periods));
          if (!each.gathers.empty()) gathers.push_back(median(each.gathers));
        }
        if (slowdowns.empty()) continue;
        result.push_back({{"barrier", barrier.name},
                          {"class", load.name},
                          {"share", share},
                          {"pairs", slowdowns.size()},
                          {"slowdown", median(slowdowns)},
                          {"worst_slowdown", worst},
                          {"worst_pair", worst_pair},
                          {"period_ns", or_null(periods)},
                          {"gather_ns", or_null(gathers)}});
      }
    }
  }
  return result;
}

/// A period counts as met if tasks exceed it by no more than the jitter of a frame.
constexpr double period_tolerance = 1.05;

/// The paper's table 3: our barrier at the smallest share that meets the period, compared with the
/// paper's model of kernel-level preemption and with suspending the job.
Json preemption(const Json& performance, const Json& time_slicing) {
  auto result = Json::array();
  for (const tool::LoadClass& load : tool::load_classes) {
    const double period = std::chrono::duration<double, std::nano>{load.period}.count();
    const double work = std::chrono::duration<double, std::nano>{load.work}.count();
    Json row{{"class", load.name},     {"period_ns", period},
             {"work_ns", work},        {"model", period / (period - work)},
             {"cooperative", nullptr}, {"share", nullptr},
             {"suspend", nullptr},     {"suspend_period_ns", nullptr},
             {"time_slicing", nullptr}};
    for (const Json& each : time_slicing) {
      if (each["class"] == load.name) row["time_slicing"] = each;
    }
    for (const Json& each : performance) {
      if (each["class"] != load.name || each["barrier"] != one_pass.name) continue;
      if (each["share"] == "all") {
        row["suspend"] = each["slowdown"];
        row["suspend_period_ns"] = each["period_ns"];
      } else if (row["cooperative"].is_null() && each["period_ns"].is_number() &&
                 each["period_ns"].get<double>() <= period * period_tolerance) {
        row["cooperative"] = each["slowdown"];
        row["share"] = each["share"];
      }
    }
    result.push_back(std::move(row));
  }
  return result;
}

/// Compares the engine's choice with each fixed one. A fixed choice that misses the period is not
/// considered, unless all do. Ratios are taken within each round.
Json hybrid(const std::map<std::string, Pooled>& pooled) {
  auto result = Json::array();
  for (const auto& [key, its] : pooled) {
    if (its.about["share"] != tool::hybrid_share || its.slowdowns.empty()) continue;
    double period = 0;
    for (const tool::LoadClass& load : tool::load_classes) {
      if (its.about["class"] == load.name)
        period = std::chrono::duration<double, std::nano>{load.period}.count();
    }
    const auto meets = [period](const Pooled& each) {
      return !each.periods.empty() && median(each.periods) <= period * period_tolerance;
    };
    Json row{{"pair", its.about["pair"]},
             {"class", its.about["class"]},
             {"slowdown", median(its.slowdowns)},
             {"period_ns", or_null(its.periods)},
             {"meets", meets(its)},
             {"chosen", its.chosen},
             {"fixed", Json::array()},
             {"best", nullptr},
             {"ratio", nullptr}};
    const Pooled* best = nullptr;
    for (const auto& [other, each] : pooled) {
      if (each.about["pair"] != its.about["pair"] || each.about["class"] != its.about["class"] ||
          each.about["barrier"] != its.about["barrier"] ||
          each.about["share"] == tool::hybrid_share ||
          each.slowdowns.size() != its.slowdowns.size())
        continue;
      std::vector<double> by_round;
      for (std::size_t i = 0; i < its.slowdowns.size(); ++i)
        by_round.push_back(its.slowdowns[i] / each.slowdowns[i]);
      row["fixed"].push_back({{"share", each.about["share"]},
                              {"slowdown", median(each.slowdowns)},
                              {"period_ns", or_null(each.periods)},
                              {"meets", meets(each)},
                              {"ratio", median(by_round)}});
      const bool better =
          best == nullptr ||
          (meets(each) != meets(*best) ? meets(each)
                                       : median(each.slowdowns) < median(best->slowdowns));
      if (!better) continue;
      best = &each;
      row["best"] = each.about["share"];
      row["ratio"] = median(by_round);
    }
    result.push_back(std::move(row));
  }
  return result;
}

Json outlier(const std::map<std::string, Pooled>& pooled) {
  auto result = Json::array();
  for (const auto& [key, each] : pooled) {
    if (each.about["class"] == "medium" && each.about["share"] == "all-but-one" &&
        each.about["pair"].get<std::string>().starts_with("bfs rmat"))
      result.push_back(to_json(each));
  }
  return result;
}

std::string in_ms(const Json& nanoseconds) {
  if (!nanoseconds.is_number()) return "-";
  const double value = nanoseconds.get<double>() / 1e6;
  return fixed(value, value < 10 ? 2 : 0);
}

std::string ratio(const Json& value) {
  return value.is_number() ? fixed(value.get<double>(), 2) + "x" : "-";
}

/// The measured time slicing as text, if there is any.
std::string in_words(const Json& time_slicing) {
  if (time_slicing.is_null()) return "-";
  if (time_slicing.contains("not_available")) return "not available";
  if (time_slicing.contains("gave_up")) return "a task waits for the job's end";
  return ratio(time_slicing["slowdown"]) + ", a task " + in_ms(time_slicing["p50_ns"]) + " ms" +
         (time_slicing["verified"] == true ? "" : " WRONG");
}

}  // namespace

Json summarise_multitask(const Json& header, const std::vector<Json>& samples) {
  std::map<std::string, const Json*> alone;  // indexed by pair, barrier and round
  const auto place = [](const Json& sample) {
    return sample["pair"].get<std::string>() + " | " + sample["barrier"].get<std::string>() +
           " | " + std::to_string(sample["round"].get<std::uint32_t>());
  };
  Json summary{{"header", header}, {"calibration", Json::array()}, {"lacking", Json::array()}};
  auto time_slicing = Json::array();
  std::uint64_t sets = 0;
  std::uint64_t unverified = 0;
  double disturbed = 0;  // sum over all sample sets
  for (const Json& sample : samples) {
    if (sample.contains("calibration")) {
      summary["calibration"].push_back(sample);
    } else if (sample.contains("lacking")) {
      summary["lacking"].push_back(sample["lacking"]);
    } else if (sample.contains("time_slicing")) {
      time_slicing = sample["time_slicing"];
    } else {
      ++sets;
      unverified += sample["verified"] == false ? 1 : 0;
      disturbed += sample.value("disturbed", 0.0);
      if (sample["class"].is_null()) alone[place(sample)] = &sample;
    }
  }
  std::map<std::string, Pooled> pooled;
  for (const Json& sample : samples) {
    if (!sample.contains("tasks")) continue;
    const auto found = alone.find(place(sample));
    std::string key = sample["key"];
    key.erase(key.rfind(" | "));
    pool(pooled[key], sample, found == alone.end() ? nullptr : found->second);
  }
  summary["sample_sets"] = sets;
  summary["wrong_results"] = unverified;
  summary["warning"] = tool::busy_warning(sets > 0 ? disturbed / static_cast<double>(sets) : 0);
  summary["configurations"] = Json::array();
  for (const auto& [key, each] : pooled) summary["configurations"].push_back(to_json(each));
  summary["performance"] = performance(pooled);
  summary["preemption"] = preemption(summary["performance"], time_slicing);
  summary["hybrid"] = hybrid(pooled);
  summary["outlier"] = outlier(pooled);
  return summary;
}

void print_performance(const Json& summary) {
  std::cout
      << "medians over the pairs: slowdown of the app, period of the tasks (ms), gather (ms)\n"
      << "  " << std::left << std::setw(10) << "class" << std::setw(10) << "barrier"
      << std::setw(13) << "groups" << std::right << std::setw(10) << "slowdown" << std::setw(10)
      << "period" << std::setw(10) << "gather"
      << "   worst\n";
  for (const Json& each : summary["performance"]) {
    std::cout << "  " << std::left << std::setw(10) << each["class"].get<std::string>()
              << std::setw(10) << each["barrier"].get<std::string>() << std::setw(13)
              << each["share"].get<std::string>() << std::right << std::setw(10)
              << ratio(each["slowdown"]) << std::setw(10) << in_ms(each["period_ns"])
              << std::setw(10) << in_ms(each["gather_ns"]) << "   " << ratio(each["worst_slowdown"])
              << ' ' << each["worst_pair"].get<std::string>() << '\n';
  }
  std::cout << std::endl;
}

void print_preemption(const Json& summary) {
  std::cout << "slowdown at the smallest share that meets the period, and what else could be done\n"
            << "  class     model P/(P-E)   cooperative on        suspend   time slicing\n";
  for (const Json& each : summary["preemption"]) {
    std::cout << "  " << std::left << std::setw(10) << each["class"].get<std::string>()
              << std::right << std::setw(13) << ratio(each["model"]) << std::setw(14)
              << ratio(each["cooperative"]) << " " << std::left << std::setw(12)
              << (each["share"].is_null() ? "none does" : each["share"].get<std::string>())
              << std::right << std::setw(8) << ratio(each["suspend"]) << "   "
              << in_words(each["time_slicing"]) << '\n';
  }
  std::cout << std::endl;
}

void print_hybrid(const Json& summary) {
  std::cout << "slowdown of the app where the engine chooses, against the best fixed choice that "
               "meets the period\n  "
            << std::left << std::setw(22) << "app and input" << std::setw(8) << "class"
            << std::right << std::setw(8) << "hybrid" << std::setw(16) << "best fixed"
            << std::setw(16) << "hybrid / best"
            << "   chosen\n";
  double worst = 0;
  for (const Json& each : summary["hybrid"]) {
    if (each["ratio"].is_null()) continue;
    worst = std::max(worst, each["ratio"].get<double>());
    std::cout << "  " << std::left << std::setw(22) << each["pair"].get<std::string>()
              << std::setw(8) << each["class"].get<std::string>() << std::right << std::setw(8)
              << ratio(each["slowdown"]) << std::setw(16) << each["best"].get<std::string>()
              << std::setw(16) << fixed(each["ratio"], 2) << "   " << each["chosen"].dump() << '\n';
  }
  std::cout << "  worst hybrid / best: " << fixed(worst, 2) << '\n' << std::endl;
}

}  // namespace cohort::bench
