// Percentiles and means.
#pragma once

#include <vector>

namespace cohort::tool {

/// Interpolated between the two nearest values; `percent` from 0 to 100. There must be a value.
[[nodiscard]] double percentile(std::vector<double> values, double percent);
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double geometric_mean(const std::vector<double>& values);

}  // namespace cohort::tool
