// The engine's handle: checks what users ask for, and passes it on to the core.
#include <cstdlib>

#include "cohort/cuda.hpp"
#include "cuda/core.hpp"
#include "cuda/memory.hpp"
#include "options.hpp"

namespace cohort::cuda {
namespace {

/// Kernels are to be loaded with the program: one that is loaded by its first launch waits for the
/// end of whatever runs. Works before the first call of CUDA only.
void load_eagerly() {
  static const bool once = [] {
    ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // NOLINT(concurrency-mt-unsafe)
    return true;
  }();
  static_cast<void>(once);
}

/// The driver's own texts are for those who know its parts.
std::string in_words(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
    case cudaErrorNoDevice: return "no NVIDIA GPU";
    case cudaErrorInsufficientDriver:
      return "no NVIDIA driver, or one that is older than CUDA " +
             std::to_string(CUDART_VERSION / 1000) + "." +
             std::to_string(CUDART_VERSION % 1000 / 10);
    default: return cudaGetErrorString(error);
  }
}

}  // namespace

bool available(std::string* why_not) {
  load_eagerly();
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return true;
  static_cast<void>(cudaGetLastError());
  if (why_not != nullptr) *why_not = in_words(error);
  return false;
}

Engine::Engine(EngineOptions options) {
  std::string why;
  if (!available(&why)) throw Error{Errc::unsupported, "cuda engine: " + why};
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cuda engine");
  if (options.device < 0 || options.device >= devices) {
    throw Error{Errc::bad_options, "cuda engine: device " + std::to_string(options.device) +
                                       "; there are 0 to " + std::to_string(devices - 1)};
  }
  memory_ = device_memory(options.device);
  core_ = std::make_shared<Core>(options, memory_);
  try {
    core_->start();
    if (options.capacity) set_capacity(*options.capacity);
  } catch (...) {
    core_->stop();
    throw;
  }
}

Engine::~Engine() { core_->stop(); }

std::uint32_t Engine::capacity() const { return core_->capacity(); }
int Engine::device() const { return core_->device(); }

void Engine::set_capacity(std::uint32_t units) {
  check_range("engine: capacity", units, 1, core_->sms());
  core_->set_capacity(units);
}

Lease Engine::lease(cudaStream_t stream, LeaseOptions options) {
  return Lease{core_, core_->open_lease(stream, options.sms), stream};
}

void Engine::load(const void* function) const {
  const OnDevice here{core_->device()};
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "prepare");
}

std::uint32_t Engine::checked(const TaskOptions& options) const {
  return cohort::checked(options, capacity());
}

std::uint32_t Engine::checked(const LaunchOptions& options, const Traits& traits) const {
  return cohort::checked(options, capacity(), traits);
}

std::shared_ptr<cohort::detail::JobControl> Engine::start(std::unique_ptr<detail::Body> body,
                                                          const LaunchOptions& options,
                                                          std::optional<int> priority,
                                                          bool restored) {
  return core_->launch(std::move(body), options, priority, restored);
}

void Engine::refuse_static_restore() { cohort::refuse_static_restore(); }

namespace detail {

BufferCopies::BufferCopies(std::vector<NamedMemory> buffers) : buffers_(std::move(buffers)) {
  for (const NamedMemory& each : buffers_) {
    bytes_.emplace_back(each.bytes.size());
    copies_.push_back({each.name, bytes_.back()});
  }
}

void BufferCopies::read(cohort::detail::Memory& memory) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (bytes_[i].empty()) continue;
    memory.read(bytes_[i].data(), buffers_[i].bytes.data(), bytes_[i].size());
  }
}

void BufferCopies::write(cohort::detail::Memory& memory) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (bytes_[i].empty()) continue;
    memory.write(buffers_[i].bytes.data(), bytes_[i].data(), bytes_[i].size());
  }
}

}  // namespace detail

}  // namespace cohort::cuda
