#include "bench/device_record.hpp"

#include <nlohmann/json.hpp>
#ifdef COHORT_WITH_CUDA
#include "bench/cuda/words.hpp"
#endif

namespace cohort::bench {
namespace {

nlohmann::ordered_json device_record(const cpu::Engine& /*engine*/) { return nullptr; }
#ifdef COHORT_WITH_CUDA
nlohmann::ordered_json device_record(const cuda::Engine& /*engine*/) { return described(); }
#endif

}  // namespace

#ifdef COHORT_WITH_OPENCL
nlohmann::ordered_json device_record(const opencl::Engine& engine) {
  const opencl::Device& device = engine.device();
  return {{"name", device.name},
          {"platform", device.platform},
          {"version", device.version},
          {"units", device.units}};
}
#endif

nlohmann::ordered_json device_record(const AnyEngine& engine) {
  return engine.visit([](const auto& its) { return device_record(its); });
}

}  // namespace cohort::bench
