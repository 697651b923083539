// The graph apps as one would write them with OpenMP: plain and well, the same algorithms, to
// compare with. Only their source is compiled with OpenMP. Each returns its run time in
// nanoseconds, and throws std::runtime_error when its result is wrong, which it looks at before it
// is returned.
#pragma once

#include "bench/variants.hpp"

namespace cohort::bench {

/// The app of that pair; the algorithm is the variant's where there is an OpenMP version of it,
/// else the paper's. `threads` at a time.
[[nodiscard]] double openmp_run(const Variant& variant, int threads);

/// Whether there is an OpenMP version of its app and algorithm.
[[nodiscard]] bool has_openmp(const Variant& variant);

}  // namespace cohort::bench
