#include "cohort/any_engine.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "../choices.hpp"

namespace cohort {
namespace {

EngineVariant make_cpu(const EngineSpec& spec) {
  if (!spec.device.empty())
    throw Error{Errc::bad_options, "--device is for --engine cuda and opencl; drop it"};
  return std::make_unique<cpu::Engine>(cpu::EngineOptions{
      .capacity = spec.capacity, .pin_workers = spec.pinned, .share = spec.share});
}

#ifdef COHORT_WITH_CUDA
std::string cuda_lacking() {
  std::string why;
  static_cast<void>(cuda::available(&why));
  return why;
}

EngineVariant make_cuda(const EngineSpec& spec) {
  int device = 0;
  const char* const end = spec.device.data() + spec.device.size();
  const auto [rest, error] = std::from_chars(spec.device.data(), end, device);
  if (!spec.device.empty() && (error != std::errc{} || rest != end)) {
    throw Error{Errc::bad_options, "--device " + spec.device +
                                       "; with --engine cuda it is the number of a GPU, e.g. 0"};
  }
  return std::make_unique<cuda::Engine>(
      cuda::EngineOptions{.device = device, .capacity = spec.capacity});
}
#endif

#ifdef COHORT_WITH_OPENCL
std::string opencl_lacking() {
  const auto devices = opencl::devices();
  if (devices.empty()) return "no OpenCL device";
  const auto usable = [](const opencl::Device& each) { return each.lacks.empty(); };
  if (std::ranges::any_of(devices, usable)) return "";
  return "device '" + devices.front().name + "' lacks " + devices.front().lacks;
}

EngineVariant make_opencl(const EngineSpec& spec) {
  return std::make_unique<opencl::Engine>(opencl::EngineOptions{
      .device = spec.device,
      .capacity = spec.capacity,
      .scheduler = spec.scheduler == "group" ? opencl::Scheduler::group : opencl::Scheduler::host});
}
#endif

constexpr std::array kinds{
    EngineKind{.name = "cpu",
               .summary = "worker threads of this machine",
               .unit = "unit",
               .traces = true,
               .lacking = [] { return std::string{}; },
               .make = &make_cpu},
#ifdef COHORT_WITH_CUDA
    EngineKind{.name = "cuda",
               .summary = "thread blocks of an NVIDIA GPU",
               .unit = "SM",
               .traces = true,
               .lacking = &cuda_lacking,
               .make = &make_cuda},
#endif
#ifdef COHORT_WITH_OPENCL
    EngineKind{.name = "opencl",
               .summary = "work-groups of an OpenCL device",
               .unit = "unit",
               .traces = false,
               .lacking = &opencl_lacking,
               .make = &make_opencl},
#endif
};

const EngineKind& checked(const EngineSpec& spec) {
  check_scheduler(spec.scheduler, spec.engine);
  if (!spec.share.empty() && spec.engine != "cpu")
    throw Error{Errc::bad_options, "--share is for --engine cpu; drop it"};
  return engine_kind(spec.engine);
}

}  // namespace

std::span<const EngineKind> engine_kinds() { return kinds; }

void check_scheduler(const std::string& scheduler, std::string_view engine) {
  if (scheduler == "host" || (scheduler == "group" && engine == "opencl")) return;
  throw Error{Errc::bad_options,
              "--scheduler " + scheduler + ": it is host or, with --engine opencl, group; drop it"};
}

const EngineKind& engine_kind(std::string_view name) { return choose("engine", name, kinds); }

AnyEngine::AnyEngine(const EngineSpec& spec) : kind_(checked(spec)), engine_(kind_.make(spec)) {}

std::uint32_t AnyEngine::capacity() const {
  return visit([](const auto& engine) { return engine.capacity(); });
}

bool AnyEngine::on_cpus() const {
  return visit([](const auto& engine) {
    if constexpr (requires { engine.device().is_cpu; }) return engine.device().is_cpu;
    return std::is_same_v<decltype(engine), const cpu::Engine&>;
  });
}

}  // namespace cohort
