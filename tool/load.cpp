#include "tool/load.hpp"

#include <algorithm>
#include <charconv>

#include "tool/statistics.hpp"

namespace cohort::tool {

using std::chrono::nanoseconds;

std::uint32_t groups_of(std::string_view share, std::uint32_t capacity) {
  if (share == "one") return 1;
  if (share == "quarter") return std::max(1U, capacity / 4);
  if (share == "half") return std::max(1U, capacity / 2);
  if (share == "all-but-one") return std::max(1U, capacity - 1);
  if (share == "all") return capacity;
  std::uint32_t groups = 0;
  const char* const end = share.data() + share.size();
  const auto [stopped, error] = std::from_chars(share.data(), end, groups);
  if (error == std::errc{} && stopped == end && groups >= 1 && groups <= capacity) return groups;
  throw Error{Errc::bad_options, "task groups '" + std::string{share} +
                                     "': write one, quarter, half, all-but-one, all, or 1 to " +
                                     std::to_string(capacity)};
}

Load::Load(std::function<Served()> serve, nanoseconds period)
    : serve_(std::move(serve)),
      period_(static_cast<std::uint64_t>(period.count())),
      thread_([this](const std::stop_token& stop) {
        try {
          serve_all(stop);
        } catch (...) {  // rethrown by drive() and end()
          const std::scoped_lock lock{mutex_};
          error_ = std::current_exception();
        }
      }) {}

void Load::stand() {
  if (!stood_from_) stood_from_ = cpu::now();
}

void Load::go_on() {
  if (stood_from_) stood_ += cpu::now() - *stood_from_;
  stood_from_.reset();
}

void Load::serve_all(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  for (std::uint64_t due = 0;;) {
    changed_.wait(lock, stop, [this] { return !resting_; });
    if (stop.stop_requested()) return;
    if (const std::uint64_t at = now(); at < due) {
      changed_.wait_for(lock, stop, nanoseconds{due - at}, [this] { return resting_; });
      continue;
    }
    const bool beside = job_is_there_;
    ++begun_;
    begun_beside_ += beside ? 1 : 0;
    serving_ = true;
    lock.unlock();
    const Served served = serve_();
    lock.lock();
    serving_ = false;
    const auto run = static_cast<std::uint64_t>(served.report.run_time.count());
    tasks_.push_back({.start = served.ended - stood_ - run,
                      .gather = static_cast<std::uint64_t>(served.report.gather.count()),
                      .run = run,
                      .beside = beside,
                      .groups = served.report.groups});
    wrong_ += served.right ? 0 : 1;
    due = std::max(due + period_, now());  // if this task was late, the next one is due at once
    if (resting_) stand();
  }
}

Report Load::drive(const Job& job, std::optional<nanoseconds> limit) {
  const auto mark = [this](bool there) {
    const std::scoped_lock lock{mutex_};
    go_on();
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
  resting_ = true;
  if (!serving_) stand();
  changed_.notify_all();
}

std::size_t Load::begun() const {
  const std::scoped_lock lock{mutex_};
  return begun_;
}

std::size_t Load::begun_beside() const {
  const std::scoped_lock lock{mutex_};
  return begun_beside_;
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

std::vector<double> periods(const std::vector<TaskSample>& tasks) {
  std::vector<double> result;
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    const TaskSample& before = tasks[i - 1];
    if (tasks[i].start >= before.start + before.run)
      result.push_back(static_cast<double>(tasks[i].start - before.start));
  }
  return result;
}

std::optional<double> median_period(const std::vector<TaskSample>& tasks) {
  const std::vector<double> all = periods(tasks);
  return all.empty() ? std::nullopt : std::optional{median(all)};
}

}  // namespace cohort::tool
