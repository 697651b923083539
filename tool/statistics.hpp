// Percentiles and means.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace cohort::tool {

/// A percentile, interpolated between the two nearest values. `percent` is from 0 to 100, and there
/// must be at least one value.
[[nodiscard]] double percentile(std::vector<double> values, double percent);
[[nodiscard]] double median(std::vector<double> values);
/// The minimum of several measurements. For times, it is the least disturbed one.
template <class Measure>
[[nodiscard]] double fastest_of(int tries, Measure measure) {
  double fastest = measure();
  for (int i = 1; i < tries; ++i) fastest = std::min<double>(fastest, measure());
  return fastest;
}
[[nodiscard]] double geometric_mean(const std::vector<double>& values);

/// A positive number with three significant digits, or more before the point: "0.0123", "4.57",
/// "1234".
[[nodiscard]] std::string three_digits(double value);

}  // namespace cohort::tool
