#include "cli/engines.hpp"

#include "apps/choices.hpp"
#include "cohort/error.hpp"
#ifdef COHORT_WITH_CUDA
#include "cohort/cuda.hpp"
#endif
#ifdef COHORT_WITH_OPENCL
#include <algorithm>

#include "cohort/opencl.hpp"
#endif

namespace cohort::cli {

std::string why_unavailable([[maybe_unused]] std::string_view engine) {
  std::string why;
#ifdef COHORT_WITH_CUDA
  if (engine == "cuda") static_cast<void>(cuda::available(&why));
#endif
#ifdef COHORT_WITH_OPENCL
  if (engine == "opencl") {
    const auto devices = opencl::devices();
    const auto usable = [](const opencl::Device& each) { return each.lacks.empty(); };
    if (devices.empty()) {
      why = "no OpenCL device";
    } else if (std::none_of(devices.begin(), devices.end(), usable)) {
      why = "device '" + devices.front().name + "' lacks " + devices.front().lacks;
    }
  }
#endif
  return why;
}

std::string why_no_apps(std::string_view engine) {
  std::string why = why_unavailable(engine);
#ifndef COHORT_WITH_CUDA_APPS
  if (engine == "cuda" && why.empty())
    why = "this build has no apps for it, only kernel files; configure with COHORT_CUDA_APPS=ON";
#endif
  return why;
}

const EngineKind& require_engine(std::string_view engine) {
  const EngineKind& kind = choose("engine", engine, engines);
  if (const std::string why = why_unavailable(engine); !why.empty())
    throw Error{Errc::unsupported, "--engine " + std::string{engine} + ": " + why};
  return kind;
}

}  // namespace cohort::cli
