#include "bench/load.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <thread>

#include "bench/harness.hpp"

namespace cohort::bench {
namespace {

using std::chrono::nanoseconds;

/// The same small whole numbers every time: no sum of products of them is beyond a float's 24 bits.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> result(count);
  for (float& each : result) {
    seed = seed * 1664525U + 1013904223U;
    each = static_cast<float>(seed >> 29U);
  }
  return result;
}

/// One column after another, sums in integers: nothing in common with multiply_row.
std::vector<float> product_by_columns(const std::vector<float>& left,
                                      const std::vector<float>& right, std::size_t side) {
  std::vector<float> result(side * side);
  std::vector<std::uint32_t> column(side);
  for (std::size_t j = 0; j < side; ++j) {
    for (std::size_t k = 0; k < side; ++k)
      column[k] = static_cast<std::uint32_t>(right[k * side + j]);
    for (std::size_t i = 0; i < side; ++i) {
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < side; ++k)
        sum += static_cast<std::uint32_t>(left[i * side + k]) * column[k];
      result[i * side + j] = static_cast<float>(sum);
    }
  }
  return result;
}

constexpr std::uint32_t least_side = 8;
constexpr std::uint32_t most_side = 4096;

double seconds_of(cpu::Engine& engine, std::uint32_t side, std::uint32_t groups) {
  MatrixProduct product{side};
  double fastest = std::numeric_limits<double>::max();
  for (int i = 0; i < 7; ++i) {
    const TaskReport report =
        engine.submit([&product](auto& group) { product.multiply(group); }, {.groups = groups})
            .wait();
    fastest = std::min(fastest, std::chrono::duration<double>{report.run_time}.count());
  }
  return fastest;
}

}  // namespace

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

MatrixProduct::MatrixProduct(std::uint32_t side)
    : side_(side),
      left_(numbers(std::size_t{side} * side, 1)),
      right_(numbers(std::size_t{side} * side, 2)),
      product_(std::size_t{side} * side),
      expected_(product_by_columns(left_, right_, side)) {
  clear();
}

void MatrixProduct::clear() { std::fill(product_.begin(), product_.end(), -1.0F); }

void MatrixProduct::multiply_row(std::size_t row) {
  float* const to = product_.data() + row * side_;
  std::fill(to, to + side_, 0.0F);
  for (std::size_t k = 0; k < side_; ++k) {
    const float factor = left_[row * side_ + k];
    const float* const from = right_.data() + k * side_;
    for (std::size_t j = 0; j < side_; ++j) to[j] += factor * from[j];
  }
}

std::uint32_t side_for(nanoseconds work, const std::function<double(std::uint32_t)>& seconds_of) {
  const double wanted = std::chrono::duration<double>{work}.count();
  double side = 64;
  for (int i = 0; i < 4; ++i) {
    const auto whole = static_cast<std::uint32_t>(std::lround(side));
    const double took = seconds_of(whole);
    side = std::clamp(whole * std::cbrt(wanted / took), double{least_side}, double{most_side});
  }
  return static_cast<std::uint32_t>(std::lround(side));
}

std::uint32_t side_for(cpu::Engine& engine, nanoseconds work, std::uint32_t groups) {
  return side_for(
      work, [&engine, groups](std::uint32_t side) { return seconds_of(engine, side, groups); });
}

void Load::serve(std::uint64_t now_in_job) {
  const auto [report, right] = serve_();
  const auto gather = static_cast<std::uint64_t>(report.gather.count());
  tasks_.push_back({.start = now_in_job + gather,
                    .gather = gather,
                    .run = static_cast<std::uint64_t>(report.run_time.count())});
  wrong_ += right ? 0 : 1;
}

Report Load::drive(const Job& job) {
  const std::uint64_t launched = cpu::now();
  std::uint64_t ended = 0;
  std::jthread watch{[&job, &ended] {
    try {
      (void)job.wait();
    } catch (...) {  // told to whoever drives it
    }
    ended = cpu::now();
  }};
  const auto in_job = [&] { return before_ + (cpu::now() - launched); };
  const auto period = static_cast<std::uint64_t>(period_.count());
  const auto over = [&job] {
    const Status status = job.status();
    return status != Status::running && status != Status::pending;
  };
  while (serve_ && !over()) {  // a broken kernel throws in the wait below
    const std::uint64_t now = in_job();
    if (now < due_) {
      if (job.wait_for(nanoseconds{due_ - now})) break;
      continue;
    }
    serve(now);
    due_ += period;
    due_ = std::max(due_, in_job());  // late: the next is due at once
  }
  Report report = job.wait();
  watch.join();
  job_times_.push_back(ended - launched);
  before_ += ended - launched;
  return report;
}

std::optional<double> median_period(const std::vector<TaskSample>& tasks) {
  std::vector<double> periods;
  for (std::size_t i = 1; i < tasks.size(); ++i)
    periods.push_back(static_cast<double>(tasks[i].start - tasks[i - 1].start));
  if (periods.empty()) return std::nullopt;
  return median(std::move(periods));
}

}  // namespace cohort::bench
