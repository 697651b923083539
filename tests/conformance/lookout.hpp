// A tracer that waits for one kind of event.
#pragma once

#include <atomic>

#include "cohort/trace.hpp"

namespace cohort::test {

/// Raises a flag at the first event of a kind.
class Lookout : public Tracer {
 public:
  explicit Lookout(Trace what) : what_(what) {}
  void record(const TraceEvent& event) noexcept override {
    if (event.what == what_) seen.store(true);
  }
  std::atomic<bool> seen{false};

 private:
  Trace what_;
};

}  // namespace cohort::test
