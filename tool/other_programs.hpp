// CPU time of other programs during a measurement: figures of a busy machine carry a warning.
#pragma once

#include <chrono>
#include <string>

namespace cohort::tool {

/// Measures from its construction on.
class OtherPrograms {
 public:
  /// Fraction of the usable CPUs' time that other programs have taken; 0 where Linux does not say.
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

/// What to say with figures that were measured next to so large a share; empty: nothing.
[[nodiscard]] std::string busy_warning(double share);

}  // namespace cohort::tool
