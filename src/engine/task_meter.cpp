#include "engine/task_meter.hpp"

#include <utility>

#include "cohort/error.hpp"

namespace cohort::engine {
namespace {

constexpr std::size_t most_kinds = 1024;
constexpr std::size_t most_mixes = 16;  // sets of running kernels, per kind

}  // namespace

TaskMeter::Setting& TaskMeter::setting(const std::string& kind, std::size_t mix) {
  auto found = kinds_.find(kind);
  if (found == kinds_.end()) {
    if (kinds_.size() >= most_kinds) {
      throw Error{Errc::bad_options, "submit: kind '" + kind + "': an engine remembers at most " +
                                         std::to_string(most_kinds) +
                                         " kinds; give tasks of the same work the same kind"};
    }
    found = kinds_.emplace(kind, std::map<std::size_t, Setting>{}).first;
  }
  auto& settings = found->second;
  if (settings.size() >= most_mixes && !settings.contains(mix)) settings.clear();
  return settings[mix];
}

std::uint32_t TaskMeter::choose(const std::string& kind, const Jobs& jobs, std::uint32_t capacity,
                                std::uint32_t most, std::optional<double> limit) {
  const scheduler::PreemptionPolicy& policy = setting(kind, jobs.mix).policy;
  if (jobs.count == 0) return most;  // the task disturbs no job, so it can have all units
  return policy.choose(scheduler::preemption_choices(capacity, jobs.count, most), capacity, limit);
}

void TaskMeter::submitted(const std::string& kind, std::uint32_t units, const Jobs& jobs) {
  // A new task came before the jobs had all units again.
  if (current_ && current_->ended != 0) finish(jobs);
  if (++unfinished_ > 1 || kind.empty() || jobs.count == 0) {
    current_.reset();
    quiet_.reset();
    return;
  }
  Setting& its = setting(kind, jobs.mix);
  if (quiet_ && quiet_->mix == jobs.mix) {
    constexpr double keep = 0.95;  // factor by which a new task reduces the weight of earlier times
    its.quiet_time = its.quiet_time * keep + static_cast<double>(jobs.now - quiet_->now);
    its.quiet_progress =
        its.quiet_progress * keep + static_cast<double>(jobs.progress - quiet_->progress);
  }
  quiet_.reset();
  current_ = {.kind = kind, .mix = jobs.mix, .units = units, .submitted = jobs.now};
}

void TaskMeter::started(const Jobs& jobs) {
  if (!current_) return;
  current_->started = jobs.now;
  current_->progress = jobs.progress;
  current_->same_jobs = true;
}

void TaskMeter::ended(bool finished, const Jobs& jobs) {
  --unfinished_;
  if (!current_) return;
  if (!finished || current_->started == 0) {
    current_.reset();
  } else {
    current_->ended = jobs.now;
  }
}

void TaskMeter::jobs_changed() {
  if (current_) current_->same_jobs = false;
  quiet_.reset();
}

void TaskMeter::look(const Jobs& jobs) {
  if (unfinished_ > 0 || !jobs.whole) return;
  if (current_) finish(jobs);
  if (!quiet_) quiet_ = jobs;
}

/// Ends the measurement: the jobs have got the task's units back, or the next task has been
/// submitted.
void TaskMeter::finish(const Jobs& jobs) {
  const Current its = *std::exchange(current_, std::nullopt);
  const auto span = [](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(to - from);
  };
  Setting& where = setting(its.kind, its.mix);
  scheduler::TaskCost cost{.groups = its.units,
                           .gather = span(its.submitted, its.started),
                           .run = span(its.started, its.ended),
                           .regrow = span(its.ended, jobs.now)};
  if (its.same_jobs && where.quiet_progress > 0 && jobs.now > its.started) {
    const double rate = span(its.progress, jobs.progress) / span(its.started, jobs.now);
    cost.speed = rate * where.quiet_time / where.quiet_progress;
  }
  where.policy.learn(cost);
}

}  // namespace cohort::engine
