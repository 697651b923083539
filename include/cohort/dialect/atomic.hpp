// OpenCL C's atomics and fences, as functions of pointers.
#pragma once

#include <cstddef>
#include <type_traits>

#include "cohort/kernel.hpp"

#ifdef __CUDACC__
#include "cohort/platform/cuda_groups.cuh"
#else
#include <atomic>
#endif

namespace cohort::cl {

// Orders and scopes are the integers of opencl-c-base.h, such as __ATOMIC_RELAXED. Scopes are
// ignored: the scope is always the whole device, which is never narrower than requested.
#ifdef __CUDACC__
template <class T>
COHORT_FN auto atomic_at(volatile T* at) {
  return ::cuda::atomic_ref<T, ::cuda::thread_scope_device>{const_cast<T&>(*at)};
}
using memory_order = ::cuda::std::memory_order;
#else
template <class T>
auto atomic_at(volatile T* at) {
  return std::atomic_ref<T>{const_cast<T&>(*at)};
}
using memory_order = std::memory_order;
#endif
template <class T>
COHORT_FN auto atomic_at(const volatile T* at) {
  return atomic_at(const_cast<volatile T*>(at));
}

COHORT_FN constexpr memory_order order_of(int order) {
  switch (order) {
    case __ATOMIC_RELAXED: return static_cast<memory_order>(__ATOMIC_RELAXED);
    case __ATOMIC_ACQUIRE: return static_cast<memory_order>(__ATOMIC_ACQUIRE);
    case __ATOMIC_RELEASE: return static_cast<memory_order>(__ATOMIC_RELEASE);
    case __ATOMIC_ACQ_REL: return static_cast<memory_order>(__ATOMIC_ACQ_REL);
    default: return static_cast<memory_order>(__ATOMIC_SEQ_CST);
  }
}
/// The strongest order allowed for a load or a failed exchange, given the order of the whole
/// operation.
COHORT_FN constexpr memory_order load_order(int order) {
  if (order == __ATOMIC_ACQ_REL) return order_of(__ATOMIC_ACQUIRE);
  return order_of(order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : order);
}

template <class T>
struct Same {
  using type = T;
};
template <class T>
using Given = typename Same<T>::type;  // not deduced, so that the pointer's type decides

template <class T>
COHORT_FN void atomic_init(volatile T* at, Given<T> value) {
  *at = value;
}
template <class T>
COHORT_FN T atomic_load_explicit(const volatile T* at, int order, int = 0) {
  return atomic_at(at).load(load_order(order));
}
template <class T>
COHORT_FN T atomic_load(const volatile T* at) {
  return atomic_load_explicit(at, __ATOMIC_SEQ_CST);
}
template <class T>
COHORT_FN void atomic_store_explicit(volatile T* at, Given<T> value, int order, int = 0) {
  atomic_at(at).store(value, order_of(order));
}
template <class T>
COHORT_FN void atomic_store(volatile T* at, Given<T> value) {
  atomic_store_explicit(at, value, __ATOMIC_SEQ_CST);
}
template <class T>
COHORT_FN T atomic_exchange_explicit(volatile T* at, Given<T> value, int order, int = 0) {
  return atomic_at(at).exchange(value, order_of(order));
}
template <class T>
COHORT_FN T atomic_exchange(volatile T* at, Given<T> value) {
  return atomic_exchange_explicit(at, value, __ATOMIC_SEQ_CST);
}
template <class T>
COHORT_FN bool atomic_compare_exchange_strong_explicit(volatile T* at, T* expected,
                                                       Given<T> desired, int success, int failure,
                                                       int = 0) {
  return atomic_at(at).compare_exchange_strong(*expected, desired, order_of(success),
                                               load_order(failure));
}
template <class T>
COHORT_FN bool atomic_compare_exchange_strong(volatile T* at, T* expected, Given<T> desired) {
  return atomic_compare_exchange_strong_explicit(at, expected, desired, __ATOMIC_SEQ_CST,
                                                 __ATOMIC_SEQ_CST);
}
template <class T>
COHORT_FN bool atomic_compare_exchange_weak_explicit(volatile T* at, T* expected, Given<T> desired,
                                                     int success, int failure, int = 0) {
  return atomic_at(at).compare_exchange_weak(*expected, desired, order_of(success),
                                             load_order(failure));
}
template <class T>
COHORT_FN bool atomic_compare_exchange_weak(volatile T* at, T* expected, Given<T> desired) {
  return atomic_compare_exchange_weak_explicit(at, expected, desired, __ATOMIC_SEQ_CST,
                                               __ATOMIC_SEQ_CST);
}
template <class T, class Op>
COHORT_FN T atomic_update(volatile T* at, int order, Op op) {
  auto word = atomic_at(at);
  T seen = word.load(order_of(__ATOMIC_RELAXED));
  while (!word.compare_exchange_weak(seen, op(seen), order_of(order), order_of(__ATOMIC_RELAXED))) {
  }
  return seen;
}

template <class T>
COHORT_FN T add_at(volatile T* at, T value, int order) {
#ifdef __CUDA_ARCH__
  // CUDA's own atomics are relaxed. Unlike libcu++'s, they learn from the pointer's type whether it
  // points to local memory.
  if constexpr (std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) {
    using Word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
    auto* const word = reinterpret_cast<Word*>(const_cast<T*>(at));
    if (order == __ATOMIC_RELAXED)
      return static_cast<T>(::atomicAdd(word, static_cast<Word>(value)));
  }
#endif
  return atomic_at(at).fetch_add(value, order_of(order));
}
template <class T>
COHORT_FN T sub_at(volatile T* at, T value, int order) {
  if constexpr (std::is_integral_v<T>) {  // unsigned arithmetic wraps
    return add_at(at, static_cast<T>(std::make_unsigned_t<T>{0} - value), order);
  } else {
    return atomic_at(at).fetch_sub(value, order_of(order));
  }
}

#define COHORT_CL_FETCH(name, native)                                                              \
  template <class T>                                                                               \
  COHORT_FN T atomic_fetch_##name##_explicit(volatile T* at, Given<T> value, int order, int = 0) { \
    native                                                                                         \
  }                                                                                                \
  template <class T>                                                                               \
  COHORT_FN T atomic_fetch_##name(volatile T* at, Given<T> value) {                                \
    return atomic_fetch_##name##_explicit(at, value, __ATOMIC_SEQ_CST);                            \
  }                                                                                                \
  template <class T>                                                                               \
  COHORT_FN T atomic_##name(volatile T* at, Given<T> value) { /* OpenCL 1.x: relaxed */            \
    return atomic_fetch_##name##_explicit(at, value, __ATOMIC_RELAXED);                            \
  }                                                                                                \
  template <class T>                                                                               \
  COHORT_FN T atom_##name(volatile T* at, Given<T> value) {                                        \
    return atomic_fetch_##name##_explicit(at, value, __ATOMIC_RELAXED);                            \
  }
COHORT_CL_FETCH(add, return add_at(at, value, order);)
COHORT_CL_FETCH(sub, return sub_at(at, value, order);)
COHORT_CL_FETCH(and, return atomic_at(at).fetch_and(value, order_of(order));)
COHORT_CL_FETCH(or, return atomic_at(at).fetch_or(value, order_of(order));)
COHORT_CL_FETCH(xor, return atomic_at(at).fetch_xor(value, order_of(order));)
#ifdef __CUDA_ARCH__
COHORT_CL_FETCH(min, return atomic_at(at).fetch_min(value, order_of(order));)
COHORT_CL_FETCH(max, return atomic_at(at).fetch_max(value, order_of(order));)
#else
COHORT_CL_FETCH(min, return atomic_update(at, order,
                                          [value](T seen) { return seen < value ? seen : value; });)
COHORT_CL_FETCH(max, return atomic_update(at, order,
                                          [value](T seen) { return seen > value ? seen : value; });)
#endif
#undef COHORT_CL_FETCH

/// On a GPU, neighbouring threads that count together share one addition.
template <class T>
COHORT_FN T atomic_inc(volatile T* at) {
#ifdef __CUDA_ARCH__
  return cuda::Threads{}.claim(cuda::AtomicRef<T>{const_cast<T&>(*at)});
#else
  return atomic_add(at, T{1});
#endif
}
template <class T>
COHORT_FN T atomic_dec(volatile T* at) {
  return atomic_sub(at, T{1});
}
template <class T>
COHORT_FN T atomic_xchg(volatile T* at, Given<T> value) {
  return atomic_exchange_explicit(at, value, __ATOMIC_RELAXED);
}
template <class T>
COHORT_FN T atomic_cmpxchg(volatile T* at, Given<T> expected, Given<T> desired) {
  T seen = expected;
  atomic_compare_exchange_strong_explicit(at, &seen, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return seen;
}
template <class T>
COHORT_FN T atom_inc(volatile T* at) {
  return atomic_inc(at);
}
template <class T>
COHORT_FN T atom_dec(volatile T* at) {
  return atomic_dec(at);
}
template <class T>
COHORT_FN T atom_xchg(volatile T* at, Given<T> value) {
  return atomic_xchg(at, value);
}
template <class T>
COHORT_FN T atom_cmpxchg(volatile T* at, Given<T> expected, Given<T> desired) {
  return atomic_cmpxchg(at, expected, desired);
}
template <class T>
COHORT_FN bool atomic_flag_test_and_set_explicit(volatile T* at, int order, int = 0) {
  return atomic_exchange_explicit(at, T{1}, order) != 0;
}
template <class T>
COHORT_FN bool atomic_flag_test_and_set(volatile T* at) {
  return atomic_flag_test_and_set_explicit(at, __ATOMIC_SEQ_CST);
}
template <class T>
COHORT_FN void atomic_flag_clear_explicit(volatile T* at, int order, int = 0) {
  atomic_store_explicit(at, T{0}, order);
}
template <class T>
COHORT_FN void atomic_flag_clear(volatile T* at) {
  atomic_flag_clear_explicit(at, __ATOMIC_SEQ_CST);
}

COHORT_FN inline void atomic_work_item_fence(unsigned /*memory*/, int order, int /*scope*/) {
#ifdef __CUDACC__
  ::cuda::atomic_thread_fence(order_of(order), ::cuda::thread_scope_device);
#else
  std::atomic_thread_fence(order_of(order));
#endif
}
COHORT_FN inline void mem_fence(unsigned memory) {
  atomic_work_item_fence(memory, __ATOMIC_ACQ_REL, 0);
}
COHORT_FN inline void read_mem_fence(unsigned memory) {
  atomic_work_item_fence(memory, __ATOMIC_ACQUIRE, 0);
}
COHORT_FN inline void write_mem_fence(unsigned memory) {
  atomic_work_item_fence(memory, __ATOMIC_RELEASE, 0);
}
template <class T>
COHORT_FN void prefetch([[maybe_unused]] const T* at, std::size_t /*count*/) {
#ifndef __CUDA_ARCH__
  __builtin_prefetch(at);
#endif
}

}  // namespace cohort::cl
