// Shows the host's activity in profilers: NVTX ranges in the domain "cohort". Without a profiler,
// each costs one pointer check.
#pragma once

#include <nvtx3/nvtx3.hpp>

namespace cohort::cuda {

struct ProfilerDomain {
  static constexpr const char* name = "cohort";
};

/// A range that lasts until the object is destroyed, on any thread.
using Range = nvtx3::unique_range_in<ProfilerDomain>;

}  // namespace cohort::cuda
