// One warp that looks into the host's memory for what is wanted, and hands it to the job's blocks.
#include "cuda/scheduler.hpp"

namespace cohort::cuda {
namespace {

/// Copies what the host asks for, 16 bytes a lane.
__device__ void copy_function(detail::Wish& to, const detail::Wish& from) {
  const auto* const source = reinterpret_cast<const volatile std::uint32_t*>(from.function);
  auto* const target = reinterpret_cast<std::uint32_t*>(to.function);
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) target[threadIdx.x + 32 * i] = source[threadIdx.x + 32 * i];
}

__global__ void schedule(const __grid_constant__ detail::Desk desk) {
  detail::Pool& pool = *desk.pool;
  auto* const mail = static_cast<volatile detail::Mail*>(pool.mail);
  auto last = static_cast<std::uint32_t>(pool.open.load(Order::relaxed) >> 32U);
  for (;;) {
    const bool over = desk.shared->closed.load(Order::acquire) != 0;
    const std::uint32_t serial = __shfl_sync(~0U, mail->serial, 0);
    if (serial == last) {
      if (__shfl_sync(~0U, over ? 1 : 0, 0) != 0) return;
      __nanosleep(300);
      continue;
    }
    last = serial;
    __threadfence_system();  // pairs with the host's release of the serial
    copy_function(pool.wish, pool.mail->wish);
    __syncwarp();
    if (threadIdx.x != 0) continue;
    const std::uint32_t groups = mail->wish.groups;
    pool.wish.kind = mail->wish.kind;
    pool.wish.groups = groups;
    const std::uint32_t sms = mail->wish.sms;
    mail->lent = sms;
    __threadfence();  // what the other lanes have copied, too
    pool.open.store(detail::opening(serial, groups), Order::release);  // pairs with take_ticket()
    pool.lent.store(sms, Order::relaxed);
  }
}

}  // namespace

cudaError_t launch_scheduler(const detail::Desk& desk, cudaStream_t stream) {
  detail::Desk at = desk;
  void* arguments[] = {&at};
  // An SM divides its memory anew only while nobody is there: a block of the job is to fit beside
  // it.
  static_cast<void>(cudaFuncSetAttribute(reinterpret_cast<const void*>(&schedule),
                                         cudaFuncAttributePreferredSharedMemoryCarveout,
                                         cudaSharedmemCarveoutMaxShared));
  return cudaLaunchKernel(reinterpret_cast<const void*>(&schedule), dim3{1}, dim3{32}, arguments, 0,
                          stream);
}

}  // namespace cohort::cuda
