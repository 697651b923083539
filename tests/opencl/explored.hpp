// The device's half of the OpenCL engine as C++: src/opencl/protocol.cl and scheduler.cl on the
// explorer's atomics. Include it last, because it defines macros.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cohort/explore.hpp"

namespace cohort::test {
namespace cl {

using uint = std::uint32_t;
using uchar = std::uint8_t;
using ulong = std::uint64_t;
using atomic_uint = explore::Atomic<uint>;
using atomic_ulong = explore::Atomic<ulong>;
constexpr uint min(uint a, uint b) { return a < b ? a : b; }
constexpr uint max(uint a, uint b) { return a > b ? a : b; }

inline explore::Event& somewhere() {
  static explore::Event event;
  return event;
}

template <class Group>
void cohort_trace(Group* group, uint what, ulong value) {
  explore::detail::record(static_cast<Trace>(what), group->id, group->active, value);
}
inline void cohort_copy(uchar* to, const uchar* from, uint size) {
  if (from == nullptr) std::abort();  // tells the compiler that memcpy gets memory
  explore::detail::touch(from, size, false);
  explore::detail::touch(to, size, true);
  std::memcpy(to, from, size);
}
inline void cohort_keep(uchar* to, const void* from, uint size) {
  explore::detail::touch(to, size, true);
  if (from == nullptr) std::abort();  // a group that has no state at hand never has to keep it
  std::memcpy(to, from, size);
}

#define COHORT_EXPLORED
#define COHORT_PAPER_BARRIERS
#define COHORT_ALONE
#define COHORT_LOAD(word, order) (word).load(Order::order)
#define COHORT_STORE(word, value, order) (word).store(value, Order::order)
#define COHORT_ADD(word, value, order) (word).fetch_add(value, Order::order)
#define COHORT_SUB(word, value, order) (word).fetch_sub(value, Order::order)
#define COHORT_OR(word, value, order) (word).fetch_or(value, Order::order)
#define COHORT_AND(word, value, order) (word).fetch_and(value, Order::order)
#define COHORT_EXCHANGE(word, value, order) (word).exchange(value, Order::order)
#define COHORT_SWAP(word, old, value, order) (word).compare_exchange(old, value, Order::order)
#define COHORT_AWAIT(done) explore::Platform::await(somewhere(), [&] { return (done); })
#define COHORT_AWAIT_FOR(looks, done) \
  if ((looks) != 0) explore::Platform::await_for(somewhere(), looks, [&] { return (done); })
#define static inline  // a test need not use all functions
#define __global
#define __local
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "opencl/protocol.cl"

/// The scheduler group polls. Here it instead waits for a change of the words that it reads, once
/// it has found nothing to do.
inline void (*cohort_doze)(uint polls) = nullptr;  // set by the test
#include "opencl/scheduler.cl"
#pragma GCC diagnostic pop
#undef static
#undef __global
#undef __local
#undef barrier
#undef work_group_barrier

}  // namespace cl
}  // namespace cohort::test
