#include "scheduler/policy.hpp"

#include <algorithm>

namespace cohort::scheduler {
namespace {

/// The minimum number of units that a job can start or continue with.
std::uint32_t least(const Claim& claim) {
  return claim.rigid ? claim.max_groups : std::max(std::min(claim.max_groups, 1U), claim.blocked);
}

/// Whether the next unit should go to `a` instead of `b`, because `a` has the lower share for its
/// weight.
bool poorer(std::uint32_t share_a, const Claim& a, std::uint32_t share_b, const Claim& b) {
  return std::uint64_t{share_a} * b.weight < std::uint64_t{share_b} * a.weight;
}

/// Decides which jobs have to leave, and reserves units for the other jobs.
class Reserve {
 public:
  explicit Reserve(std::span<const Claim> jobs) : jobs_(jobs), suspended_(jobs.size(), false) {
    for (const Claim& job : jobs) units_ += job.running ? least(job) : 0;
  }

  /// Adds the jobs whose turn it is. Leaves out a job that could not start even without tasks:
  /// tasks would wait for such a job in vain.
  void add_owed(std::uint32_t capacity) {
    for (const Claim& job : jobs_) {
      if (job.running || !job.owed) continue;
      if (units_ + least(job) > capacity) break;
      units_ += least(job);
    }
  }

  /// Suspends jobs until the reserve fits into `room`. Returns false if it does not fit even then.
  bool shrink_to(std::uint64_t room) {
    while (units_ > room) {
      const auto job = next_to_suspend();
      if (!job) return false;
      suspended_[*job] = true;
      units_ -= least(jobs_[*job]);
    }
    return true;
  }

  [[nodiscard]] const std::vector<bool>& suspended() const { return suspended_; }
  [[nodiscard]] std::uint64_t units() const { return units_; }

 private:
  /// The job with the lowest weight; the youngest of several.
  [[nodiscard]] std::optional<std::size_t> next_to_suspend() const {
    std::optional<std::size_t> lightest;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const Claim& job = jobs_[i];
      if (suspended_[i] || !job.running || !job.suspendable || job.blocked != 0) continue;
      if (!lightest || job.weight <= jobs_[*lightest].weight) lightest = i;
    }
    return lightest;
  }

  std::span<const Claim> jobs_;
  std::vector<bool> suspended_;
  std::uint64_t units_ = 0;
};

}  // namespace

std::vector<std::uint32_t> share_out(std::uint32_t capacity, std::span<const Claim> claims) {
  std::vector<std::uint32_t> shares(claims.size(), 0);
  std::uint32_t left = capacity;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!claims[i].running) continue;
    shares[i] = least(claims[i]);
    left -= std::min(left, shares[i]);
  }
  bool room = true;  // becomes false at the first job that must wait: no later job overtakes it
  for (const bool owed : {true, false}) {
    for (std::size_t i = 0; i < claims.size() && room; ++i) {
      if (claims[i].running || claims[i].owed != owed) continue;
      room = least(claims[i]) <= left;
      if (!room) break;
      shares[i] = least(claims[i]);
      left -= shares[i];
    }
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

Plan plan(std::uint32_t capacity, std::span<const Claim> jobs, const Busy& busy,
          const NextTask& next_task) {
  Plan result;
  // The engine's own tasks and jobs are weighed against each other as if tenants had no units,
  // because tenants give theirs back.
  std::uint32_t own = capacity - std::min(capacity, busy.tasks);
  std::uint32_t guests = busy.guests;
  Reserve reserve{jobs};
  reserve.shrink_to(own);
  reserve.add_owed(capacity);
  while (const auto task = next_task()) {
    if (task->guest) {
      if (reserve.units() + guests + task->groups > own) break;
      guests += task->groups;
    } else {
      Reserve with_task = reserve;
      if (task->groups > own || !with_task.shrink_to(own - task->groups)) break;
      reserve = with_task;
      own -= task->groups;
    }
    ++result.granted;
  }

  result.suspends = reserve.suspended();
  std::vector<Claim> staying(jobs.begin(), jobs.end());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (result.suspends[i]) staying[i] = {.max_groups = 0, .running = true};
  }
  result.shares = share_out(own - std::min(own, guests), staying);
  return result;
}

std::uint32_t lendable(std::uint32_t capacity, std::span<const Claim> jobs,
                       std::uint32_t task_units, std::uint32_t waiting_task) {
  std::uint64_t needed = std::uint64_t{task_units} + waiting_task;
  for (const Claim& job : jobs) needed += least(job);
  return static_cast<std::uint32_t>(capacity - std::min<std::uint64_t>(capacity, needed));
}

std::vector<Loan> lend(std::uint32_t units, std::span<const TenantClaim> tenants) {
  std::vector<Loan> loans(tenants.size());
  // Fair shares: a tenant that wants no more than its weight's part gets its demand. The other
  // tenants share the rest in the same way.
  std::vector<bool> content(tenants.size(), false);
  double left = units;
  for (bool changed = true; changed;) {
    changed = false;
    double weights = 0;
    for (std::size_t i = 0; i < tenants.size(); ++i) weights += content[i] ? 0 : tenants[i].weight;
    if (weights == 0) break;
    const double each = left / weights;
    for (std::size_t i = 0; i < tenants.size(); ++i) {
      if (content[i]) continue;
      loans[i].due = each * tenants[i].weight;
      if (tenants[i].demand > loans[i].due) continue;
      loans[i].due = tenants[i].demand;
      left -= loans[i].due;
      content[i] = changed = true;
    }
  }
  // First the whole units, then the units that the fractions add up to.
  constexpr double nearly = 1e-6;  // more than the rounding errors of the sums
  double parts = 0;
  std::vector<std::size_t> with_part;
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    loans[i].units = static_cast<std::uint32_t>(loans[i].due + nearly);
    const double part = loans[i].due - loans[i].units;
    if (part <= nearly) continue;
    parts += part;
    with_part.push_back(i);
  }
  const auto rank = [&](std::size_t i) {
    const bool holds = tenants[i].held > loans[i].units;
    return tenants[i].arrears + (holds ? patience_of_tenants : 0);
  };
  std::stable_sort(with_part.begin(), with_part.end(), [&](std::size_t a, std::size_t b) {
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    return tenants[a].priority > tenants[b].priority;
  });
  const auto whole = static_cast<std::size_t>(parts + 0.5);
  for (std::size_t i = 0; i < std::min(whole, with_part.size()); ++i) ++loans[with_part[i]].units;
  return loans;
}

}  // namespace cohort::scheduler
