// The graph apps as one would write them with OpenMP: plain and well, the same algorithms, to
// compare with. Only their source is compiled with OpenMP. Each returns its run time in
// nanoseconds, and throws std::runtime_error when its result is wrong, which it looks at before it
// is returned.
#pragma once

#include "bench/pairs.hpp"

namespace cohort::bench {

/// The app of that pair; the algorithm is the pair's where there is an OpenMP version of it, else
/// the paper's. `threads` at a time.
[[nodiscard]] double openmp_run(const Pair& pair, int threads);

/// Whether there is an OpenMP version of the pair's app and algorithm.
[[nodiscard]] bool has_openmp(const Pair& pair);

}  // namespace cohort::bench
