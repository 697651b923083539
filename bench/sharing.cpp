#include "bench/sharing.hpp"

#include <algorithm>

namespace cohort::bench {
namespace {

double at(const ProgressLine& line, std::uint64_t time) {
  const auto after = std::lower_bound(line.begin(), line.end(), std::pair{time, std::uint64_t{0}});
  if (after == line.begin()) return static_cast<double>(after->second);
  const auto before = std::prev(after);
  if (after == line.end()) return static_cast<double>(before->second);
  const double part =
      static_cast<double>(time - before->first) / static_cast<double>(after->first - before->first);
  return static_cast<double>(before->second) +
         part * static_cast<double>(after->second - before->second);
}

}  // namespace

double rate(const ProgressLine& line, std::uint64_t from, std::uint64_t to) {
  if (line.empty()) return 0;
  from = std::max(from, line.front().first);
  to = std::min(to, line.back().first);
  if (to <= from) return 0;
  return (at(line, to) - at(line, from)) / static_cast<double>(to - from);
}

double ideal_slowdown(double share, double busy, double period) {
  return 1 / (1 - share * std::min(busy / period, 1.0));
}

}  // namespace cohort::bench
