// The latency-critical work of the paper's section 5: matrix products of a fixed size, due again
// and again beside a job. Invariant: every product is compared with one that shares no code with
// it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cohort/cpu.hpp"

namespace cohort::bench {

/// A class of rendering: a task is due every `period` (P) and takes `work` (E) on all groups.
struct LoadClass {
  std::string_view name;
  std::chrono::milliseconds period;
  std::chrono::milliseconds work;
  std::string_view summary;
};

/// As the paper measured them (section 5.2).
inline constexpr std::array load_classes{
    LoadClass{"light", std::chrono::milliseconds{70}, std::chrono::milliseconds{3},
              "every 70 ms one that takes 3 ms on all groups"},
    LoadClass{"medium", std::chrono::milliseconds{40}, std::chrono::milliseconds{3},
              "every 40 ms one that takes 3 ms on all groups"},
    LoadClass{"heavy", std::chrono::milliseconds{40}, std::chrono::milliseconds{10},
              "every 40 ms one that takes 10 ms on all groups"},
};

/// The shares of the machine that the paper's tasks ask for, and all of it, which suspends the job.
inline constexpr std::array<std::string_view, 5> share_names{"one", "quarter", "half",
                                                             "all-but-one", "all"};

/// How many of `capacity` groups `share` is: a name, or a number from 1 to `capacity`. Throws
/// Error{bad_options}.
[[nodiscard]] std::uint32_t groups_of(std::string_view share, std::uint32_t capacity);

/// The product of two square matrices of whole numbers, exact in any order of summation.
class MatrixProduct {
 public:
  explicit MatrixProduct(std::uint32_t side);

  /// A group's rows of the product.
  template <class Group>
  void multiply(Group& group) {
    for (const std::size_t row : group.stride(side_)) multiply_row(row);
  }
  /// Forgets the product. Not while it is being computed.
  void clear();
  /// Whether the product is complete and right.
  [[nodiscard]] bool right() const { return product_ == expected_; }

  [[nodiscard]] std::uint32_t side() const { return side_; }
  [[nodiscard]] const std::vector<float>& left() const { return left_; }
  [[nodiscard]] const std::vector<float>& right_factor() const { return right_; }
  [[nodiscard]] const std::vector<float>& expected() const { return expected_; }

 private:
  void multiply_row(std::size_t row);

  std::uint32_t side_;
  std::vector<float> left_;
  std::vector<float> right_;
  std::vector<float> product_;
  std::vector<float> expected_;
};

/// The side of a product that takes `work`, by trying: `seconds_of(side)` tells how long one takes.
[[nodiscard]] std::uint32_t side_for(std::chrono::nanoseconds work,
                                     const std::function<double(std::uint32_t)>& seconds_of);

/// The side of a product that takes `work` on `groups` of the engine's groups while nothing else
/// runs there.
[[nodiscard]] std::uint32_t side_for(cpu::Engine& engine, std::chrono::nanoseconds work,
                                     std::uint32_t groups);

/// One task as it was served. In nanoseconds.
struct TaskSample {
  std::uint64_t start = 0;   ///< of its execution, in time that the job has been there
  std::uint64_t gather = 0;  ///< from the demand to all its groups in hand
  std::uint64_t run = 0;     ///< from then until it was done
};

/// Serves tasks beside one job after another, as a driver of apps::RunOptions. One is due every
/// period; one that is late delays the next. The clock stands still between jobs.
class Load {
 public:
  /// How a task went, and whether what came out is right.
  struct Served {
    TaskReport report;
    bool right = false;
  };

  /// Nothing is served, and jobs are only timed.
  Load() = default;
  /// `serve` runs a task and waits for it.
  Load(std::function<Served()> serve, std::chrono::nanoseconds period)
      : serve_(std::move(serve)), period_(period) {}

  /// Sees `job` through.
  Report drive(const Job& job);

  [[nodiscard]] const std::vector<TaskSample>& tasks() const { return tasks_; }
  /// From launch to end, suspended times included, of each job.
  [[nodiscard]] const std::vector<std::uint64_t>& job_times() const { return job_times_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  /// Serves a task; returns when it is done.
  void serve(std::uint64_t now_in_job);

  std::function<Served()> serve_;
  std::chrono::nanoseconds period_{0};
  std::uint64_t before_ = 0;  // time of the jobs so far
  std::uint64_t due_ = 0;     // of the next task, in time of jobs
  std::vector<TaskSample> tasks_;
  std::vector<std::uint64_t> job_times_;
  std::uint64_t wrong_ = 0;
};

/// The median time from one task's start to the next; nothing when there are fewer than two.
[[nodiscard]] std::optional<double> median_period(const std::vector<TaskSample>& tasks);

}  // namespace cohort::bench
