#include <chrono>

#include "bench/cuda/hold.hpp"

namespace cohort::bench {
inline namespace hold_kernels {

constexpr int memory = 200'000;  // bytes of shared memory, so that no other block fits on the SM

/// The kernel holds its SMs until all blocks have arrived, then reports to the host. It cannot
/// hang: after 100 ms it ends without a report.
__global__ void stay(std::uint32_t* count, std::uint32_t all, volatile std::uint32_t* told) {
  if (threadIdx.x == 0) {
    if (atomicAdd(count, 1U) + 1 == all) {
      *told = all;
      __threadfence_system();
    }
    const std::uint64_t until = cuda::Platform::timer() + 100'000'000;
    while (*static_cast<volatile std::uint32_t*>(count) < all && cuda::Platform::timer() < until) {
    }
  }
  __syncthreads();
}

/// Reads the clock before the next kernel in the stream. Needs the resources of one warp next to
/// the job.
__global__ void stamp(std::uint64_t* at) { *at = cuda::Platform::timer(); }

void check_hold(cudaError_t error) {
  if (error == cudaSuccess) return;
  throw Error{Errc::device_lost, std::string{"bench: "} + cudaGetErrorString(error)};
}

}  // namespace hold_kernels

Holder::Holder(cuda::Engine& engine) : engine_(engine), count_(engine.fill<std::uint32_t>(1, 0)) {
  int low = 0;
  int high = 0;
  check_hold(cudaDeviceGetStreamPriorityRange(&low, &high));
  check_hold(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, high));
  check_hold(cudaHostAlloc(reinterpret_cast<void**>(&told_), sizeof *told_, cudaHostAllocMapped));
  check_hold(cudaHostAlloc(reinterpret_cast<void**>(&asked_), sizeof *asked_, cudaHostAllocMapped));
  check_hold(cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, memory));
  *told_ = 0;
  *asked_ = 0;
}
Holder::~Holder() {
  cudaFreeHost(told_);
  cudaFreeHost(asked_);
  cudaStreamDestroy(stream_);
}

double Holder::hold(std::uint32_t sms, bool stamped) {
  using Clock = std::chrono::steady_clock;
  check_hold(cudaStreamSynchronize(stream_));  // waits for the previous hold
  const auto begin = Clock::now();
  const auto since = [begin] {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  };
  held_ += sms;
  if (stamped) stamp<<<1, 1, 0, stream_>>>(asked_);
  const cuda::Lease lease = engine_.lease(stream_, {.sms = sms});
  stay<<<sms, 128, memory, stream_>>>(count_.data(), held_, told_);
  check_hold(cudaGetLastError());
  while (*static_cast<volatile std::uint32_t*>(told_) != held_) {
    if (since() > 1e9) throw Error{Errc::bad_state, "the SMs do not come"};
    static_cast<void>(cudaStreamQuery(stream_));
  }
  return since();
}

}  // namespace cohort::bench
