// OpenCL C's half: 16 bits in memory. Operations compute in float and round the result, which
// yields the correctly rounded half. This file also has the rounding modes of conversions.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cohort/kernel.hpp"

namespace cohort::cl {

/// The rounding mode of a conversion: C's own, or the one that the suffix names.
enum class Rounding { as_c, to_even, to_zero, up, down };

namespace detail {

template <class To, class From>
COHORT_FN To same_bits(From from) {
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

COHORT_FN inline unsigned short half_bits(float x, Rounding how) {
  const auto bits = same_bits<unsigned>(x);
  const unsigned sign = bits >> 16 & 0x8000U;
  const unsigned size = bits & 0x7fffffffU;
  if (size > 0x7f800000U)  // NaN
    return static_cast<unsigned short>(sign | 0x7e00U | (size >> 13 & 0x3ffU));
  const bool away = how == Rounding::up ? sign == 0 : how == Rounding::down && sign != 0;
  const bool nearest = how == Rounding::as_c || how == Rounding::to_even;
  const int exponent = static_cast<int>(size >> 23) - 127;
  const unsigned dropped = exponent >= -14  ? 13U
                           : exponent > -32 ? static_cast<unsigned>(-1 - exponent)
                                            : 31U;
  const unsigned digits = size == 0 ? 0 : (size & 0x7fffffU) | 0x800000U;
  unsigned result = digits >> dropped;
  const unsigned rest = digits & ((1U << dropped) - 1U);
  const unsigned middle = 1U << (dropped - 1U);
  const bool more =
      nearest ? rest > middle || (rest == middle && result % 2 != 0) : away && rest != 0;
  result += more ? 1U : 0U;
  if (exponent >= -14) result += static_cast<unsigned>(exponent + 14) << 10;
  if (result >= 0x7c00U) result = size == 0x7f800000U || nearest || away ? 0x7c00U : 0x7bffU;
  return static_cast<unsigned short>(sign | result);
}

COHORT_FN inline float float_of_half(unsigned short bits) {
  const unsigned sign = (bits & 0x8000U) << 16;
  const unsigned exponent = bits >> 10 & 31U;
  const unsigned digits = bits & 0x3ffU;
  if (exponent == 0) {
    const float size = static_cast<float>(digits) * 0x1p-24F;
    return sign != 0 ? -size : size;
  }
  return same_bits<float>(sign | (exponent == 31 ? 0x7f800000U : (exponent + 112) << 23) |
                          digits << 13);
}

/// A float that rounds to the same half as `x`. Its lowest bit records whether `x` has further
/// digits.
COHORT_FN inline float sticky_float(double x) {
  auto result = static_cast<float>(x);
  if (static_cast<double>(result) == x || x != x) return result;
  auto bits = same_bits<unsigned>(result);
  if (::fabs(static_cast<double>(result)) > ::fabs(x)) --bits;  // round toward zero
  return same_bits<float>(bits | 1U);
}

}  // namespace detail

struct half {
  unsigned short bits;

  half() = default;
  template <class T>
  requires std::is_arithmetic_v<T> COHORT_FN explicit half(T value, Rounding how = Rounding::as_c)
      : bits(detail::half_bits(narrow(value), how)) {}
  template <class T>
  requires std::is_arithmetic_v<T> COHORT_FN explicit operator T() const {
    return static_cast<T>(detail::float_of_half(bits));
  }

 private:
  template <class T>
  static COHORT_FN float narrow(T value) {
    if constexpr (std::is_same_v<T, float>)
      return value;
    else
      return detail::sticky_float(static_cast<double>(value));
  }
};

#define COHORT_CL_HALF(op)                                                            \
  COHORT_FN inline half operator op(half a, half b) {                                 \
    return half(static_cast<float>(a) op static_cast<float>(b));                      \
  }                                                                                   \
  COHORT_FN inline half& operator op##=(half& a, half b) { return a = a op b; }       \
  template <class T>                                                                  \
  requires std::is_floating_point_v<T> COHORT_FN half& operator op##=(half& a, T b) { \
    return a = half(static_cast<T>(a) op b);                                          \
  }
COHORT_CL_HALF(+)
COHORT_CL_HALF(-)
COHORT_CL_HALF(*)
COHORT_CL_HALF(/)
#undef COHORT_CL_HALF
#define COHORT_CL_HALF(op)                                 \
  COHORT_FN inline bool operator op(half a, half b) {      \
    return static_cast<float>(a) op static_cast<float>(b); \
  }
COHORT_CL_HALF(==)
COHORT_CL_HALF(!=)
COHORT_CL_HALF(<)
COHORT_CL_HALF(<=)
COHORT_CL_HALF(>)
COHORT_CL_HALF(>=)
#undef COHORT_CL_HALF
COHORT_FN inline half operator+(half a) { return a; }
COHORT_FN inline half operator-(half a) {
  a.bits = static_cast<unsigned short>(a.bits ^ 0x8000U);
  return a;
}
COHORT_FN inline half& operator++(half& a) { return a += half(1); }
COHORT_FN inline half& operator--(half& a) { return a -= half(1); }
COHORT_FN inline half operator++(half& a, int) {
  const half before = a;
  ++a;
  return before;
}
COHORT_FN inline half operator--(half& a, int) {
  const half before = a;
  --a;
  return before;
}

}  // namespace cohort::cl
