// Durations recorded while a job runs, and their summary. Memory is bounded: of a long run, a
// uniform sample is kept.
#pragma once

#include <cstdint>
#include <vector>

namespace cohort {

/// Summary of a set of durations, in nanoseconds. Count and maximum are exact.
struct Summary {
  std::uint64_t count = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;
};

/// A bounded set of durations.
class Samples {
 public:
  static constexpr std::size_t capacity = 4096;

  void add(std::uint64_t nanoseconds);
  void merge(const Samples& other);
  [[nodiscard]] Summary summary() const;
  [[nodiscard]] const std::vector<std::uint64_t>& kept() const noexcept { return kept_; }

 private:
  std::uint64_t random();
  void keep(std::uint64_t nanoseconds, std::uint64_t seen);

  std::vector<std::uint64_t> kept_;
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
  std::uint64_t random_ = 0x9E3779B97F4A7C15U;
};

}  // namespace cohort
