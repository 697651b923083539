#include "opencl/memory.hpp"

#include <algorithm>

namespace cohort::opencl {

void* SharedMemory::allocate(std::size_t bytes) {
  constexpr cl_uint alignment = 128;  // alignment of the largest type of OpenCL C
  void* const memory =
      clSVMAlloc(context_(), CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS,
                 std::max<std::size_t>(bytes, 1), alignment);
  if (memory == nullptr) {
    throw Error{Errc::out_of_memory, "opencl: no room for a buffer of " + std::to_string(bytes) +
                                         " bytes in the memory that host and device share"};
  }
  const std::lock_guard lock{mutex_};
  blocks_.emplace(static_cast<const std::byte*>(memory), bytes);
  return memory;
}

void SharedMemory::release(void* memory, std::size_t /*bytes*/) noexcept {
  const std::lock_guard lock{mutex_};
  blocks_.erase(static_cast<const std::byte*>(memory));
  if (!abandoned_) clSVMFree(context_(), memory);
}

bool SharedMemory::owns(const void* pointer) const {
  const auto* const byte = static_cast<const std::byte*>(pointer);
  const std::lock_guard lock{mutex_};
  const auto after = blocks_.upper_bound(byte);
  if (after == blocks_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return byte < begin + std::max<std::size_t>(bytes, 1);
}

std::vector<void*> SharedMemory::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<void*> result;
  for (const auto& [begin, bytes] : blocks_) result.push_back(const_cast<std::byte*>(begin));
  return result;
}

void SharedMemory::abandon() {
  const std::lock_guard lock{mutex_};
  abandoned_ = true;
}

}  // namespace cohort::opencl
