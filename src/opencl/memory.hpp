// Memory that both device and host can access: fine-grained shared virtual memory.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "cpu/memory.hpp"
#include "opencl/cl.hpp"

namespace cohort::opencl {

class SharedMemory final : public cpu::HostMemory {
 public:
  explicit SharedMemory(cl::Context context) : context_(std::move(context)) {}

  void* allocate(std::size_t bytes) override;
  void release(void* memory, std::size_t bytes) noexcept override;

  /// Whether `pointer` points into an allocation made here.
  [[nodiscard]] bool owns(const void* pointer) const;
  /// All allocations, for a kernel that reaches them by pointers in memory.
  [[nodiscard]] std::vector<void*> all() const;
  /// After this call no memory is released, because the device may still use it.
  void abandon();

 private:
  cl::Context context_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::size_t> blocks_;
  bool abandoned_ = false;
};

/// An allocation that is released when this object is destroyed.
class Block {
 public:
  Block() = default;
  Block(std::shared_ptr<SharedMemory> memory, std::size_t bytes)
      : memory_(std::move(memory)), bytes_(bytes) {
    data_ = static_cast<std::byte*>(memory_->allocate(bytes));
    std::fill_n(data_, bytes, std::byte{0});
  }
  Block(Block&& other) noexcept { *this = std::move(other); }
  Block& operator=(Block&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Block() {
    if (data_ != nullptr) memory_->release(data_, bytes_);
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::shared_ptr<SharedMemory> memory_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace cohort::opencl
