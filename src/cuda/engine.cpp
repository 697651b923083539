// The engine's handle: finds and opens the device.
#include <cstdlib>

#include "cohort/cuda.hpp"
#include "cuda/grids.hpp"

namespace cohort::cuda {
namespace {

/// Makes CUDA load kernels with the program. Otherwise the first launch of a kernel loads it, which
/// waits for running kernels to end. Only works before the first CUDA call.
void load_eagerly() {
  static const bool once = [] {
    ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // NOLINT(concurrency-mt-unsafe)
    return true;
  }();
  static_cast<void>(once);
}

/// A plain message for errors whose driver text only an expert understands.
std::string in_words(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
    case cudaErrorNoDevice: return "no NVIDIA GPU";
    case cudaErrorInsufficientDriver:
      return "no NVIDIA driver, or one that is older than CUDA " +
             std::to_string(CUDART_VERSION / 1000) + "." +
             std::to_string(CUDART_VERSION % 1000 / 10);
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
      return "MPS has as many clients as it takes; end one of those that `cohort mps status` "
             "counts";
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
      return std::string{"MPS does not answer ("} + cudaGetErrorString(error) +
             "); see `cohort mps status` and its logs";
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

namespace {

std::shared_ptr<engine::Dispatcher> open(const EngineOptions& options) {
  std::string why;
  if (!available(&why)) throw Error{Errc::unsupported, "cuda engine: " + why};
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cuda engine");
  if (options.device < 0 || options.device >= devices) {
    throw Error{Errc::bad_options, "cuda engine: device " + std::to_string(options.device) +
                                       "; there are 0 to " + std::to_string(devices - 1)};
  }
  auto dispatcher = std::make_shared<engine::Dispatcher>(device_memory(options.device));
  auto grids = std::make_unique<Grids>(*dispatcher, options);
  grids->open();
  Grids& its = *grids;
  dispatcher->open(std::move(grids), options.capacity.value_or(its.sms()));
  its.attend();
  return dispatcher;
}

Grids& grids_of(const engine::Dispatcher& dispatcher) {
  return static_cast<Grids&>(dispatcher.backend());
}

}  // namespace

Engine::Engine(EngineOptions options) : KernelEngine(open(options)) {}

int Engine::device() const { return grids_of(dispatcher()).device(); }

Lease Engine::lease(cudaStream_t stream, LeaseOptions options) {
  Grids& grids = grids_of(dispatcher());
  const std::uint32_t slot = grids.open_lease(stream, options.sms);
  return Lease{std::shared_ptr<Grids>{dispatcher().shared_from_this(), &grids}, slot, stream};
}

void Engine::load(const std::function<cudaFunction_t()>& find) const {
  const OnDevice here{device()};
  static_cast<void>(Code{find()}.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS));
}

}  // namespace cohort::cuda
