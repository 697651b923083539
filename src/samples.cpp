// Samples: reservoir sampling (Vitter's algorithm R), so that what is kept is uniform over
// everything seen.
#include "cohort/samples.hpp"

#include <algorithm>

namespace cohort {

void Samples::keep(std::uint64_t nanoseconds, std::uint64_t seen) {
  if (kept_.size() < capacity) {
    kept_.push_back(nanoseconds);
    return;
  }
  random_ ^= random_ << 13U;  // xorshift64: quality hardly matters here, speed does
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  const std::uint64_t slot = random_ % seen;
  if (slot < capacity) kept_[slot] = nanoseconds;
}

void Samples::add(std::uint64_t nanoseconds) {
  ++count_;
  max_ = std::max(max_, nanoseconds);
  keep(nanoseconds, count_);
}

void Samples::merge(const Samples& other) {
  const std::uint64_t before = count_;
  for (std::size_t i = 0; i < other.kept_.size(); ++i) keep(other.kept_[i], before + i + 1);
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Summary Samples::summary() const {
  if (kept_.empty()) return {};
  std::vector<std::uint64_t> sorted = kept_;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&sorted](std::size_t percent) {
    return sorted[(sorted.size() - 1) * percent / 100];
  };
  return {.count = count_, .p50 = at(50), .p99 = at(99), .max = max_};
}

}  // namespace cohort
