// What kernels compiled by cohortc are written in: OpenCL C's vectors, atomics, work-item and
// mathematical functions, for C++. Invariant: a name here means what the OpenCL C specification
// says of it, on the CPU and on CUDA alike.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "cohort/kernel.hpp"

#ifdef __CUDACC__
#include "cohort/platform/cuda_groups.cuh"
#else
#include <atomic>
#endif

// How a generated file is compiled: the resizing barrier, and the largest group where each thread
// sends a State of its own.
#ifndef COHORT_CL_BARRIER
#define COHORT_CL_BARRIER one_pass
#endif
#ifndef COHORT_CL_MAX_LOCAL
#define COHORT_CL_MAX_LOCAL 64
#endif

#define COHORT_CL_PRAGMA(words) _Pragma(#words)
#ifdef __CUDACC__
#define COHORT_CL_CONSTANT __constant__ const
#define COHORT_CL_UNROLL(times) COHORT_CL_PRAGMA(unroll times)
#define COHORT_CL_UNROLL_ALL COHORT_CL_PRAGMA(unroll)
#else
#define COHORT_CL_CONSTANT [[maybe_unused]] const
#define COHORT_CL_UNROLL(times) COHORT_CL_PRAGMA(GCC unroll times)
#define COHORT_CL_UNROLL_ALL
#endif

namespace cohort::cl {

// ---- vectors

/// OpenCL C's vector of N; one of 3 takes the room of 4.
template <class T, unsigned N>
struct alignas(sizeof(T) * (N == 3 ? 4 : N)) Vec {
  T at[N];

  Vec() = default;
  COHORT_FN explicit constexpr Vec(T all) {
    for (unsigned i = 0; i < N; ++i) at[i] = all;
  }
  COHORT_FN constexpr T& operator[](unsigned i) { return at[i]; }
  COHORT_FN constexpr const T& operator[](unsigned i) const { return at[i]; }
};

template <class T>
struct IsVec : std::false_type {};
template <class T, unsigned N>
struct IsVec<Vec<T, N>> : std::true_type {
  using Element = T;
  static constexpr unsigned width = N;
};

/// What a comparison of T gives in a vector: a signed integer of its size.
template <class T>
using Truth = std::conditional_t<
    sizeof(T) == 1, signed char,
    std::conditional_t<sizeof(T) == 2, short, std::conditional_t<sizeof(T) == 4, int, long>>>;

template <class T, unsigned N, class Op>
COHORT_FN constexpr auto map(const Vec<T, N>& a, Op op) {
  Vec<decltype(op(a[0])), N> result;
  for (unsigned i = 0; i < N; ++i) result[i] = op(a[i]);
  return result;
}
template <class T, unsigned N, class U, class Op>
COHORT_FN constexpr auto map(const Vec<T, N>& a, const Vec<U, N>& b, Op op) {
  Vec<decltype(op(a[0], b[0])), N> result;
  for (unsigned i = 0; i < N; ++i) result[i] = op(a[i], b[i]);
  return result;
}

#define COHORT_CL_OPERATOR(op)                                                        \
  template <class T, unsigned N>                                                      \
  COHORT_FN constexpr Vec<T, N> operator op(const Vec<T, N>& a, const Vec<T, N>& b) { \
    return map(a, b, [](T x, T y) { return static_cast<T>(x op y); });                \
  }                                                                                   \
  template <class T, unsigned N>                                                      \
  COHORT_FN constexpr Vec<T, N>& operator op##=(Vec<T, N>& a, const Vec<T, N>& b) {   \
    return a = a op b;                                                                \
  }
COHORT_CL_OPERATOR(+)
COHORT_CL_OPERATOR(-)
COHORT_CL_OPERATOR(*)
COHORT_CL_OPERATOR(/)
COHORT_CL_OPERATOR(%)
COHORT_CL_OPERATOR(&)
COHORT_CL_OPERATOR(|)
COHORT_CL_OPERATOR(^)
#undef COHORT_CL_OPERATOR

// The right operand of a shift may be of another signedness.
#define COHORT_CL_SHIFT(op)                                                           \
  template <class T, class U, unsigned N>                                             \
  COHORT_FN constexpr Vec<T, N> operator op(const Vec<T, N>& a, const Vec<U, N>& b) { \
    return map(a, b, [](T x, U y) {                                                   \
      return static_cast<T>(x op(static_cast<unsigned>(y) % (sizeof(T) * 8)));        \
    });                                                                               \
  }                                                                                   \
  template <class T, class U, unsigned N>                                             \
  COHORT_FN constexpr Vec<T, N>& operator op##=(Vec<T, N>& a, const Vec<U, N>& b) {   \
    return a = a op b;                                                                \
  }
COHORT_CL_SHIFT(<<)
COHORT_CL_SHIFT(>>)
#undef COHORT_CL_SHIFT

#define COHORT_CL_COMPARISON(op)                                                             \
  template <class T, unsigned N>                                                             \
  COHORT_FN constexpr Vec<Truth<T>, N> operator op(const Vec<T, N>& a, const Vec<T, N>& b) { \
    return map(a, b, [](T x, T y) { return static_cast<Truth<T>>((x op y) ? -1 : 0); });     \
  }
COHORT_CL_COMPARISON(==)
COHORT_CL_COMPARISON(!=)
COHORT_CL_COMPARISON(<)
COHORT_CL_COMPARISON(<=)
COHORT_CL_COMPARISON(>)
COHORT_CL_COMPARISON(>=)
COHORT_CL_COMPARISON(&&)
COHORT_CL_COMPARISON(||)
#undef COHORT_CL_COMPARISON

template <class T, unsigned N>
COHORT_FN constexpr Vec<T, N> operator-(const Vec<T, N>& a) {
  return map(a, [](T x) { return static_cast<T>(-x); });
}
template <class T, unsigned N>
COHORT_FN constexpr Vec<T, N> operator+(const Vec<T, N>& a) {
  return a;
}
template <class T, unsigned N>
COHORT_FN constexpr Vec<T, N> operator~(const Vec<T, N>& a) {
  return map(a, [](T x) { return static_cast<T>(~x); });
}
template <class T, unsigned N>
COHORT_FN constexpr Vec<Truth<T>, N> operator!(const Vec<T, N>& a) {
  return map(a, [](T x) { return static_cast<Truth<T>>(x == 0 ? -1 : 0); });
}
template <class T, unsigned N>
COHORT_FN constexpr Vec<T, N>& operator++(Vec<T, N>& a) {
  return a += Vec<T, N>(T{1});
}
template <class T, unsigned N>
COHORT_FN constexpr Vec<T, N> operator++(Vec<T, N>& a, int) {
  const Vec<T, N> before = a;
  ++a;
  return before;
}
template <class T, unsigned N>
COHORT_FN constexpr Vec<T, N>& operator--(Vec<T, N>& a) {
  return a -= Vec<T, N>(T{1});
}
template <class T, unsigned N>
COHORT_FN constexpr Vec<T, N> operator--(Vec<T, N>& a, int) {
  const Vec<T, N> before = a;
  --a;
  return before;
}

namespace detail {

template <class V, class T>
COHORT_FN constexpr void append(V& to, unsigned& used, const T& part) {
  if constexpr (IsVec<T>::value) {
    for (unsigned i = 0; i < IsVec<T>::width; ++i)
      to[used++] = static_cast<typename IsVec<V>::Element>(part[i]);
  } else {
    to[used++] = static_cast<typename IsVec<V>::Element>(part);
  }
}

}  // namespace detail

/// A vector literal: scalars and shorter vectors in a row.
template <class V, class... Parts>
COHORT_FN constexpr V join(const Parts&... parts) {
  V result;
  unsigned used = 0;
  (detail::append(result, used, parts), ...);
  return result;
}

template <unsigned... parts, class T, unsigned N>
COHORT_FN constexpr Vec<T, sizeof...(parts)> swizzle(const Vec<T, N>& a) {
  return join<Vec<T, sizeof...(parts)>>(a[parts]...);
}

/// The target of `v.xy = ...`.
template <class T, unsigned N, unsigned... parts>
struct SwizzleRef {
  Vec<T, N>& of;
  using Value = Vec<T, sizeof...(parts)>;

  COHORT_FN constexpr Value operator=(
      const Value& value) const {  // NOLINT: gives the value, as C does
    unsigned i = 0;
    ((of[parts] = value[i++]), ...);
    return value;
  }
  COHORT_FN constexpr Value get() const { return swizzle<parts...>(of); }
  COHORT_FN constexpr Value operator+=(const Value& value) const { return *this = get() + value; }
  COHORT_FN constexpr Value operator-=(const Value& value) const { return *this = get() - value; }
  COHORT_FN constexpr Value operator*=(const Value& value) const { return *this = get() * value; }
  COHORT_FN constexpr Value operator/=(const Value& value) const { return *this = get() / value; }
};
template <unsigned... parts, class T, unsigned N>
COHORT_FN constexpr SwizzleRef<T, N, parts...> swizzle_ref(Vec<T, N>& a) {
  return {a};
}

/// `c ? a : b` on vectors: by the top bit of each part of c.
template <class C, class T, unsigned N>
COHORT_FN constexpr Vec<T, N> choose(const Vec<C, N>& c, const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> result;
  for (unsigned i = 0; i < N; ++i)
    result[i] = static_cast<std::make_signed_t<C>>(c[i]) < 0 ? a[i] : b[i];
  return result;
}

// ---- conversions

template <class To, class From>
COHORT_FN constexpr To convert(const From& from) {
  if constexpr (IsVec<From>::value) {
    To result;
    for (unsigned i = 0; i < IsVec<From>::width; ++i)
      result[i] = static_cast<typename IsVec<To>::Element>(from[i]);
    return result;
  } else {
    return static_cast<To>(from);
  }
}

template <class To, class From>
COHORT_FN constexpr To convert_sat(const From& from) {
  if constexpr (IsVec<From>::value) {
    To result;
    for (unsigned i = 0; i < IsVec<From>::width; ++i)
      result[i] = convert_sat<typename IsVec<To>::Element>(from[i]);
    return result;
  } else if constexpr (std::is_floating_point_v<From>) {
    if (from != from) return 0;
    if (from <= static_cast<From>(std::numeric_limits<To>::lowest()))
      return std::numeric_limits<To>::lowest();
    if (from >= static_cast<From>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(from);
  } else {
    const auto wide = static_cast<__int128>(from);
    if (wide < static_cast<__int128>(std::numeric_limits<To>::lowest()))
      return std::numeric_limits<To>::lowest();
    if (wide > static_cast<__int128>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(from);
  }
}

template <class To, class From>
COHORT_FN To as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &from, sizeof(To));
  return result;
}

template <class V, class T>
COHORT_FN V vload(std::size_t offset, const T* from) {
  V result;
  for (unsigned i = 0; i < IsVec<V>::width; ++i) result[i] = from[offset * IsVec<V>::width + i];
  return result;
}
template <class T, unsigned N>
COHORT_FN void vstore(const Vec<T, N>& value, std::size_t offset, T* to) {
  for (unsigned i = 0; i < N; ++i) to[offset * N + i] = value[i];
}

// ---- atomics

// Orders and scopes come as the integers of opencl-c-base.h: __ATOMIC_RELAXED and its kin. Scopes
// are ignored: the whole device, which is never less than was asked for.
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
/// What a load, or a failed exchange, can have of an order.
COHORT_FN constexpr memory_order load_order(int order) {
  if (order == __ATOMIC_ACQ_REL) return order_of(__ATOMIC_ACQUIRE);
  return order_of(order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : order);
}

template <class T>
struct Same {
  using type = T;
};
template <class T>
using Given = typename Same<T>::type;  // not deduced: the pointer decides

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
COHORT_CL_FETCH(add, return atomic_at(at).fetch_add(value, order_of(order));)
COHORT_CL_FETCH(sub, return atomic_at(at).fetch_sub(value, order_of(order));)
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

/// On a GPU neighbours that count together share an addition.
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

// ---- mathematics: a scalar function each, which vectors apply to their parts

// Defines `name` on vectors, given it on scalars.
#define COHORT_CL_EACH_1(name)                  \
  template <class T, unsigned N>                \
  COHORT_FN auto name(const Vec<T, N>& a) {     \
    return map(a, [](T x) { return name(x); }); \
  }
#define COHORT_CL_EACH_2(name)                                  \
  template <class T, class U, unsigned N>                       \
  COHORT_FN auto name(const Vec<T, N>& a, const Vec<U, N>& b) { \
    return map(a, b, [](T x, U y) { return name(x, y); });      \
  }                                                             \
  template <class T, unsigned N>                                \
  COHORT_FN auto name(const Vec<T, N>& a, T b) {                \
    return map(a, [b](T x) { return name(x, b); });             \
  }
#define COHORT_CL_EACH_3(name)                                                      \
  template <class T, unsigned N>                                                    \
  COHORT_FN auto name(const Vec<T, N>& a, const Vec<T, N>& b, const Vec<T, N>& c) { \
    Vec<T, N> result;                                                               \
    for (unsigned i = 0; i < N; ++i) result[i] = name(a[i], b[i], c[i]);            \
    return result;                                                                  \
  }                                                                                 \
  template <class T, unsigned N>                                                    \
  COHORT_FN auto name(const Vec<T, N>& a, T b, T c) {                               \
    return name(a, Vec<T, N>(b), Vec<T, N>(c));                                     \
  }                                                                                 \
  template <class T, unsigned N>                                                    \
  COHORT_FN auto name(const Vec<T, N>& a, const Vec<T, N>& b, T c) {                \
    return name(a, b, Vec<T, N>(c));                                                \
  }

template <class T>
concept Number = std::is_arithmetic_v<T>;

#define COHORT_CL_STD_1(name)                                   \
  COHORT_FN inline float name(float x) { return ::name##f(x); } \
  COHORT_FN inline double name(double x) { return ::name(x); }  \
  COHORT_CL_EACH_1(name)
COHORT_CL_STD_1(acos)
COHORT_CL_STD_1(asin)
COHORT_CL_STD_1(atan)
COHORT_CL_STD_1(cbrt)
COHORT_CL_STD_1(ceil)
COHORT_CL_STD_1(cos)
COHORT_CL_STD_1(cosh)
COHORT_CL_STD_1(erf)
COHORT_CL_STD_1(exp)
COHORT_CL_STD_1(exp2)
COHORT_CL_STD_1(expm1)
COHORT_CL_STD_1(fabs)
COHORT_CL_STD_1(floor)
COHORT_CL_STD_1(log)
COHORT_CL_STD_1(log10)
COHORT_CL_STD_1(log1p)
COHORT_CL_STD_1(log2)
COHORT_CL_STD_1(rint)
COHORT_CL_STD_1(round)
COHORT_CL_STD_1(sin)
COHORT_CL_STD_1(sinh)
COHORT_CL_STD_1(sqrt)
COHORT_CL_STD_1(tan)
COHORT_CL_STD_1(tanh)
COHORT_CL_STD_1(tgamma)
COHORT_CL_STD_1(trunc)
#undef COHORT_CL_STD_1
#define COHORT_CL_STD_2(name)                                               \
  COHORT_FN inline float name(float x, float y) { return ::name##f(x, y); } \
  COHORT_FN inline double name(double x, double y) { return ::name(x, y); } \
  COHORT_CL_EACH_2(name)
COHORT_CL_STD_2(atan2)
COHORT_CL_STD_2(copysign)
COHORT_CL_STD_2(fdim)
COHORT_CL_STD_2(fmax)
COHORT_CL_STD_2(fmin)
COHORT_CL_STD_2(fmod)
COHORT_CL_STD_2(hypot)
COHORT_CL_STD_2(pow)
COHORT_CL_STD_2(remainder)
#undef COHORT_CL_STD_2

template <std::floating_point T>
COHORT_FN T fma(T a, T b, T c) {
  if constexpr (sizeof(T) == 4)
    return ::fmaf(a, b, c);
  else
    return ::fma(a, b, c);
}
template <std::floating_point T>
COHORT_FN T mad(T a, T b, T c) {
  return a * b + c;
}
template <std::floating_point T>
COHORT_FN T mix(T a, T b, T part) {
  return a + (b - a) * part;
}
template <std::floating_point T>
COHORT_FN T rsqrt(T x) {
  return T{1} / sqrt(x);
}
template <std::floating_point T>
COHORT_FN T sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x == 0 ? x : T{0};
}
template <std::floating_point T>
COHORT_FN T step(T edge, T x) {
  return x < edge ? T{0} : T{1};
}
template <std::floating_point T>
COHORT_FN T smoothstep(T from, T to, T x) {
  const T raw = (x - from) / (to - from);
  const T t = raw < 0 ? T{0} : raw > 1 ? T{1} : raw;
  return t * t * (T{3} - T{2} * t);
}
template <std::floating_point T>
COHORT_FN T degrees(T x) {
  return x * static_cast<T>(57.29577951308232);
}
template <std::floating_point T>
COHORT_FN T radians(T x) {
  return x * static_cast<T>(0.017453292519943295);
}
template <std::floating_point T>
COHORT_FN T powr(T x, T y) {
  return pow(x, y);
}
template <std::floating_point T>
COHORT_FN T pown(T x, int y) {
  return pow(x, static_cast<T>(y));
}
template <std::floating_point T>
COHORT_FN T ldexp(T x, int by) {
  return static_cast<T>(::ldexp(static_cast<double>(x), by));
}
template <std::floating_point T>
COHORT_FN int isnan(T x) {
  return x != x;
}
template <std::floating_point T>
COHORT_FN int isinf(T x) {
  return x == x && x - x != x - x;
}
template <std::floating_point T>
COHORT_FN int isfinite(T x) {
  return x - x == x - x;
}
template <std::floating_point T>
COHORT_FN int signbit(T x) {
  return copysign(T{1}, x) < 0;
}
COHORT_CL_EACH_3(fma)
COHORT_CL_EACH_3(mad)
COHORT_CL_EACH_3(mix)
COHORT_CL_EACH_1(rsqrt)
COHORT_CL_EACH_1(sign)
COHORT_CL_EACH_1(degrees)
COHORT_CL_EACH_1(radians)
COHORT_CL_EACH_2(step)
COHORT_CL_EACH_2(powr)

template <class T>
COHORT_FN T native_sin(T x) {
  return sin(x);
}
template <class T>
COHORT_FN T native_cos(T x) {
  return cos(x);
}
template <class T>
COHORT_FN T native_exp(T x) {
  return exp(x);
}
template <class T>
COHORT_FN T native_log(T x) {
  return log(x);
}
template <class T>
COHORT_FN T native_sqrt(T x) {
  return sqrt(x);
}
template <class T>
COHORT_FN T native_rsqrt(T x) {
  return rsqrt(x);
}
template <class T>
COHORT_FN T native_recip(T x) {
  return T(1) / x;
}
template <class T>
COHORT_FN T native_divide(T x, T y) {
  return x / y;
}

template <Number T>
COHORT_FN constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <Number T>
COHORT_FN constexpr T max(T a, T b) {
  return a < b ? b : a;
}
template <Number T>
COHORT_FN constexpr T clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
COHORT_CL_EACH_2(min)
COHORT_CL_EACH_2(max)
COHORT_CL_EACH_3(clamp)

template <std::integral T>
COHORT_FN constexpr std::make_unsigned_t<T> abs(T x) {
  using U = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<U>(U{0} - static_cast<U>(x)) : static_cast<U>(x);
}
template <std::integral T>
COHORT_FN constexpr std::make_unsigned_t<T> abs_diff(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return a > b ? static_cast<U>(static_cast<U>(a) - static_cast<U>(b))
               : static_cast<U>(static_cast<U>(b) - static_cast<U>(a));
}
template <std::integral T>
COHORT_FN constexpr T mul24(T a, T b) {
  return a * b;
}
template <std::integral T>
COHORT_FN constexpr T mad24(T a, T b, T c) {
  return a * b + c;
}
template <std::integral T>
COHORT_FN constexpr T mul_hi(T a, T b) {
  if constexpr (sizeof(T) < 8) {
    using Wide = std::conditional_t<std::is_signed_v<T>, long, unsigned long>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (sizeof(T) * 8));
  } else {
    return static_cast<T>((static_cast<__int128>(a) * static_cast<__int128>(b)) >> 64);
  }
}
template <std::integral T>
COHORT_FN constexpr T mad_hi(T a, T b, T c) {
  return static_cast<T>(mul_hi(a, b) + c);
}
template <std::integral T>
COHORT_FN constexpr T hadd(T a, T b) {
  return static_cast<T>((a >> 1) + (b >> 1) + (a & b & 1));
}
template <std::integral T>
COHORT_FN constexpr T rhadd(T a, T b) {
  return static_cast<T>((a >> 1) + (b >> 1) + ((a | b) & 1));
}
template <std::integral T>
COHORT_FN constexpr T rotate(T x, T by) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned bits = sizeof(T) * 8;
  const unsigned n = static_cast<unsigned>(by) % bits;
  const U u = static_cast<U>(x);
  return static_cast<T>(
      n == 0 ? u : static_cast<U>(static_cast<U>(u << n) | static_cast<U>(u >> (bits - n))));
}
template <std::integral T>
COHORT_FN T popcount(T x) {
  const auto bits = static_cast<unsigned long long>(static_cast<std::make_unsigned_t<T>>(x));
#ifdef __CUDA_ARCH__
  return static_cast<T>(__popcll(bits));
#else
  return static_cast<T>(std::popcount(bits));
#endif
}
template <std::integral T>
COHORT_FN T clz(T x) {
  constexpr int more = 64 - static_cast<int>(sizeof(T)) * 8;
  const auto bits = static_cast<unsigned long long>(static_cast<std::make_unsigned_t<T>>(x));
#ifdef __CUDA_ARCH__
  return static_cast<T>(__clzll(static_cast<long long>(bits)) - more);
#else
  return static_cast<T>(std::countl_zero(bits) - more);
#endif
}
template <std::integral T>
COHORT_FN T ctz(T x) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(x);
  return x == 0 ? static_cast<T>(sizeof(T) * 8) : popcount(static_cast<T>((bits & -bits) - 1));
}
template <std::integral T>
COHORT_FN constexpr T add_sat(T a, T b) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_unsigned_v<T>) {
    const T sum = static_cast<T>(a + b);
    return sum < a ? Limits::max() : sum;
  } else {
    if (b > 0 && a > Limits::max() - b) return Limits::max();
    if (b < 0 && a < Limits::lowest() - b) return Limits::lowest();
    return static_cast<T>(a + b);
  }
}
template <std::integral T>
COHORT_FN constexpr T sub_sat(T a, T b) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_unsigned_v<T>) {
    return a < b ? T{0} : static_cast<T>(a - b);
  } else {
    if (b < 0 && a > Limits::max() + b) return Limits::max();
    if (b > 0 && a < Limits::lowest() + b) return Limits::lowest();
    return static_cast<T>(a - b);
  }
}
COHORT_CL_EACH_1(abs)
COHORT_CL_EACH_2(abs_diff)
COHORT_CL_EACH_2(mul24)
COHORT_CL_EACH_3(mad24)
COHORT_CL_EACH_2(mul_hi)
COHORT_CL_EACH_2(hadd)
COHORT_CL_EACH_2(rhadd)
COHORT_CL_EACH_2(rotate)
COHORT_CL_EACH_1(popcount)
COHORT_CL_EACH_1(clz)
COHORT_CL_EACH_1(ctz)
COHORT_CL_EACH_2(add_sat)
COHORT_CL_EACH_2(sub_sat)

template <Number T, Number C>
COHORT_FN constexpr T select(T a, T b, C c) {
  return c != 0 ? b : a;
}
template <class T, class C, unsigned N>
COHORT_FN constexpr Vec<T, N> select(const Vec<T, N>& a, const Vec<T, N>& b, const Vec<C, N>& c) {
  return choose(c, b, a);
}
template <std::integral T>
COHORT_FN constexpr T bitselect(T a, T b, T mask) {
  return static_cast<T>((a & ~mask) | (b & mask));
}
COHORT_CL_EACH_3(bitselect)
template <class T>
COHORT_FN constexpr int any(const T& x) {
  if constexpr (IsVec<T>::value) {
    int result = 0;
    for (unsigned i = 0; i < IsVec<T>::width; ++i) result |= x[i] < 0;
    return result;
  } else {
    return x < 0;
  }
}
template <class T>
COHORT_FN constexpr int all(const T& x) {
  if constexpr (IsVec<T>::value) {
    int result = 1;
    for (unsigned i = 0; i < IsVec<T>::width; ++i) result &= x[i] < 0;
    return result;
  } else {
    return x < 0;
  }
}

template <class T>
COHORT_FN auto dot(const T& a, const T& b) {
  if constexpr (IsVec<T>::value) {
    auto sum = a[0] * b[0];
    for (unsigned i = 1; i < IsVec<T>::width; ++i) sum += a[i] * b[i];
    return sum;
  } else {
    return a * b;
  }
}
template <class T, unsigned N>
COHORT_FN Vec<T, N> cross(const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> result(T{0});
  result[0] = a[1] * b[2] - a[2] * b[1];
  result[1] = a[2] * b[0] - a[0] * b[2];
  result[2] = a[0] * b[1] - a[1] * b[0];
  return result;
}
template <class T>
COHORT_FN auto length(const T& a) {
  return sqrt(dot(a, a));
}
template <class T>
COHORT_FN auto distance(const T& a, const T& b) {
  return length(a - b);
}
template <class T>
COHORT_FN T normalize(const T& a) {
  const auto size = length(a);
  if constexpr (IsVec<T>::value)
    return size == 0 ? a : a / T(size);
  else
    return size == 0 ? a : a / size;
}
template <class T>
COHORT_FN auto fast_length(const T& a) {
  return length(a);
}
template <class T>
COHORT_FN auto fast_distance(const T& a, const T& b) {
  return distance(a, b);
}
template <class T>
COHORT_FN T fast_normalize(const T& a) {
  return normalize(a);
}

#undef COHORT_CL_EACH_1
#undef COHORT_CL_EACH_2
#undef COHORT_CL_EACH_3

// ---- work items

/// One thread of a kernel, as OpenCL C's functions see it. Groups lie along dimension 0; X, Y and Z
/// are what the kernel requires of a group's shape, X = 0 if nothing.
template <class Group, unsigned X, unsigned Y, unsigned Z>
struct Item {
  Group& group;

  COHORT_FN std::size_t get_local_size(unsigned dimension = 0) const {
    if constexpr (X == 0) return dimension == 0 ? group.local_size() : 1;
    return dimension == 0 ? X : dimension == 1 ? Y : dimension == 2 ? Z : 1;
  }
  COHORT_FN std::size_t get_enqueued_local_size(unsigned dimension = 0) const {
    return get_local_size(dimension);
  }
  COHORT_FN std::size_t get_local_id(unsigned dimension = 0) const {
    const std::size_t id = group.local_id();
    if constexpr (X == 0) return dimension == 0 ? id : 0;
    return dimension == 0   ? id % (X == 0 ? 1 : X)
           : dimension == 1 ? id / (X == 0 ? 1 : X) % Y
           : dimension == 2 ? id / ((X == 0 ? 1 : X) * Y)
                            : 0;
  }
  COHORT_FN std::size_t get_group_id(unsigned dimension = 0) const {
    return dimension == 0 ? group.group_id() : 0;
  }
  COHORT_FN std::size_t get_num_groups(unsigned dimension = 0) const {
    return dimension == 0 ? group.num_groups() : 1;
  }
  COHORT_FN std::size_t get_global_id(unsigned dimension = 0) const {
    if constexpr (X == 0) return dimension == 0 ? group.global_id() : 0;
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
  }
  COHORT_FN std::size_t get_global_size(unsigned dimension = 0) const {
    if constexpr (X == 0) return dimension == 0 ? group.global_size() : 1;
    return dimension == 0 ? group.global_size() / (Y * Z) : get_local_size(dimension);
  }
  COHORT_FN std::size_t get_global_offset(unsigned = 0) const { return 0; }
  COHORT_FN std::size_t get_global_linear_id() const { return group.global_id(); }
  COHORT_FN std::size_t get_local_linear_id() const { return group.local_id(); }
  COHORT_FN unsigned get_work_dim() const { return Z > 1 ? 3 : Y > 1 ? 2 : 1; }

  COHORT_FN void barrier() const { group.barrier(); }
  COHORT_FN int work_group_all(int mine) const {
    return group.reduce(mine != 0, [](bool a, bool b) { return a && b; });
  }
  COHORT_FN int work_group_any(int mine) const {
    return group.reduce(mine != 0, [](bool a, bool b) { return a || b; });
  }
  template <class T>
  COHORT_FN T work_group_broadcast(T value, std::size_t x, std::size_t y = 0,
                                   std::size_t z = 0) const {
    return group.broadcast(value, static_cast<std::uint32_t>(x + (y + z * Y) * get_local_size(0)));
  }
  template <class T>
  COHORT_FN T work_group_reduce_add(T mine) const {
    return group.reduce(mine, [](T a, T b) { return static_cast<T>(a + b); });
  }
  template <class T>
  COHORT_FN T work_group_reduce_min(T mine) const {
    return group.reduce(mine, [](T a, T b) { return a < b ? a : b; });
  }
  template <class T>
  COHORT_FN T work_group_reduce_max(T mine) const {
    return group.reduce(mine, [](T a, T b) { return a < b ? b : a; });
  }
  template <class T>
  COHORT_FN T work_group_scan_exclusive_add(T mine) const {
    return group.exclusive_scan(mine, T{0}, [](T a, T b) { return static_cast<T>(a + b); });
  }
  template <class T>
  COHORT_FN T work_group_scan_exclusive_min(T mine) const {
    return group.exclusive_scan(mine, std::numeric_limits<T>::max(),
                                [](T a, T b) { return a < b ? a : b; });
  }
  template <class T>
  COHORT_FN T work_group_scan_exclusive_max(T mine) const {
    return group.exclusive_scan(mine, std::numeric_limits<T>::lowest(),
                                [](T a, T b) { return a < b ? b : a; });
  }
  template <class T>
  COHORT_FN T work_group_scan_inclusive_add(T mine) const {
    return group.inclusive_scan(mine, [](T a, T b) { return static_cast<T>(a + b); });
  }
  template <class T>
  COHORT_FN T work_group_scan_inclusive_min(T mine) const {
    return group.inclusive_scan(mine, [](T a, T b) { return a < b ? a : b; });
  }
  template <class T>
  COHORT_FN T work_group_scan_inclusive_max(T mine) const {
    return group.inclusive_scan(mine, [](T a, T b) { return a < b ? b : a; });
  }
};

}  // namespace cohort::cl
