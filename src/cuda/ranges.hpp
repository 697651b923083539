// What a profiler sees of the host's side: ranges of the domain "cohort". Without a profiler each
// is a look at a pointer.
#pragma once

#include <nvtx3/nvtx3.hpp>

namespace cohort::cuda {

struct ProfilerDomain {
  static constexpr const char* name = "cohort";
};

/// From here to the end of the object, on whatever thread that is.
using Range = nvtx3::unique_range_in<ProfilerDomain>;

}  // namespace cohort::cuda
