// Atomics of the CUDA platform: the protocol's own words, and references for the words of kernels.
#pragma once

#include <cuda/atomic>
#include <type_traits>

#include "cohort/kernel.hpp"

namespace cohort::cuda {

namespace detail {

COHORT_FN constexpr ::cuda::std::memory_order map(Order order) {
  switch (order) {
    case Order::relaxed: return ::cuda::std::memory_order_relaxed;
    case Order::acquire: return ::cuda::std::memory_order_acquire;
    case Order::release: return ::cuda::std::memory_order_release;
    case Order::acq_rel: break;
  }
  return ::cuda::std::memory_order_acq_rel;
}

template <class T>
using DeviceRef = ::cuda::atomic_ref<T, ::cuda::thread_scope_device>;
template <class T>
using SystemRef = ::cuda::atomic_ref<T, ::cuda::thread_scope_system>;

#ifdef __CUDA_ARCH__
inline constexpr bool in_device_code = true;
#else
inline constexpr bool in_device_code = false;
#endif
/// Types for CUDA's own atomics, which are relaxed. Their pointer types tell the compiler whether
/// an address is in global or in shared memory; libcu++'s atomics find this out at run time, for
/// each access.
template <class T>
inline constexpr bool has_own = std::is_integral_v<T> &&
                                (sizeof(T) == 4 || sizeof(T) == 8) && in_device_code;

/// The word types that these functions accept: one for bits, one for comparisons as numbers.
template <class T>
using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned int>;
template <class T>
using Number = std::conditional_t<std::is_unsigned_v<T>, Word<T>, std::make_signed_t<Word<T>>>;

/// CUDA has no such load, so it is written in PTX for global memory.
template <class T>
COHORT_FN T load_relaxed(const T* word) {
  if (!__isGlobal(word)) return DeviceRef<const T>{*word}.load(::cuda::std::memory_order_relaxed);
  T result;
  if constexpr (sizeof(T) == 8) {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(result)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
  } else {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(result)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
  }
  return result;
}

}  // namespace detail

/// A word of the protocol, in device memory. It is changed with device scope. 32-bit words are read
/// with system scope, since the host's streams write some of them.
template <class T>
class Atomic {
 public:
  Atomic() = default;
  COHORT_FN constexpr Atomic(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] COHORT_FN T load(Order order) const {
    if constexpr (sizeof(T) == 4) {
      return detail::SystemRef<T>{value_}.load(detail::map(order));
    } else {
#ifdef __CUDA_ARCH__
      if (order == Order::acquire) return load_acquire();
#endif
      return ref().load(detail::map(order));
    }
  }
  COHORT_FN void store(T value, Order order) { ref().store(value, detail::map(order)); }
  COHORT_FN T fetch_add(T value, Order order) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == 8) {
      if (order == Order::acq_rel) return add_acq_rel(value);
    }
#endif
    return ref().fetch_add(value, detail::map(order));
  }
  COHORT_FN T exchange(T value, Order order) { return ref().exchange(value, detail::map(order)); }
  COHORT_FN T fetch_sub(T value, Order order) { return ref().fetch_sub(value, detail::map(order)); }
  COHORT_FN T fetch_or(T value, Order order) { return ref().fetch_or(value, detail::map(order)); }
  COHORT_FN T fetch_and(T value, Order order) { return ref().fetch_and(value, detail::map(order)); }
  COHORT_FN bool compare_exchange(T& expected, T desired, Order order) {
    return ref().compare_exchange_strong(expected, desired, detail::map(order),
                                         ::cuda::std::memory_order_relaxed);
  }

  /// The word's address, for a write by a stream.
  [[nodiscard]] COHORT_FN T* address() const { return &value_; }

 private:
  COHORT_FN detail::DeviceRef<T> ref() const { return detail::DeviceRef<T>{value_}; }

#ifdef __CUDA_ARCH__
  // The two accesses of a barrier. They are written in PTX, because libcu++ would first check
  // whether the address is in shared memory.
  __device__ T load_acquire() const {
    T result;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                 : "=l"(result)
                 : "l"(__cvta_generic_to_global(&value_))
                 : "memory");
    return result;
  }
  __device__ T add_acq_rel(T value) {
    T result;
    asm volatile("atom.add.acq_rel.gpu.global.u64 %0, [%1], %2;"
                 : "=l"(result)
                 : "l"(__cvta_generic_to_global(&value_)), "l"(value)
                 : "memory");
    return result;
  }
#endif

  mutable T value_{};
};

/// One word of a kernel's memory, accessed atomically: the result of group.atomic(word).
template <class T>
class AtomicRef {
 public:
  COHORT_FN explicit AtomicRef(T& word) : word_(&word) {}

  [[nodiscard]] COHORT_FN T load(Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) return detail::load_relaxed(word_);
    }
    return order == Order::relaxed ? ref().load(::cuda::std::memory_order_relaxed)
                                   : ref().load(::cuda::std::memory_order_acquire);
  }
  COHORT_FN void store(T value, Order order = Order::relaxed) const {
    if (order == Order::relaxed) {
      ref().store(value, ::cuda::std::memory_order_relaxed);
    } else {
      ref().store(value, ::cuda::std::memory_order_release);
    }
  }
  COHORT_FN T exchange(T value, Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) return static_cast<T>(atomicExch(word(), bits(value)));
    }
    return ref().exchange(value, detail::map(order));
  }
  /// On failure, `expected` becomes the value found.
  COHORT_FN bool compare_exchange(T& expected, T desired, Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) {
        const T found = static_cast<T>(atomicCAS(word(), bits(expected), bits(desired)));
        const bool done = found == expected;
        expected = found;
        return done;
      }
    }
    return ref().compare_exchange_strong(expected, desired, detail::map(order));
  }
  COHORT_FN T fetch_add(T value, Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) return static_cast<T>(atomicAdd(word(), bits(value)));
    }
    return ref().fetch_add(value, detail::map(order));
  }
  COHORT_FN T fetch_sub(T value, Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) return static_cast<T>(atomicAdd(word(), 0 - bits(value)));
    }
    return ref().fetch_sub(value, detail::map(order));
  }
  COHORT_FN T fetch_or(T value, Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) return static_cast<T>(atomicOr(word(), bits(value)));
    }
    return ref().fetch_or(value, detail::map(order));
  }
  COHORT_FN T fetch_and(T value, Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) return static_cast<T>(atomicAnd(word(), bits(value)));
    }
    return ref().fetch_and(value, detail::map(order));
  }
  COHORT_FN T fetch_min(T value, Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) return static_cast<T>(atomicMin(number(), value));
    }
    return ref().fetch_min(value, detail::map(order));
  }
  COHORT_FN T fetch_max(T value, Order order = Order::relaxed) const {
    if constexpr (detail::has_own<T>) {
      if (order == Order::relaxed) return static_cast<T>(atomicMax(number(), value));
    }
    return ref().fetch_max(value, detail::map(order));
  }
  [[nodiscard]] COHORT_FN const T* address() const { return word_; }

 private:
  COHORT_FN detail::DeviceRef<T> ref() const { return detail::DeviceRef<T>{*word_}; }

  COHORT_FN detail::Word<T>* word() const { return reinterpret_cast<detail::Word<T>*>(word_); }
  COHORT_FN static detail::Word<T> bits(T value) { return static_cast<detail::Word<T>>(value); }
  COHORT_FN detail::Number<T>* number() const {
    return reinterpret_cast<detail::Number<T>*>(word_);
  }

  T* word_;
};

}  // namespace cohort::cuda
