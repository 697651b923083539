// The engines of this build, by name, and whether they can be used here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace cohort::cli {

struct EngineKind {
  std::string_view name;
  std::string_view summary;
  std::uint32_t local_size = 1;  ///< threads per group by default
};

inline constexpr std::array engines{
    EngineKind{.name = "cpu", .summary = "worker threads of this machine"},
#ifdef COHORT_WITH_CUDA
    EngineKind{.name = "cuda", .summary = "thread blocks of an NVIDIA GPU", .local_size = 256},
#endif
#ifdef COHORT_WITH_OPENCL
    EngineKind{.name = "opencl", .summary = "work-groups of an OpenCL device"},
#endif
};

/// Why nothing can run on that engine on this machine; empty if something can.
[[nodiscard]] std::string why_unavailable(std::string_view engine);

/// Why apps cannot; empty if they can.
[[nodiscard]] std::string why_no_apps(std::string_view engine);

/// The engine of that name. Throws Error{bad_options} for one that this build has not, and
/// Error{unsupported} for one that cannot be used on this machine.
const EngineKind& require_engine(std::string_view engine);

}  // namespace cohort::cli
