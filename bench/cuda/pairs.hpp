// The apps that the CUDA scenarios run. Each runs on an input that keeps a GPU busy for a while.
#pragma once

#include <string_view>
#include <vector>

#include "bench/variants.hpp"

namespace cohort::bench {

/// Options of a run with this number of groups.
[[nodiscard]] inline apps::RunOptions with_groups(std::uint32_t groups, bool resizable = true) {
  apps::RunOptions options;
  options.launch.max_groups = groups;
  options.launch.resizable = resizable;
  return options;
}

/// Our algorithms for the paper's apps and for cc, filtered by `only`. R-MAT graphs are smaller
/// than on the CPU: each run of a larger one would take less time than its upload.
[[nodiscard]] std::vector<Variant> cuda_variants(bool quick, std::string_view only,
                                                 bool chunked = false);

}  // namespace cohort::bench
