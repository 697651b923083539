// Checked calls of CUDA.
// Invariant: an error becomes an Error that names the call.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cohort/error.hpp"

namespace cohort::cuda {

/// Throws Error{out_of_memory} or Error{device_lost} unless `result` is success.
void check(cudaError_t result, const char* what);

/// Until the end of the scope, calls by this thread do not invalidate stream captures in progress,
/// here or in other threads. This is safe because the engine's calls touch no captured stream
/// unless asked to.
class BesideCaptures {
 public:
  BesideCaptures() noexcept { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;
  ~BesideCaptures() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }

 private:
  // After the constructor: the thread's previous mode.
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Makes `device` the calling thread's device until the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device);
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice();

 private:
  BesideCaptures beside_;
  int before_ = -1;
  int now_ = -1;
};

/// Writes a word of device memory or of pinned host memory, in stream order. Can be captured.
cudaError_t stream_write(cudaStream_t stream, const void* word, std::uint32_t value) noexcept;

/// Makes the rest of a stream wait until a word of pinned host memory is at least `value`.
cudaError_t stream_wait(cudaStream_t stream, const void* word, std::uint32_t value) noexcept;

/// The code of a kernel on the current device. Uses the driver's calls, since the kernel may come
/// from a module that the CUDA runtime does not know.
class Code {
 public:
  explicit Code(CUfunction function) : function_(function) {}

  [[nodiscard]] int attribute(CUfunction_attribute which) const;
  void allow_shared_memory(std::size_t bytes) const;
  [[nodiscard]] std::uint32_t blocks_on_an_sm(std::uint32_t threads, std::size_t memory) const;
  /// The size of a parameter. 0 if the kernel has fewer parameters; empty if the driver cannot
  /// tell.
  [[nodiscard]] std::optional<std::size_t> parameter(std::size_t index) const;
  [[nodiscard]] cudaError_t launch(std::uint32_t blocks, std::uint32_t threads, std::size_t memory,
                                   cudaStream_t stream, void** parameters) const;

 private:
  CUfunction function_;
};

/// Verifies once per process and device that SMs left by blocks of a low-priority kernel are given
/// to a waiting high-priority one, while the other blocks stay. Throws Error{unsupported} if not.
void try_hand_over(int device);

}  // namespace cohort::cuda
