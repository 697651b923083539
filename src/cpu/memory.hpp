// The CPU engine's memory: ordinary memory of the process.
#pragma once

#include "cohort/buffer.hpp"

namespace cohort::cpu {

class HostMemory : public cohort::detail::Memory {
 public:
  void* allocate(std::size_t bytes) override;
  void release(void* memory, std::size_t bytes) noexcept override;
  void write(void* to, const void* from, std::size_t bytes) override;
  void read(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, const void* value, std::size_t size, std::size_t count) override;
  void touch(void* memory, std::size_t bytes) override;
};

}  // namespace cohort::cpu
