// The engines of this build, by name.
#pragma once

#include <array>
#include <string_view>

namespace cohort::cli {

struct EngineKind {
  std::string_view name;
  std::string_view summary;
};

inline constexpr std::array engines{
    EngineKind{.name = "cpu", .summary = "worker threads of this machine"},
#ifdef COHORT_WITH_CUDA
    EngineKind{.name = "cuda", .summary = "thread blocks of an NVIDIA GPU"},
#endif
#ifdef COHORT_WITH_OPENCL
    EngineKind{.name = "opencl", .summary = "work-groups of an OpenCL device"},
#endif
};

}  // namespace cohort::cli
