#include "cuda/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <string>

#include "cohort/error.hpp"
#include "cuda/driver.hpp"
#include "repeat.hpp"

namespace cohort::cuda {
namespace {

/// This memory has its own pool and stream: stream-ordered allocating and freeing wait for no
/// kernel, while cudaFree would.
class DeviceMemory final : public cohort::detail::Memory {
 public:
  explicit DeviceMemory(int device) : device_(device) {
    const OnDevice here{device_};
    int lowest = 0;
    int highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "memory: priorities");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest),
          "memory: a stream");
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device_;
    check(cudaMemPoolCreate(&pool_, &properties), "memory: a pool");
    // Without this threshold, giving memory back might wait for kernels.
    std::uint64_t keep_all = ~std::uint64_t{0};
    check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all),
          "memory: the pool's threshold");
    // The pattern is allocated now, not when it is needed: while kernels run, allocating it may
    // wait for them.
    check(cudaHostAlloc(&pattern_, pattern_size, cudaHostAllocDefault), "memory: a pattern");
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() override {
    const OnDevice here{device_};
    cudaStreamSynchronize(stream_);
    cudaMemPoolDestroy(pool_);
    cudaStreamDestroy(stream_);
    cudaFreeHost(pattern_);
  }

  void* allocate(std::size_t bytes) override {
    const OnDevice here{device_};
    void* memory = nullptr;
    const cudaError_t error =
        cudaMallocFromPoolAsync(&memory, std::max<std::size_t>(bytes, 1), pool_, stream_);
    if (error == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      throw Error{Errc::out_of_memory, "no room for a buffer of " + std::to_string(bytes) +
                                           " bytes in the device's memory"};
    }
    check(error, "allocate");
    check(cudaStreamSynchronize(stream_), "allocate");  // so that other streams may use it
    return memory;
  }
  void release(void* memory, std::size_t /*bytes*/) noexcept override {
    const OnDevice here{device_};
    static_cast<void>(cudaFreeAsync(memory, stream_));
  }
  void write(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes, cudaMemcpyHostToDevice);
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes, cudaMemcpyDeviceToHost);
  }
  /// Fills by copies from the host. A memset may be a kernel, which would wait for a free SM.
  void fill(void* to, const void* value, std::size_t size, std::size_t count) override {
    auto* const bytes = static_cast<std::byte*>(to);
    if (size > pattern_size) {
      for (std::size_t i = 0; i < count; ++i) write(bytes + i * size, value, size);
      return;
    }
    const std::scoped_lock lock{pattern_mutex_};
    const std::size_t total = size * count;
    const std::size_t chunk = std::min(pattern_size / size * size, total);
    repeat(pattern_, value, size, chunk);
    const OnDevice here{device_};
    for (std::size_t done = 0; done < total; done += chunk) {
      check(cudaMemcpyAsync(bytes + done, pattern_, std::min(chunk, total - done),
                            cudaMemcpyHostToDevice, stream_),
            "fill");
    }
    check(cudaStreamSynchronize(stream_), "fill");
  }
  [[nodiscard]] bool reached_by_host() const override { return false; }

 private:
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const OnDevice here{device_};
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copy");
    check(cudaStreamSynchronize(stream_), "copy");
  }

  static constexpr std::size_t pattern_size = std::size_t{4} << 20U;

  int device_;
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  std::mutex pattern_mutex_;
  void* pattern_ = nullptr;  // pinned, for the copies of fill()
};

}  // namespace

void* Pieces::reuse(std::size_t bytes) {
  Piece* best = nullptr;
  for (Piece& each : pieces_) {
    if (each.taken || each.bytes < bytes) continue;
    if (best == nullptr || each.bytes < best->bytes) best = &each;
  }
  if (best == nullptr) return nullptr;
  best->taken = true;
  return best->memory;
}

void Pieces::give(void* memory) {
  for (Piece& each : pieces_) {
    if (each.memory == memory) each.taken = false;
  }
}

void* ControlMemory::take(std::size_t bytes) {
  if (void* const memory = reuse(bytes)) return memory;
  void* memory = nullptr;
  const std::size_t room = std::bit_ceil(std::max<std::size_t>(bytes, 4096));
  pieces_.reserve(pieces_.size() + 1);  // so that nothing can fail after the allocation
  check(cudaMalloc(&memory, room), "control memory");
  pieces_.push_back({memory, room, true});
  return memory;
}

void ControlMemory::free_all() noexcept {
  for (const Piece& each : pieces_) cudaFree(each.memory);
  pieces_.clear();
}

void PinnedMemory::open() {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, size, cudaHostAllocMapped), "pinned memory");
  block_ = static_cast<std::byte*>(memory);
  std::fill_n(block_, size, std::byte{0});
}

void* PinnedMemory::take(std::size_t bytes) {
  if (void* const memory = reuse(bytes)) return memory;
  const std::size_t room = std::max<std::size_t>((bytes + 127) / 128 * 128, 1024);
  if (room > size - used_) {
    throw Error{Errc::out_of_memory, "too many jobs that have not come to an end"};
  }
  pieces_.push_back({block_ + used_, room, true});
  used_ += room;
  return pieces_.back().memory;
}

void PinnedMemory::free_all() noexcept {
  if (block_ != nullptr) cudaFreeHost(block_);
  block_ = nullptr;
  pieces_.clear();
}

std::shared_ptr<cohort::detail::Memory> device_memory(int device) {
  return std::make_shared<DeviceMemory>(device);
}

}  // namespace cohort::cuda
