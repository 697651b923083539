// Measures contenders side by side. Invariant: every repetition runs all contenders, in a rotating
// order, so that a disturbance affects all of them. Ratios are taken within a repetition.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "tool/progress.hpp"
#include "tool/statistics.hpp"

namespace cohort::bench {

using tool::fastest_of;
using tool::geometric_mean;
using tool::median;
using tool::percentile;
using tool::Progress;
using tool::Stopped;

/// One of the things to compare.
struct Contender {
  std::string name;
  /// Runs one repetition. Returns nanoseconds per operation for each of its batches.
  std::function<std::vector<double>()> measure;
  /// Whether this is a baseline: the other contenders are compared with the best baseline.
  bool reference = false;
};

/// How often to measure.
struct Repetitions {
  std::uint32_t count = 9;
  std::uint32_t warm_ups = 1;  ///< number of repetitions that come first and are discarded
  std::stop_token stop = {};
  /// After this time three repetitions are enough. A warm-up that took this long counts as one of
  /// them.
  std::chrono::nanoseconds enough = std::chrono::nanoseconds::max();
};

/// Samples of one contender.
struct Series {
  std::string name;
  bool reference = false;
  std::vector<std::vector<double>> repetitions;  ///< for each repetition, its batches
};

/// Samples of all contenders.
struct Measurement {
  std::string name;
  std::string unit;
  std::vector<Series> series;

  /// The series with that name. Throws Error{bad_options} if there is none.
  [[nodiscard]] const Series& at(const std::string& contender) const;
  /// The reference with the smallest median; null if there is no reference.
  [[nodiscard]] const Series* best_reference() const;
};

/// Statistics over all batches of a series.
struct Statistics {
  double p50 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;
  double spread = 0;  ///< between the quartiles
};

[[nodiscard]] Statistics statistics(const Series& series);

/// The median of `series` divided by that of `baseline`, for each repetition.
[[nodiscard]] std::vector<double> ratios(const Series& series, const Series& baseline);

/// Runs the contenders. Shows the progress on stderr if that is a terminal.
[[nodiscard]] Measurement measure(std::string name, std::string unit,
                                  const std::vector<Contender>& contenders,
                                  const Repetitions& plan);

/// `value` with `digits` digits after the point.
[[nodiscard]] std::string fixed(double value, int digits);

/// A table: name, p50, p99, ratio to the best reference.
void print(std::ostream& out, const Measurement& measurement);

/// The whole measurement, raw samples included.
[[nodiscard]] nlohmann::ordered_json to_json(const Measurement& measurement);
/// Prints the table and an empty line on stdout, and returns the same as to_json().
nlohmann::ordered_json reported(const Measurement& measurement);

}  // namespace cohort::bench
