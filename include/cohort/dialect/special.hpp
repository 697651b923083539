// Functions of OpenCL C that libm lacks: angles in units of pi, functions with two results,
// functions of the bit representation, and relations. Corner cases follow section 7.5.1 of the
// specification.
#pragma once

#include "cohort/dialect/math.hpp"

namespace cohort::cl {

namespace detail {

inline constexpr double pi = 3.14159265358979323846;

template <std::floating_point T>
COHORT_FN T nan_of(T /*like*/) {
  return static_cast<T>(__builtin_nanf(""));
}
template <std::floating_point T>
COHORT_FN T infinity_like(T sign) {
  return copysign(static_cast<T>(__builtin_huge_valf()), sign);
}
/// Whether the integer `x` is odd.
template <std::floating_point T>
COHORT_FN bool is_odd(T x) {
  return ::fabs(::fmod(static_cast<double>(x), 2.0)) == 1.0;
}

}  // namespace detail

// ---- in units of pi. Floats are computed as doubles; the reductions are exact.

template <std::floating_point T>
COHORT_FN T sinpi(T x) {
  const double r = ::remainder(static_cast<double>(x), 2.0);
  const double a = ::fabs(r);
  const double size = a <= 0.25   ? ::sin(detail::pi * a)
                      : a <= 0.75 ? ::cos(detail::pi * (0.5 - a))
                                  : ::sin(detail::pi * (1.0 - a));
  return static_cast<T>(::copysign(size, size == 0 ? static_cast<double>(x) : r));
}
template <std::floating_point T>
COHORT_FN T cospi(T x) {
  const double a = ::fabs(::remainder(static_cast<double>(x), 2.0));
  return static_cast<T>(a <= 0.25   ? ::cos(detail::pi * a)
                        : a <= 0.75 ? ::sin(detail::pi * (0.5 - a))
                                    : -::cos(detail::pi * (1.0 - a)));
}
template <std::floating_point T>
COHORT_FN T tanpi(T x) {
  const double wide = x;
  const double r = ::remainder(wide, 1.0);
  const double a = ::fabs(r);
  if (a == 0.0) return copysign(T{0}, detail::is_odd(x) ? -x : x);
  if (a == 0.5) {
    const double below = ::floor(wide);
    return detail::infinity_like(static_cast<T>(detail::is_odd(below) ? -below : below));
  }
  const double size = a <= 0.25 ? ::tan(detail::pi * a) : 1.0 / ::tan(detail::pi * (0.5 - a));
  return static_cast<T>(::copysign(size, r));
}
template <std::floating_point T>
COHORT_FN T asinpi(T x) {
  return static_cast<T>(::asin(static_cast<double>(x)) / detail::pi);
}
template <std::floating_point T>
COHORT_FN T acospi(T x) {
  return static_cast<T>(::acos(static_cast<double>(x)) / detail::pi);
}
template <std::floating_point T>
COHORT_FN T atanpi(T x) {
  return static_cast<T>(::atan(static_cast<double>(x)) / detail::pi);
}
template <std::floating_point T>
COHORT_FN T atan2pi(T y, T x) {
  return static_cast<T>(::atan2(static_cast<double>(y), static_cast<double>(x)) / detail::pi);
}
COHORT_CL_EACH_1(sinpi)
COHORT_CL_EACH_1(cospi)
COHORT_CL_EACH_1(tanpi)
COHORT_CL_EACH_1(asinpi)
COHORT_CL_EACH_1(acospi)
COHORT_CL_EACH_1(atanpi)
COHORT_CL_EACH_2(atan2pi)

// ---- powers and roots

template <std::floating_point T>
COHORT_FN T powr(T x, T y) {
  const T size = fabs(x);
  const bool undefined =
      x < 0 || isnan(x) || isnan(y) || (y == 0 && (size == 0 || isinf(x))) || (x == 1 && isinf(y));
  return undefined ? detail::nan_of(x) : pow(size, y);
}
template <std::floating_point T>
COHORT_FN T pown(T x, int y) {
  if (sizeof(T) == 8 || (-(1 << 24) < y && y < (1 << 24))) return pow(x, static_cast<T>(y));
  return static_cast<T>(::pow(static_cast<double>(x), static_cast<double>(y)));
}
template <std::floating_point T>
COHORT_FN T rootn(T x, int n) {
  if (n == 0 || (x < 0 && n % 2 == 0)) return detail::nan_of(x);
  const double size = ::fabs(static_cast<double>(x));
  double root = ::pow(size, 1.0 / n);
  if (sizeof(T) == 8 && -64 < n && n < 64 && isfinite(size) && size != 0) {
    // 1 / n is rounded, so improve the root by one step of Newton's method. Scale to a moderate
    // size first.
    int exponent = 0;
    const double digits = ::frexp(size, &exponent);
    const double near_1 = ::ldexp(digits, exponent % n);
    root = ::pow(near_1, 1.0 / n);
    root -= root * (::pow(root, static_cast<double>(n)) / near_1 - 1.0) / n;
    root = ::ldexp(root, exponent / n);
  }
  return n % 2 == 0 ? static_cast<T>(root) : copysign(static_cast<T>(root), x);
}
COHORT_CL_EACH_2(powr)
COHORT_CL_EACH_2(pown)
COHORT_CL_EACH_2(rootn)

// ---- the representation

template <std::floating_point T>
COHORT_FN int ilogb(T x) {
  if (isnan(x) || isinf(x)) return 2147483647;
  if (x == 0) return -2147483647 - 1;
  if constexpr (sizeof(T) == 4)
    return ::ilogbf(x);
  else
    return ::ilogb(x);
}
COHORT_FN inline float nan(unsigned code) { return as<float>(0x7fc00000U | (code & 0x3fffffU)); }
COHORT_FN inline double nan(unsigned long code) {
  return as<double>(0x7ff8000000000000UL | (code & 0x7ffffffffffffUL));
}
template <std::floating_point T>
COHORT_FN T maxmag(T a, T b) {
  return fabs(a) > fabs(b) ? a : fabs(b) > fabs(a) ? b : fmax(a, b);
}
template <std::floating_point T>
COHORT_FN T minmag(T a, T b) {
  return fabs(a) < fabs(b) ? a : fabs(b) < fabs(a) ? b : fmin(a, b);
}
COHORT_CL_EACH_1(ilogb)
COHORT_CL_EACH_1(nan)
COHORT_CL_EACH_2(ldexp)
template <std::floating_point T, unsigned N>
COHORT_FN Vec<T, N> ldexp(const Vec<T, N>& x, int by) {
  return ldexp(x, Vec<int, N>(by));
}
COHORT_CL_EACH_2(maxmag)
COHORT_CL_EACH_2(minmag)

// ---- two results

template <std::floating_point T>
COHORT_FN T sincos(T x, T* cosine) {
  *cosine = cos(x);
  return sin(x);
}
template <std::floating_point T>
COHORT_FN T fract(T x, T* whole) {
  *whole = floor(x);
  if (isinf(x) || x == 0) return copysign(T{0}, x);
  const T below_1 = sizeof(T) == 4 ? T(0x1.fffffep-1F) : T(0x1.fffffffffffffp-1);
  const T part = x - *whole;
  return part > below_1 ? below_1 : part;
}
template <std::floating_point T>
COHORT_FN T modf(T x, T* whole) {
  *whole = trunc(x);
  return copysign(isinf(x) ? T{0} : x - *whole, x);
}
template <std::floating_point T>
COHORT_FN T frexp(T x, int* exponent) {
  *exponent = 0;
  if constexpr (sizeof(T) == 4)
    return ::frexpf(x, exponent);
  else
    return ::frexp(x, exponent);
}
/// remquo(). OpenCL C requires the seven low bits of the quotient, but libm provides only three.
template <std::floating_point T>
COHORT_FN T remquo(T x, T y, int* quotient) {
  *quotient = 0;
  if (isnan(x) || isnan(y) || isinf(x) || y == 0) return detail::nan_of(x);
  if (isinf(y)) return x;
  const T size = fabs(y);
  T rest = fabs(x);
  if (isfinite(size * 128)) rest = fmod(rest, size * 128);
  int bits = 0;
  for (int times = 64; times > 0; times /= 2) {
    if (!(rest >= size * static_cast<T>(times))) continue;
    rest -= size * static_cast<T>(times);
    bits += times;
  }
  const T other = size - rest;  // distance to the next multiple
  if (rest > other || (rest == other && bits % 2 != 0)) {
    rest = -other;
    ++bits;
  }
  *quotient = (x < 0) != (y < 0) ? -(bits % 128) : bits % 128;
  return rest == 0 ? copysign(T{0}, x) : x < 0 ? -rest : rest;
}
template <std::floating_point T>
COHORT_FN T lgamma_r(T x, int* sign) {
#ifdef __CUDA_ARCH__
  const double below = ::floor(static_cast<double>(x));
  *sign = x < 0 && detail::is_odd(below) ? -1 : 1;
  if constexpr (sizeof(T) == 4)
    return ::lgammaf(x);
  else
    return ::lgamma(x);
#else
  *sign = 1;
  if constexpr (sizeof(T) == 4)
    return ::lgammaf_r(x, sign);
  else
    return ::lgamma_r(x, sign);
#endif
}
template <std::floating_point T>
COHORT_FN T lgamma(T x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}
#define COHORT_CL_TWO(name, U)                                              \
  template <class T, unsigned N>                                            \
  COHORT_FN Vec<T, N> name(const Vec<T, N>& x, Vec<U, N>* second) {         \
    Vec<T, N> result;                                                       \
    for (unsigned i = 0; i < N; ++i) result[i] = name(x[i], &(*second)[i]); \
    return result;                                                          \
  }
COHORT_CL_TWO(sincos, T)
COHORT_CL_TWO(fract, T)
COHORT_CL_TWO(modf, T)
COHORT_CL_TWO(frexp, int)
COHORT_CL_TWO(lgamma_r, int)
#undef COHORT_CL_TWO
COHORT_CL_EACH_1(lgamma)
template <class T, unsigned N>
COHORT_FN Vec<T, N> remquo(const Vec<T, N>& x, const Vec<T, N>& y, Vec<int, N>* quotient) {
  Vec<T, N> result;
  for (unsigned i = 0; i < N; ++i) result[i] = remquo(x[i], y[i], &(*quotient)[i]);
  return result;
}

// ---- relations: the result is 1 for a scalar; in a vector, all bits of a component

#define COHORT_CL_RELATION_1(name)                                                   \
  template <class T, unsigned N>                                                     \
  COHORT_FN Vec<Truth<T>, N> name(const Vec<T, N>& a) {                              \
    return map(a, [](T x) { return static_cast<Truth<T>>(name(x) != 0 ? -1 : 0); }); \
  }
#define COHORT_CL_RELATION_2(name, holds)                                               \
  template <std::floating_point T>                                                      \
  COHORT_FN int name(T x, T y) {                                                        \
    return (holds) ? 1 : 0;                                                             \
  }                                                                                     \
  template <class T, unsigned N>                                                        \
  COHORT_FN Vec<Truth<T>, N> name(const Vec<T, N>& a, const Vec<T, N>& b) {             \
    return map(a, b, [](T x, T y) { return static_cast<Truth<T>>((holds) ? -1 : 0); }); \
  }
template <std::floating_point T>
COHORT_FN int isnormal(T x) {
  return isfinite(x) && fabs(x) >= std::numeric_limits<T>::min();
}
COHORT_CL_RELATION_1(isnan)
COHORT_CL_RELATION_1(isinf)
COHORT_CL_RELATION_1(isfinite)
COHORT_CL_RELATION_1(isnormal)
COHORT_CL_RELATION_1(signbit)
COHORT_CL_RELATION_2(isequal, x == y)
COHORT_CL_RELATION_2(isnotequal, x != y)
COHORT_CL_RELATION_2(isgreater, x > y)
COHORT_CL_RELATION_2(isgreaterequal, x >= y)
COHORT_CL_RELATION_2(isless, x < y)
COHORT_CL_RELATION_2(islessequal, x <= y)
COHORT_CL_RELATION_2(islessgreater, x<y || x> y)
COHORT_CL_RELATION_2(isordered, x == x && y == y)
COHORT_CL_RELATION_2(isunordered, x != x || y != y)
#undef COHORT_CL_RELATION_1
#undef COHORT_CL_RELATION_2

// ---- the same functions under other names: at least as accurate as required

#define COHORT_CL_ALSO_1(prefix, name)   \
  template <class T>                     \
  COHORT_FN T prefix##name(const T& x) { \
    return name(x);                      \
  }
#define COHORT_CL_ALSO(name)      \
  COHORT_CL_ALSO_1(native_, name) \
  COHORT_CL_ALSO_1(half_, name)
COHORT_CL_ALSO(cos)
COHORT_CL_ALSO(exp)
COHORT_CL_ALSO(exp10)
COHORT_CL_ALSO(exp2)
COHORT_CL_ALSO(log)
COHORT_CL_ALSO(log10)
COHORT_CL_ALSO(log2)
COHORT_CL_ALSO(rsqrt)
COHORT_CL_ALSO(sin)
COHORT_CL_ALSO(sqrt)
COHORT_CL_ALSO(tan)
#undef COHORT_CL_ALSO
#undef COHORT_CL_ALSO_1
#define COHORT_CL_ALSO(prefix)                         \
  template <class T>                                   \
  COHORT_FN T prefix##powr(const T& x, const T& y) {   \
    return powr(x, y);                                 \
  }                                                    \
  template <class T>                                   \
  COHORT_FN T prefix##recip(const T& x) {              \
    return T(1) / x;                                   \
  }                                                    \
  template <class T>                                   \
  COHORT_FN T prefix##divide(const T& x, const T& y) { \
    return x / y;                                      \
  }
COHORT_CL_ALSO(native_)
COHORT_CL_ALSO(half_)
#undef COHORT_CL_ALSO

#undef COHORT_CL_EACH_1
#undef COHORT_CL_EACH_2
#undef COHORT_CL_EACH_3

}  // namespace cohort::cl
