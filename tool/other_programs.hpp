// CPU time used by other programs during a measurement. Figures measured on a busy machine get a
// warning.
#pragma once

#include <chrono>
#include <string>

namespace cohort::tool {

/// Measures from its construction on.
class OtherPrograms {
 public:
  /// Fraction of the usable CPUs' time that other programs have taken since the construction; 0 if
  /// Linux does not provide it.
  [[nodiscard]] double share() const;

 private:
  struct Sample {
    std::chrono::steady_clock::time_point at;
    double busy;  ///< seconds that the CPUs were busy
    double own;   ///< seconds of this process and of its children that have ended
    double cpus;
  };
  static Sample now();

  Sample begin_ = now();
};

/// The warning for figures measured while other programs used this share; empty if it is small.
[[nodiscard]] std::string busy_warning(double share);

}  // namespace cohort::tool
