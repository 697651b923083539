// OpenCL C's vectors, and conversions of them and of scalars.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "cohort/kernel.hpp"

namespace cohort::cl {

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

}  // namespace cohort::cl
