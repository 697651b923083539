// Tests the one property that the engine needs and CUDA does not promise: an SM that a block has
// left goes to a waiting kernel of higher priority, while the other blocks of that grid keep
// running.
#include <chrono>
#include <map>
#include <mutex>

#include "cuda/driver.hpp"

namespace cohort::cuda {
namespace {

__device__ std::uint64_t timer() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Each block stays until its number is at least `target`, or its time is up, so the kernel cannot
/// hang.
__global__ void occupy(const volatile std::uint32_t* target, std::uint32_t* begun,
                       std::uint64_t budget) {
  if (threadIdx.x == 0) {
    atomicAdd(begun, 1U);
    const std::uint64_t until = timer() + budget;
    while (blockIdx.x < *target && timer() < until) __nanosleep(200);
  }
  __syncthreads();
}

__global__ void arrive(std::uint32_t* begun) {
  if (threadIdx.x == 0) atomicAdd(begun, 1U);
}

/// Polls a word in pinned memory until it is `value`. Calls the runtime meanwhile, which might
/// otherwise not submit a launch.
bool comes_to(const volatile std::uint32_t* word, std::uint32_t value, cudaStream_t stream,
              std::chrono::microseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (*word < value) {
    static_cast<void>(cudaStreamQuery(stream));
    if (std::chrono::steady_clock::now() > until) break;
  }
  return *word >= value;  // a last check, in case the host was delayed
}

enum class Seen { hands_over, keeps, busy };

Seen look(int device) {
  using std::chrono::milliseconds;
  const OnDevice here{device};
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "self-test");
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "self-test");
  if (highest >= lowest) return Seen::keeps;
  const auto sms = static_cast<std::uint32_t>(properties.multiProcessorCount);
  const auto memory = static_cast<int>(properties.sharedMemPerBlockOptin) - 1024;
  check(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, memory),
        "self-test");
  check(cudaFuncSetAttribute(arrive, cudaFuncAttributeMaxDynamicSharedMemorySize, memory),
        "self-test");

  // These are not freed: on a busy device, freeing would wait for other kernels.
  std::uint32_t* words = nullptr;  // 0: started at low priority, 1: started at high priority
  std::uint32_t* target = nullptr;
  cudaStream_t low = nullptr;
  cudaStream_t high = nullptr;
  check(cudaHostAlloc(&words, 128, cudaHostAllocMapped), "self-test");
  words[0] = words[1] = 0;
  check(cudaMalloc(&target, 128), "self-test");
  check(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, lowest), "self-test");
  check(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, highest), "self-test");

  check(cudaMemcpyAsync(target, &sms, sizeof sms, cudaMemcpyHostToDevice, low), "self-test");
  const std::uint32_t wanted = sms >= 4 ? sms / 4 : 1;
  occupy<<<sms, 32, memory, low>>>(target, words, 3'000'000'000);
  check(cudaGetLastError(), "self-test");
  Seen seen = Seen::busy;
  if (comes_to(&words[0], sms, low, milliseconds{1000})) {
    check(stream_write(high, target, sms - wanted), "self-test: a stream's write");
    arrive<<<wanted, 32, memory, high>>>(words + 1);
    check(cudaGetLastError(), "self-test");
    const bool came = comes_to(&words[1], wanted, high, milliseconds{1000});
    const bool beside = cudaStreamQuery(low) == cudaErrorNotReady;
    seen = came && beside ? Seen::hands_over : Seen::keeps;
  }
  check(stream_write(high, target, 0), "self-test: a stream's write");
  check(cudaStreamSynchronize(high), "self-test");
  check(cudaStreamSynchronize(low), "self-test");
  cudaStreamDestroy(low);
  cudaStreamDestroy(high);
  return seen;
}

}  // namespace

void try_hand_over(int device) {
  static std::mutex mutex;
  static std::map<int, Seen> results;
  const std::lock_guard lock{mutex};
  auto found = results.find(device);
  if (found == results.end() || found->second == Seen::busy) {
    Seen seen = look(device);
    // Try several times: under compute-sanitizer a launch may wait for the kernels before it.
    for (int more = 2; more > 0 && seen == Seen::keeps; --more) seen = look(device);
    found = results.insert_or_assign(device, seen).first;
  }
  if (found->second != Seen::keeps) return;  // on a busy device, the result proves nothing
  throw Error{Errc::unsupported,
              "device " + std::to_string(device) +
                  " does not hand freed SMs to kernels of higher priority, which jobs rely on"};
}

}  // namespace cohort::cuda
