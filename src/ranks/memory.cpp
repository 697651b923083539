#include "cpu/memory.hpp"

#include "cohort/shards.hpp"

namespace cohort::detail {

std::shared_ptr<void> shared_memory(std::size_t bytes) {
  cpu::HostMemory host;
  void* const memory = host.allocate(bytes);
  return {memory, [bytes](void* its) { cpu::HostMemory{}.release(its, bytes); }};
}

}  // namespace cohort::detail
