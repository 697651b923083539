#include "cuda/driver.hpp"

#include "cohort/cuda.hpp"

namespace cohort::cuda {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  // Clears the error, or the next check would report it again.
  static_cast<void>(cudaGetLastError());
  throw Error{result == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_lost,
              std::string{what} + ": " + cudaGetErrorString(result)};
}

namespace {

/// Returns a function of the driver, found through the runtime so that users need not link the
/// driver. Null if this driver does not have the function.
template <class Function>
Function driver_call(const char* name, unsigned int version = 12000) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
  const bool good = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return good ? reinterpret_cast<Function>(function) : nullptr;
}

/// Calls a function of the driver and returns its error as one of the runtime's. For the errors
/// that the engine distinguishes, both use the same numbers.
template <class Function, class... Arguments>
cudaError_t call(Function function, Arguments... arguments) {
  if (function == nullptr) return cudaErrorNotSupported;
  return static_cast<cudaError_t>(function(arguments...));
}

}  // namespace

OnDevice::OnDevice(int device) {
  if (cudaGetDevice(&before_) != cudaSuccess) before_ = device;
  // The driver's own calls need a current context, which a new thread does not have.
  static const auto current = driver_call<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent");
  CUcontext context = nullptr;
  static_cast<void>(call(current, &context));
  if (before_ != device || context == nullptr) static_cast<void>(cudaSetDevice(device));
  now_ = device;
}

OnDevice::~OnDevice() {
  if (before_ != now_) static_cast<void>(cudaSetDevice(before_));
}

cudaError_t stream_write(cudaStream_t stream, const void* word, std::uint32_t value) noexcept {
  static const auto write = driver_call<decltype(&cuStreamWriteValue32)>("cuStreamWriteValue32");
  return call(write, stream, reinterpret_cast<CUdeviceptr>(word), value, 0U);
}

cudaError_t stream_wait(cudaStream_t stream, const void* word, std::uint32_t value) noexcept {
  static const auto wait = driver_call<decltype(&cuStreamWaitValue32)>("cuStreamWaitValue32");
  return call(wait, stream, reinterpret_cast<CUdeviceptr>(word), value,
              static_cast<unsigned int>(CU_STREAM_WAIT_VALUE_GEQ));
}

int Code::attribute(CUfunction_attribute which) const {
  static const auto get = driver_call<decltype(&cuFuncGetAttribute)>("cuFuncGetAttribute");
  int value = 0;
  check(call(get, &value, which, function_), "launch: the kernel's attributes");
  return value;
}

void Code::allow_shared_memory(std::size_t bytes) const {
  static const auto set = driver_call<decltype(&cuFuncSetAttribute)>("cuFuncSetAttribute");
  check(call(set, function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
             static_cast<int>(bytes)),
        "launch: the kernel's shared memory");
}

std::uint32_t Code::blocks_on_an_sm(std::uint32_t threads, std::size_t memory) const {
  static const auto get = driver_call<decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor)>(
      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  int blocks = 0;
  check(call(get, &blocks, function_, static_cast<int>(threads), memory),
        "launch: the kernel's occupancy");
  return static_cast<std::uint32_t>(blocks);
}

std::optional<std::size_t> Code::parameter(std::size_t index) const {
  static const auto get = driver_call<decltype(&cuFuncGetParamInfo)>("cuFuncGetParamInfo", 12040);
  std::size_t offset = 0;
  std::size_t size = 0;
  const cudaError_t error = call(get, function_, index, &offset, &size);
  if (error == cudaErrorNotSupported) return {};
  if (error == cudaErrorInvalidValue) return 0;
  check(error, "launch: the kernel's parameters");
  return size;
}

cudaError_t Code::launch(std::uint32_t blocks, std::uint32_t threads, std::size_t memory,
                         cudaStream_t stream, void** parameters) const {
  static const auto start = driver_call<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  return call(start, function_, blocks, 1U, 1U, threads, 1U, 1U, static_cast<unsigned int>(memory),
              stream, parameters, static_cast<void**>(nullptr));
}

namespace detail {

cudaFunction_t function_of(cudaError_t found, cudaKernel_t kernel) {
  check(found, "launch: the kernel");
  static const auto get = driver_call<decltype(&cuKernelGetFunction)>("cuKernelGetFunction");
  CUfunction function = nullptr;
  check(call(get, &function, reinterpret_cast<CUkernel>(kernel)), "launch: the kernel");
  return function;
}

}  // namespace detail

}  // namespace cohort::cuda
