#include "cuda/driver.hpp"

namespace cohort::cuda {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // or the next check would see it again
  throw Error{result == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_lost,
              std::string{what} + ": " + cudaGetErrorString(result)};
}

OnDevice::OnDevice(int device) {
  if (cudaGetDevice(&before_) != cudaSuccess) before_ = device;
  if (before_ != device) static_cast<void>(cudaSetDevice(device));
  now_ = device;
}

OnDevice::~OnDevice() {
  if (before_ != now_) static_cast<void>(cudaSetDevice(before_));
}

cudaError_t stream_write(cudaStream_t stream, const void* word, std::uint32_t value) noexcept {
  using Write = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);
  static const Write write = [] {  // through the runtime, so that users need not link the driver
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &function,
                                                               12000, cudaEnableDefault, &found);
    const bool good = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return good ? reinterpret_cast<Write>(function) : nullptr;
  }();
  if (write == nullptr) return cudaErrorNotSupported;
  const CUresult result = write(stream, reinterpret_cast<CUdeviceptr>(word), value, 0);
  // The runtime uses the driver's numbers for the errors that the engine distinguishes.
  return static_cast<cudaError_t>(result);
}

}  // namespace cohort::cuda
