#include "unit/allocations.hpp"

#include <cstdlib>
#include <new>

namespace cohort::test {

std::atomic<std::size_t> largest_allocation{0};
thread_local int allocations_left = -1;

}  // namespace cohort::test

void* operator new(std::size_t size) {
  auto& left = cohort::test::allocations_left;
  if (left >= 0 && left-- == 0) throw std::bad_alloc{};
  auto& most = cohort::test::largest_allocation;
  std::size_t seen = most.load(std::memory_order_relaxed);
  while (size > seen && !most.compare_exchange_weak(seen, size, std::memory_order_relaxed))
    continue;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
