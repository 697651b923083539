// M over time, for a job's report. A long history is thinned out evenly; the remaining points are
// exact.
#pragma once

#include <cstdint>
#include <vector>

#include "cohort/job.hpp"

namespace cohort::engine {

/// A bounded record of a job's number of groups.
class SizeHistory {
 public:
  void push(std::uint64_t nanoseconds, std::uint32_t groups) {
    if (skipped_++ % every_ != 0) {
      latest_ = {nanoseconds, groups};
      return;
    }
    if (kept_.size() == 8192) {
      for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
      kept_.resize(kept_.size() / 2);
      every_ *= 2;
    }
    kept_.push_back({nanoseconds, groups});
    latest_ = kept_.back();
  }
  [[nodiscard]] std::vector<Report::Size> all() const {
    std::vector<Report::Size> result = kept_;
    if (!result.empty() && result.back().nanoseconds != latest_.nanoseconds)
      result.push_back(latest_);
    return result;
  }

 private:
  std::vector<Report::Size> kept_;
  Report::Size latest_;
  std::uint64_t skipped_ = 0;
  std::uint64_t every_ = 1;
};

}  // namespace cohort::engine
