#include "cpu/memory.hpp"

#include <cstring>
#include <new>
#include <string>

#include "cohort/error.hpp"

namespace cohort::cpu {
namespace {

/// Aligned to two cache lines, so that two buffers never share what the processor moves at once.
constexpr std::align_val_t alignment{128};

class HostMemory final : public cohort::detail::Memory {
 public:
  void* allocate(std::size_t bytes) override {
    void* const memory = ::operator new(bytes, alignment, std::nothrow);
    if (memory == nullptr) {
      throw Error{Errc::out_of_memory, "no room for a buffer of " + std::to_string(bytes) +
                                           " bytes in this machine's memory"};
    }
    return memory;
  }
  void release(void* memory, std::size_t /*bytes*/) noexcept override {
    ::operator delete(memory, alignment);
  }
  void write(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void fill(void* to, const void* value, std::size_t size, std::size_t count) override {
    // Doubling: each copy is as long as what is there already.
    auto* const bytes = static_cast<std::byte*>(to);
    const std::size_t total = size * count;
    std::memcpy(bytes, value, size);
    for (std::size_t done = size; done < total;) {
      const std::size_t more = done < total - done ? done : total - done;
      std::memcpy(bytes + done, bytes, more);
      done += more;
    }
  }
};

}  // namespace

std::shared_ptr<cohort::detail::Memory> host_memory() { return std::make_shared<HostMemory>(); }

}  // namespace cohort::cpu
