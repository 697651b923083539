// The baselines: the graph apps' algorithms in plain OpenMP. They throw std::runtime_error for a
// wrong result.
#pragma once

#include "apps/known_graph.hpp"
#include "bench/variants.hpp"

namespace cohort::bench {

/// An app and its input. Runs the variant's algorithm if there is an OpenMP version of it;
/// otherwise runs the paper's algorithm.
class OpenMpApp {
 public:
  explicit OpenMpApp(const Variant& variant);
  /// Runs it on `threads` threads. Returns nanoseconds.
  [[nodiscard]] double run(int threads);

 private:
  std::string app_;
  bool paper_;
  apps::GraphInput graph_;
  Node source_;
  bool verified_ = false;  // checked only once, because a check takes longer than a run
};

/// Whether there is an OpenMP version of its app.
[[nodiscard]] bool has_openmp(const Variant& variant);

}  // namespace cohort::bench
