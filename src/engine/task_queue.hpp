// The tasks of an engine: the waiting ones ordered by priority, then by age, and the running ones.
// Invariant: the cost of a submit and of a task's end grows with the logarithm of the number of
// waiting tasks. Guarded by the engine's mutex.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/policy.hpp"

namespace cohort::engine {

/// A task's place in the queue. Each record has one as its `ticket`.
struct Ticket {
  int priority = 0;
  std::uint64_t age = 0;  ///< the sequence number of the submit
  std::uint32_t groups = 0;
  bool guest = false;  ///< a unit lent to a tenant: served after the engine's own tasks

  /// Whether this task is served before the other one.
  [[nodiscard]] bool before(const Ticket& other) const {
    if (guest != other.guest) return other.guest;
    return priority != other.priority ? priority > other.priority : age < other.age;
  }
};

template <class Task>
class TaskQueue {
 public:
  /// Adds a task. Returns false if the task waits behind one for which the last plan had no room. A
  /// new plan would then change nothing.
  bool push(std::shared_ptr<Task> task, int priority, std::uint32_t groups, bool guest = false) {
    task->ticket = {.priority = priority, .age = ++submits_, .groups = groups, .guest = guest};
    const bool behind = blocked_ && blocked_->before(task->ticket);
    waiting_.emplace(task->ticket, std::move(task));
    return !behind;
  }

  /// Plans the units of every job and task. Reads only the granted tasks and one more.
  [[nodiscard]] scheduler::Plan plan(std::uint32_t capacity,
                                     std::span<const scheduler::Claim> jobs) {
    auto next = waiting_.begin();
    return scheduler::plan(capacity, jobs, busy_, [&]() -> std::optional<scheduler::Waiting> {
      blocked_.reset();
      if (next == waiting_.end()) return {};
      blocked_ = next->first;  // reset if the planner asks for another task
      const Ticket& ticket = (next++)->first;
      return scheduler::Waiting{.groups = ticket.groups, .guest = ticket.guest};
    });
  }

  /// The next task to be served; null if none waits.
  [[nodiscard]] std::shared_ptr<Task> front() const {
    return waiting_.empty() ? nullptr : waiting_.begin()->second;
  }
  void start(const Task& task) {
    auto started = waiting_.extract(task.ticket);
    units_of(task) += task.ticket.groups;
    running_.push_back(std::move(started.mapped()));
  }
  /// Call it when units may have become free: the next push() may then be served.
  void unblock() { blocked_.reset(); }
  /// Removes a task that has ended, whether it has run or not.
  void remove(const Task& task) {
    unblock();
    if (waiting_.erase(task.ticket) != 0) return;
    units_of(task) -= task.ticket.groups;
    std::erase_if(running_, [&task](const auto& each) { return each.get() == &task; });
  }

  /// The number of units that tenants may have, in addition to these jobs and the engine's tasks.
  [[nodiscard]] std::uint32_t lendable(std::uint32_t capacity,
                                       std::span<const scheduler::Claim> jobs) const {
    const bool own = !waiting_.empty() && !waiting_.begin()->first.guest;
    return scheduler::lendable(capacity, jobs, busy_.tasks,
                               own ? waiting_.begin()->first.groups : 0);
  }

  [[nodiscard]] bool empty() const { return waiting_.empty() && running_.empty(); }
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }
  [[nodiscard]] const std::vector<std::shared_ptr<Task>>& running() const { return running_; }
  /// All tasks, the running ones first.
  [[nodiscard]] std::vector<std::shared_ptr<Task>> all() const {
    std::vector<std::shared_ptr<Task>> result = running_;
    for (const auto& [ticket, task] : waiting_) result.push_back(task);
    return result;
  }
  /// The largest number of groups among this waiting task and the ones before it, which all start
  /// earlier.
  [[nodiscard]] std::uint32_t most_groups_before(const Ticket& ticket) const {
    std::uint32_t most = ticket.groups;
    for (auto each = waiting_.begin(); each != waiting_.end() && each->first.before(ticket); ++each)
      most = std::max(most, each->first.groups);
    return most;
  }

 private:
  std::uint32_t& units_of(const Task& task) {
    return task.ticket.guest ? busy_.guests : busy_.tasks;
  }

  struct Before {
    bool operator()(const Ticket& a, const Ticket& b) const { return a.before(b); }
  };

  std::map<Ticket, std::shared_ptr<Task>, Before> waiting_;
  std::vector<std::shared_ptr<Task>> running_;
  scheduler::Busy busy_;  // units used by `running_`
  std::uint64_t submits_ = 0;
  std::optional<Ticket>
      blocked_;  // the first task for which the last plan had no room, if that is still so
};

}  // namespace cohort::engine
