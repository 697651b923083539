// The baselines: the graph apps' algorithms in plain OpenMP. Throws std::runtime_error if a result
// is wrong.
#pragma once

#include "apps/known_graph.hpp"
#include "bench/variants.hpp"

namespace cohort::bench {

/// An app and its input. The algorithm is the variant's where there is an OpenMP version of it,
/// else the paper's.
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
  bool verified_ = false;  // a check takes longer than the run: once is enough
};

/// Whether there is an OpenMP version of its app.
[[nodiscard]] bool has_openmp(const Variant& variant);

}  // namespace cohort::bench
