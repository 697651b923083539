// Samples by reservoir sampling (Vitter's algorithm R): the kept values are a uniform selection of
// all values seen.
#include "cohort/samples.hpp"

#include <algorithm>
#include <utility>

namespace cohort {

std::uint64_t Samples::random() {
  random_ ^= random_ << 13U;  // xorshift64, because speed matters more here than quality
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  return random_;
}

void Samples::keep(std::uint64_t nanoseconds, std::uint64_t seen) {
  if (kept_.size() < capacity) {
    kept_.push_back(nanoseconds);
    return;
  }
  const std::uint64_t slot = random() % seen;
  if (slot < capacity) kept_[slot] = nanoseconds;
}

void Samples::add(std::uint64_t nanoseconds) {
  ++count_;
  max_ = std::max(max_, nanoseconds);
  keep(nanoseconds, count_);
}

void Samples::merge(const Samples& other) {
  if (other.count_ == 0) return;
  const bool all_kept = other.count_ == other.kept_.size();
  if (all_kept && kept_.size() + other.kept_.size() <= capacity) {
    kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  } else {
    // Each place of the merged sample is drawn from one of the two sides. The probability depends
    // on how many values each side has seen, not on how many it has kept.
    const std::vector<std::uint64_t> mine = std::exchange(kept_, {});
    const std::uint64_t seen = count_ + other.count_;
    for (std::size_t i = 0; i < capacity; ++i) {
      const bool from_other = mine.empty() || random() % seen < other.count_;
      const auto& side = from_other ? other.kept_ : mine;
      kept_.push_back(side[random() % side.size()]);
    }
  }
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
