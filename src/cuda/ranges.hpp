// The host's activity as profilers see it: ranges of the domain "cohort". Without a profiler, each
// costs one check of a pointer.
#pragma once

#include <nvtx3/nvtx3.hpp>

namespace cohort::cuda {

struct ProfilerDomain {
  static constexpr const char* name = "cohort";
};

/// From here to the end of the object's life, on any thread.
using Range = nvtx3::unique_range_in<ProfilerDomain>;

}  // namespace cohort::cuda
