// Calls of CUDA, checked. Invariant: an error becomes an Error that names the call.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "cohort/error.hpp"

namespace cohort::cuda {

/// Throws Error{out_of_memory} or Error{device_lost} for what is not success.
void check(cudaError_t result, const char* what);

/// What the calling thread does until the end of the scope does not count as a danger to captures
/// that are under way, here or in other threads: our calls touch no stream of theirs unasked.
class BesideCaptures {
 public:
  BesideCaptures() noexcept { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;
  ~BesideCaptures() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then: the thread's own
};

/// Makes `device` the calling thread's, until the end of the scope.
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

/// Writes a word of device memory, or of pinned host memory, in the order of the stream. Can be
/// captured.
cudaError_t stream_write(cudaStream_t stream, const void* word, std::uint32_t value) noexcept;

/// Tries that a high-priority kernel gets the SMs which blocks of a low-priority one leave, while
/// the others stay. Throws Error{unsupported} if not. Once in a process for each device.
void try_hand_over(int device);

}  // namespace cohort::cuda
