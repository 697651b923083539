#include "cpu/memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <string>

#include "cohort/error.hpp"
#include "repeat.hpp"

namespace cohort::cpu {
namespace {

/// Alignment of a buffer. Processors move up to two cache lines at a time, so small buffers are
/// aligned to that. Large buffers are aligned to huge pages.
constexpr std::size_t huge_page = std::size_t{2} << 20U;
constexpr std::align_val_t alignment(std::size_t bytes) {
  return std::align_val_t{bytes < huge_page ? 128 : huge_page};
}

/// Kernels access large buffers in random order, and without huge pages would miss the TLB at every
/// other access.
void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  // This is only a hint: the system may ignore it.
  if (bytes >= huge_page) ::madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace

void* HostMemory::allocate(std::size_t bytes) {
  void* const memory = ::operator new(bytes, alignment(bytes), std::nothrow);
  if (memory == nullptr) {
    throw Error{Errc::out_of_memory, "no room for a buffer of " + std::to_string(bytes) +
                                         " bytes in this machine's memory"};
  }
  ask_for_huge_pages(memory, bytes);
  return memory;
}

void HostMemory::release(void* memory, std::size_t bytes) noexcept {
  ::operator delete(memory, alignment(bytes));
}

void HostMemory::write(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void HostMemory::read(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void HostMemory::fill(void* to, const void* value, std::size_t size, std::size_t count) {
  repeat(to, value, size, size * count);
}

/// Touches every page now, so that the kernel takes no page faults.
void HostMemory::touch(void* memory, std::size_t bytes) { std::memset(memory, 0, bytes); }

}  // namespace cohort::cpu
