#include "bench/serving.hpp"

#include <algorithm>

#include "bench/harness.hpp"

namespace cohort::bench {

using std::chrono::nanoseconds;

Load::Load(std::function<Served()> serve, nanoseconds period)
    : serve_(std::move(serve)),
      period_(static_cast<std::uint64_t>(period.count())),
      thread_([this](const std::stop_token& stop) {
        try {
          serve_all(stop);
        } catch (...) {  // told to whoever drives jobs
          const std::scoped_lock lock{mutex_};
          error_ = std::current_exception();
        }
      }) {}

void Load::serve_all(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  for (std::optional<std::uint64_t> due;;) {
    changed_.wait(lock, stop, [this] { return !resting_; });
    if (stop.stop_requested()) return;
    const std::uint64_t demanded = now();
    if (!due) due = demanded;
    if (demanded < *due) {
      changed_.wait_for(lock, stop, nanoseconds{*due - demanded}, [this] { return resting_; });
      if (stop.stop_requested()) return;
      continue;
    }
    ++begun_;
    const bool beside = job_is_there_;
    lock.unlock();
    const auto [report, right] = serve_();
    lock.lock();
    const auto gather = static_cast<std::uint64_t>(report.gather.count());
    tasks_.push_back({.start = demanded + gather,
                      .gather = gather,
                      .run = static_cast<std::uint64_t>(report.run_time.count()),
                      .beside = beside});
    wrong_ += right ? 0 : 1;
    due = std::max(*due + period_, now());  // late: the next is due at once
  }
}

Report Load::drive(const Job& job, std::optional<nanoseconds> limit) {
  const auto mark = [this](bool there) {
    const std::scoped_lock lock{mutex_};
    if (resting_) rested_ += cpu::now() - rest_began_;
    resting_ = false;
    job_is_there_ = there;
    changed_.notify_all();
    return now();
  };
  const std::uint64_t begin = mark(true);
  std::optional<Report> report;
  try {
    if (limit && !job.wait_for(*limit)) job.cancel();
    report = job.wait();
  } catch (...) {
    (void)mark(false);
    throw;
  }
  jobs_.push_back({.begin = begin, .end = mark(false)});
  rethrow();
  return *std::move(report);
}

void Load::rest() {
  const std::scoped_lock lock{mutex_};
  if (resting_) return;
  resting_ = true;
  rest_began_ = cpu::now();
  changed_.notify_all();
}

std::size_t Load::begun() const {
  const std::scoped_lock lock{mutex_};
  return begun_;
}

void Load::end() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  rethrow();
}

void Load::rethrow() {
  const std::scoped_lock lock{mutex_};
  if (error_) std::rethrow_exception(error_);
}

double length(const std::vector<Span>& spans) {
  double result = 0;
  for (const Span& each : spans) result += static_cast<double>(each.end - each.begin);
  return result;
}

double mean_length(const std::vector<Span>& spans) {
  return length(spans) / static_cast<double>(spans.size());
}

std::optional<double> median_period(const std::vector<TaskSample>& tasks) {
  std::vector<double> periods;
  for (std::size_t i = 1; i < tasks.size(); ++i)
    periods.push_back(static_cast<double>(tasks[i].start - tasks[i - 1].start));
  if (periods.empty()) return std::nullopt;
  return median(std::move(periods));
}

}  // namespace cohort::bench
