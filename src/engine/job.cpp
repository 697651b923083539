// Job and Task: the members of the handles that are the same on every engine.
#include "cohort/job.hpp"

#include "cohort/task.hpp"

namespace cohort {

const char* to_string(Status status) noexcept {
  switch (status) {
    case Status::pending: return "pending";
    case Status::running: return "running";
    case Status::finished: return "finished";
    case Status::left: return "left";
    case Status::cancelled: return "cancelled";
    case Status::suspended: return "suspended";
    case Status::failed: return "failed";
  }
  return "unknown";
}

Report Job::wait() const {
  if (control_->wait_until(std::nullopt) == Status::failed) control_->rethrow();
  return control_->report();
}

std::optional<Report> Job::wait_until(std::chrono::steady_clock::time_point deadline) const {
  const Status status = control_->wait_until(deadline);
  if (status == Status::pending || status == Status::running) return std::nullopt;
  if (status == Status::failed) control_->rethrow();
  return control_->report();
}

void Job::cancel() const { control_->cancel(); }
Status Job::suspend() const { return control_->suspend(); }
void Job::resume() const { control_->resume(); }
void Job::checkpoint(const std::filesystem::path& file) const { control_->checkpoint(file); }
void Job::set_target(std::uint32_t groups) const { control_->set_target(groups); }
void Job::reset_target() const { control_->set_target(std::nullopt); }
Status Job::status() const { return control_->report().status; }
Report Job::report() const { return control_->report(); }

TaskReport Task::wait() const {
  if (control_->wait_until(std::nullopt) == Status::failed) control_->rethrow();
  return report();
}

std::optional<TaskReport> Task::wait_until(std::chrono::steady_clock::time_point deadline) const {
  const Status status = control_->wait_until(deadline);
  if (status == Status::pending || status == Status::running) return std::nullopt;
  if (status == Status::failed) control_->rethrow();
  return report();
}

void Task::cancel() const { control_->cancel(); }

TaskReport Task::report() const {
  const Report report = control_->report();
  return {.status = report.status,
          .groups = report.max_groups,
          .gather = std::chrono::nanoseconds{report.gather.max},
          .run_time = report.run_time,
          .error = report.error};
}

}  // namespace cohort
