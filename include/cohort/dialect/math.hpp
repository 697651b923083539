// OpenCL C's mathematical functions on scalars. Vectors apply them to each component.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cohort/dialect/vector.hpp"

namespace cohort::cl {

// Defines `name` on vectors, based on its definition for scalars.
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
COHORT_CL_STD_1(acosh)
COHORT_CL_STD_1(asin)
COHORT_CL_STD_1(asinh)
COHORT_CL_STD_1(atan)
COHORT_CL_STD_1(atanh)
COHORT_CL_STD_1(ceil)
COHORT_CL_STD_1(cos)
COHORT_CL_STD_1(cosh)
COHORT_CL_STD_1(erf)
COHORT_CL_STD_1(erfc)
COHORT_CL_STD_1(exp)
COHORT_CL_STD_1(exp10)
COHORT_CL_STD_1(exp2)
COHORT_CL_STD_1(expm1)
COHORT_CL_STD_1(fabs)
COHORT_CL_STD_1(floor)
COHORT_CL_STD_1(log)
COHORT_CL_STD_1(log10)
COHORT_CL_STD_1(log1p)
COHORT_CL_STD_1(log2)
COHORT_CL_STD_1(logb)
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
COHORT_CL_STD_2(nextafter)
COHORT_CL_STD_2(pow)
COHORT_CL_STD_2(remainder)
#undef COHORT_CL_STD_2

COHORT_FN inline float cbrt(float x) { return ::cbrtf(x); }
COHORT_FN inline double cbrt(double x) {
  const double root = ::cbrt(x);
// libm's error is more than two ulp, so improve the result by one step of Newton's method
#ifndef __CUDA_ARCH__
  const double square = root * root;
  const double cube = square * root;
  if (square == 0 || cube - cube != 0) return root;
  const double rest = ::fma(::fma(root, root, -square), root, ::fma(square, root, -cube));
  return root - ((cube - x) + rest) / (3 * square);
#else
  return root;
#endif
}
COHORT_CL_EACH_1(cbrt)

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
COHORT_CL_EACH_3(smoothstep)
template <class T, unsigned N>
COHORT_FN Vec<T, N> step(T edge, const Vec<T, N>& x) {
  return step(Vec<T, N>(edge), x);
}
template <class T, unsigned N>
COHORT_FN Vec<T, N> smoothstep(T from, T to, const Vec<T, N>& x) {
  return smoothstep(Vec<T, N>(from), Vec<T, N>(to), x);
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

/// For use in signatures. It is a struct, because Clang evaluates types before constraints, and
/// this type must not fail for vectors.
template <class T>
struct UnsignedOf {};
template <std::integral T>
struct UnsignedOf<T> : std::make_unsigned<T> {};
template <class T>
using Unsigned = typename UnsignedOf<T>::type;

template <std::integral T>
COHORT_FN constexpr Unsigned<T> abs(T x) {
  using U = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<U>(U{0} - static_cast<U>(x)) : static_cast<U>(x);
}
template <std::integral T>
COHORT_FN constexpr Unsigned<T> abs_diff(T a, T b) {
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
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
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
template <std::integral T>
COHORT_FN constexpr T mad_sat(T a, T b, T c) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  // No overflow: |a * b| is at most 2^126 for signed T; for unsigned T the sum is below 2^128.
  const Wide exact = static_cast<Wide>(a) * static_cast<Wide>(b) + static_cast<Wide>(c);
  if (exact > static_cast<Wide>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  if (exact < static_cast<Wide>(std::numeric_limits<T>::lowest()))
    return std::numeric_limits<T>::lowest();
  return static_cast<T>(exact);
}
/// The integer type of twice the size and the same signedness as T.
template <std::integral T>
using Twice = std::conditional_t<
    std::is_signed_v<T>,
    std::conditional_t<sizeof(T) == 1, short, std::conditional_t<sizeof(T) == 2, int, long>>,
    std::conditional_t<sizeof(T) == 1, unsigned short,
                       std::conditional_t<sizeof(T) == 2, unsigned int, unsigned long>>>;
template <std::integral T>
COHORT_FN constexpr Twice<T> upsample(T high, Unsigned<T> low) {
  return static_cast<Twice<T>>(static_cast<unsigned long>(high) << (sizeof(T) * 8) | low);
}
COHORT_CL_EACH_1(abs)
COHORT_CL_EACH_2(abs_diff)
COHORT_CL_EACH_2(mul24)
COHORT_CL_EACH_3(mad24)
COHORT_CL_EACH_2(mul_hi)
COHORT_CL_EACH_3(mad_hi)
COHORT_CL_EACH_3(mad_sat)
COHORT_CL_EACH_2(upsample)
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
template <std::floating_point T>
COHORT_FN T bitselect(T a, T b, T mask) {
  return as<T>(bitselect(as<Truth<T>>(a), as<Truth<T>>(b), as<Truth<T>>(mask)));
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

template <class T, unsigned M, class U, unsigned N>
COHORT_FN Vec<T, N> shuffle(const Vec<T, M>& a, const Vec<U, N>& mask) {
  Vec<T, N> result;
  for (unsigned i = 0; i < N; ++i) result[i] = a[static_cast<unsigned>(mask[i]) % M];
  return result;
}
template <class T, unsigned M, class U, unsigned N>
COHORT_FN Vec<T, N> shuffle2(const Vec<T, M>& a, const Vec<T, M>& b, const Vec<U, N>& mask) {
  Vec<T, N> result;
  for (unsigned i = 0; i < N; ++i) {
    const unsigned part = static_cast<unsigned>(mask[i]) % (2 * M);
    result[i] = part < M ? a[part] : b[part - M];
  }
  return result;
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

}  // namespace cohort::cl
