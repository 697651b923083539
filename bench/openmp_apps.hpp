// The graph apps as one would write them with OpenMP: plain and well, the same algorithms, to
// compare with. Only their source is compiled with OpenMP. Each returns its run time in
// nanoseconds, and throws std::runtime_error when its result is wrong, which it looks at before it
// is returned.
#pragma once

#include "apps/known_graph.hpp"
#include "bench/variants.hpp"

namespace cohort::bench {

/// An app and its input. The algorithm is the variant's where there is an OpenMP version of it,
/// else the paper's.
class OpenMpApp {
 public:
  explicit OpenMpApp(const Variant& variant);
  /// `threads` at a time.
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
