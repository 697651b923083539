#include "scheduler/policy.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace cohort::scheduler {
namespace {

/// The least a job can start or go on with.
std::uint32_t least(const Claim& claim) {
  return claim.rigid ? claim.max_groups : std::min(claim.max_groups, 1U);
}

/// Whether one more unit should go to `a` rather than to `b`: the lower share for its weight.
bool poorer(std::uint32_t share_a, const Claim& a, std::uint32_t share_b, const Claim& b) {
  return std::uint64_t{share_a} * b.weight < std::uint64_t{share_b} * a.weight;
}

/// The job to suspend next for a task: the lowest weight, the youngest among equals.
std::optional<std::size_t> to_suspend(std::span<const Claim> jobs,
                                      const std::vector<bool>& suspended) {
  std::optional<std::size_t> lightest;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (suspended[i] || !jobs[i].running || !jobs[i].suspendable || jobs[i].owed) continue;
    if (!lightest || jobs[i].weight <= jobs[*lightest].weight) lightest = i;
  }
  return lightest;
}

}  // namespace

std::vector<std::size_t> serving_order(std::span<const Demand> tasks) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [tasks](std::size_t a, std::size_t b) {
    if (tasks[a].running != tasks[b].running) return tasks[a].running;
    return tasks[a].priority > tasks[b].priority;
  });
  return order;
}

std::vector<std::uint32_t> share_out(std::uint32_t capacity, std::span<const Claim> claims) {
  std::vector<std::uint32_t> shares(claims.size(), 0);
  std::uint32_t left = capacity;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!claims[i].running) continue;
    shares[i] = std::min(least(claims[i]), left);
    left -= shares[i];
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].running) continue;
    if (least(claims[i]) > left) break;  // nobody overtakes a job that waits for room
    shares[i] = least(claims[i]);
    left -= shares[i];
  }
  while (left > 0) {
    std::size_t poorest = claims.size();
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (shares[i] == 0 || shares[i] >= claims[i].max_groups) continue;
      const bool first = poorest == claims.size();
      if (first || poorer(shares[i], claims[i], shares[poorest], claims[poorest])) poorest = i;
    }
    if (poorest == claims.size()) break;
    ++shares[poorest];
    --left;
  }
  return shares;
}

Plan plan(std::uint32_t capacity, std::span<const Claim> jobs, std::span<const Demand> tasks) {
  Plan result{.shares = {},
              .suspends = std::vector<bool>(jobs.size(), false),
              .grants = std::vector<bool>(tasks.size(), false)};

  // What the jobs keep in any case: one group each, also of those whose turn has come again.
  std::uint32_t kept = 0;
  for (const Claim& job : jobs) {
    if (job.running || job.owed) kept += least(job);
  }
  std::uint32_t left = capacity;
  for (const std::size_t i : serving_order(tasks)) {
    const Demand& task = tasks[i];
    if (!task.running) {
      std::vector<bool> suspended = result.suspends;
      std::uint32_t floor = kept;
      while (std::uint64_t{task.groups} + floor > left) {
        const auto victim = to_suspend(jobs, suspended);
        if (!victim) break;
        suspended[*victim] = true;
        floor -= least(jobs[*victim]);
      }
      if (std::uint64_t{task.groups} + floor > left) break;  // nobody overtakes it
      result.suspends = std::move(suspended);
      kept = floor;
    }
    result.grants[i] = true;
    left -= std::min(left, task.groups);
  }

  std::vector<Claim> staying(jobs.begin(), jobs.end());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (result.suspends[i]) staying[i] = {.max_groups = 0, .running = true};
    if (jobs[i].owed) staying[i].running = true;  // its floor was counted
  }
  result.shares = share_out(left, staying);
  return result;
}

}  // namespace cohort::scheduler
