#include "tool/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

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

std::string three_digits(double value) {
  // Round before counting digits: 9.996 becomes 10.0.
  std::ostringstream rounded;
  rounded << std::scientific << std::setprecision(2) << value;
  const std::string text = rounded.str();
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  std::ostringstream out;
  out << std::fixed << std::setprecision(std::clamp(2 - exponent, 0, 12)) << value;
  return out.str();
}

}  // namespace cohort::tool
