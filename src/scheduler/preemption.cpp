#include "scheduler/preemption.hpp"

#include <algorithm>

namespace cohort::scheduler {
namespace {

/// The weight of a new measurement: at first this gives the plain mean, later a moving average.
double weight_of(double count) { return std::max(1 / count, 1.0 / 16); }

void smooth(double& mean, double fresh, double weight) { mean += (fresh - mean) * weight; }

/// Steps of a job differ in their work, so a single measured speed says little. A priori, a job's
/// speed is assumed to be proportional to its units. This many measured speeds weigh as much as
/// that assumption.
constexpr double assumed_speeds = 8;

/// A choice that was worse by more than this factor is not tried again.
constexpr double close = 1.25;

}  // namespace

std::vector<std::uint32_t> preemption_choices(std::uint32_t capacity, std::uint32_t jobs,
                                              std::uint32_t most) {
  std::vector<std::uint32_t> result{1, capacity / 4, capacity / 2,
                                    capacity - std::min(capacity, std::max(jobs, 1U)), capacity};
  for (std::uint32_t& each : result) each = std::clamp(each, 1U, std::max(most, 1U));
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

const PreemptionPolicy::Known* PreemptionPolicy::find(std::uint32_t groups) const {
  const auto found = std::ranges::find(known_, groups, &Known::groups);
  return found == known_.end() ? nullptr : &*found;
}

void PreemptionPolicy::learn(const TaskCost& cost) {
  auto found = std::ranges::find(known_, cost.groups, &Known::groups);
  if (found == known_.end()) {
    known_.push_back({.groups = cost.groups});
    found = known_.end() - 1;
  }
  found->last = ++tasks_;
  const double weight = weight_of(++found->tasks);
  smooth(found->gather, cost.gather, weight);
  smooth(found->run, cost.run, weight);
  smooth(found->regrow, cost.regrow, weight);
  if (cost.speed) {
    found->speeds = std::min(found->speeds + 1, 64.0);
    smooth(found->speed, std::clamp(*cost.speed, 0.0, 1.5), weight_of(found->speeds));
  }
}

double PreemptionPolicy::loss(const Known& known, std::uint32_t capacity) {
  const double kept = 1 - std::min(1.0, static_cast<double>(known.groups) / capacity);
  // The speed next to a task on all units cannot be measured.
  const double measured = known.groups >= capacity ? 0 : known.speeds;
  const double speed =
      (known.speed * measured + kept * assumed_speeds) / (measured + assumed_speeds);
  return (known.run + known.regrow) * (1 - std::min(speed, 1.0));
}

std::optional<double> PreemptionPolicy::loss(std::uint32_t groups, std::uint32_t capacity) const {
  const Known* const known = find(groups);
  return known == nullptr ? std::nullopt : std::optional{loss(*known, capacity)};
}

/// Whether to try a choice to learn its cost. All choices are tried, except those that cannot keep
/// the limit while another choice does.
bool PreemptionPolicy::worth_trying(std::uint32_t groups, std::uint32_t capacity,
                                    std::optional<double> limit, std::optional<double> best) const {
  const Known* const known = find(groups);
  if (known != nullptr && known->tasks >= trials) {
    if (!best || tasks_ - known->last < stale) return false;
    if (limit && latency(*known) > *limit * close) return false;
    return loss(*known, capacity) <= *best * close;
  }
  if (!limit || !best) return true;
  // Assumes that more units make no task slower, and that k times as many units make it at most k
  // times as fast.
  return std::ranges::all_of(known_, [&](const Known& each) {
    const double run = each.run * std::min(1.0, static_cast<double>(each.groups) / groups);
    return run <= *limit;
  });
}

std::uint32_t PreemptionPolicy::choose(std::span<const std::uint32_t> choices,
                                       std::uint32_t capacity, std::optional<double> limit) const {
  const Known* cheapest = nullptr;  // among the choices that keep the limit
  const Known* soonest = nullptr;
  for (const std::uint32_t groups : choices) {
    const Known* const known = find(groups);
    if (known == nullptr) continue;
    if (soonest == nullptr || latency(*known) < latency(*soonest)) soonest = known;
    if (limit && latency(*known) > *limit) continue;
    if (cheapest == nullptr || loss(*known, capacity) < loss(*cheapest, capacity)) cheapest = known;
  }
  const auto best = cheapest == nullptr ? std::nullopt : std::optional{loss(*cheapest, capacity)};
  // Try the middle choice first, because it says most about its neighbours.
  const Known* const latest =
      known_.empty() ? nullptr : &*std::ranges::max_element(known_, {}, &Known::last);
  if (latest == nullptr) return choices[choices.size() / 2];
  // Try a choice several times in a row, because another choice just before would disturb its first
  // task.
  const bool begun =
      latest->tasks < trials && std::ranges::find(choices, latest->groups) != choices.end();
  if (begun && worth_trying(latest->groups, capacity, limit, best)) return latest->groups;
  for (const std::uint32_t groups : choices) {
    if (worth_trying(groups, capacity, limit, best)) return groups;
  }
  if (cheapest != nullptr) return cheapest->groups;
  return soonest != nullptr ? soonest->groups : choices.back();
}

}  // namespace cohort::scheduler
