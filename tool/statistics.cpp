#include "tool/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace cohort::tool {

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  const double rank = percent / 100.0 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(rank));
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (rank - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) { return percentile(std::move(values), 50); }

double geometric_mean(const std::vector<double>& values) {
  double logs = 0;
  for (const double each : values) logs += std::log(each);
  return std::exp(logs / static_cast<double>(values.size()));
}

}  // namespace cohort::tool
