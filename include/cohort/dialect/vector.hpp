// OpenCL C's vectors, and conversions of vectors and scalars.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cohort/dialect/half.hpp"

namespace cohort::cl {

/// OpenCL C's vector of N elements. A vector of 3 has a fourth element, which `v.hi` names.
template <class T, unsigned N>
struct alignas(sizeof(T) * (N == 3 ? 4 : N)) Vec {
  T at[N == 3 ? 4 : N];

  Vec() = default;
  COHORT_FN explicit constexpr Vec(T all) {
    for (unsigned i = 0; i < N; ++i) at[i] = all;
  }
  COHORT_FN constexpr T& operator[](unsigned i) { return at[i]; }
  COHORT_FN constexpr const T& operator[](unsigned i) const { return at[i]; }
  COHORT_FN volatile T& operator[](unsigned i) volatile { return at[i]; }
  COHORT_FN const volatile T& operator[](unsigned i) const volatile { return at[i]; }
};

template <class T>
struct IsVec : std::false_type {};
template <class T, unsigned N>
struct IsVec<Vec<T, N>> : std::true_type {
  using Element = T;
  static constexpr unsigned width = N;
};

/// The element type of a comparison's result for vectors of T: a signed integer of the same size.
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

// The two operands of a shift may differ in signedness.
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

/// A vector literal. Its components are the components of `parts`, scalars and shorter vectors, in
/// order.
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

/// The left side of `v.xy = ...`.
template <class T, unsigned N, unsigned... parts>
struct SwizzleRef {
  Vec<T, N>& of;
  using Value = Vec<T, sizeof...(parts)>;

  // By value, because it may be `of` itself.
  COHORT_FN constexpr Value operator=(Value value) const {  // NOLINT: gives the value, as C does
    unsigned i = 0;
    ((of[parts] = value[i++]), ...);
    return value;
  }
  COHORT_FN constexpr Value get() const { return swizzle<parts...>(of); }
#define COHORT_CL_OPERATOR(op)                                     \
  template <class U>                                               \
  COHORT_FN constexpr Value operator op##=(const U& value) const { \
    return *this = get() op value;                                 \
  }
  COHORT_CL_OPERATOR(+)
  COHORT_CL_OPERATOR(-)
  COHORT_CL_OPERATOR(*)
  COHORT_CL_OPERATOR(/)
  COHORT_CL_OPERATOR(%)
  COHORT_CL_OPERATOR(&)
  COHORT_CL_OPERATOR(|)
  COHORT_CL_OPERATOR(^)
  COHORT_CL_OPERATOR(<<)
  COHORT_CL_OPERATOR(>>)
#undef COHORT_CL_OPERATOR
  COHORT_FN constexpr Value operator++() const { return *this += Value(T{1}); }
  COHORT_FN constexpr Value operator--() const { return *this -= Value(T{1}); }
  COHORT_FN constexpr Value operator++(int) const {
    const Value before = get();
    ++*this;
    return before;
  }
  COHORT_FN constexpr Value operator--(int) const {
    const Value before = get();
    --*this;
    return before;
  }
};
template <unsigned... parts, class T, unsigned N>
COHORT_FN constexpr SwizzleRef<T, N, parts...> swizzle_ref(Vec<T, N>& a) {
  return {a};
}

/// `c ? a : b` on vectors. The top bit of each component of c decides.
template <class C, class T, unsigned N>
COHORT_FN constexpr Vec<T, N> choose(const Vec<C, N>& c, const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> result;
  for (unsigned i = 0; i < N; ++i)
    result[i] = static_cast<std::make_signed_t<C>>(c[i]) < 0 ? a[i] : b[i];
  return result;
}

// ---- memory

/// An array literal of C: an array with these elements.
template <class Array>
COHORT_FN Array& assign(Array& to, const std::type_identity_t<Array>& elements) {
  __builtin_memcpy(&to, &elements, sizeof(Array));
  return to;
}

/// Copies a volatile struct or vector word by word, because C++ cannot copy it as a whole.
template <class T>
COHORT_FN T read_volatile(const volatile T& from) {
  using Word = std::conditional_t<alignof(T) % 4 == 0, unsigned, unsigned char>;
  T result;
  for (std::size_t i = 0; i < sizeof(T) / sizeof(Word); ++i) {
    const Word word = reinterpret_cast<const volatile Word*>(&from)[i];
    __builtin_memcpy(reinterpret_cast<unsigned char*>(&result) + i * sizeof(Word), &word,
                     sizeof(Word));
  }
  return result;
}
template <class T>
COHORT_FN void write_volatile(volatile T& to, const T& value) {
  using Word = std::conditional_t<alignof(T) % 4 == 0, unsigned, unsigned char>;
  for (std::size_t i = 0; i < sizeof(T) / sizeof(Word); ++i) {
    Word word;
    __builtin_memcpy(&word, reinterpret_cast<const unsigned char*>(&value) + i * sizeof(Word),
                     sizeof(Word));
    reinterpret_cast<volatile Word*>(&to)[i] = word;
  }
}

// ---- conversions

namespace detail {

/// The next float away from zero, or toward zero. `x` is finite and not zero.
template <class T>
COHORT_FN T neighbour(T x, bool away) {
  using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long>;
  Bits bits = 0;
  __builtin_memcpy(&bits, &x, sizeof(T));
  bits = away ? bits + 1 : bits - 1;
  __builtin_memcpy(&x, &bits, sizeof(T));
  return x;
}

/// `value` rounded to an integer, in the same type.
template <class T>
COHORT_FN T round_to(T value, Rounding how) {
  const double wide = value;
  return static_cast<T>(how == Rounding::to_even ? ::rint(wide)
                        : how == Rounding::up    ? ::ceil(wide)
                        : how == Rounding::down  ? ::floor(wide)
                                                 : ::trunc(wide));
}

/// Converts to a float type that cannot represent every value.
template <class To, class From>
COHORT_FN To round_into(From from, Rounding how) {
  const To nearest = static_cast<To>(from);  // rounds to even
  if (how == Rounding::to_even || how == Rounding::as_c || from == 0 || from != from)
    return nearest;
  // Exact comparison: integers and integral floats as __int128, other floats as double.
  using Exact = std::conditional_t<std::is_floating_point_v<From>, double, __int128>;
  const bool infinite = nearest - nearest != 0;
  if (infinite && static_cast<double>(from) - static_cast<double>(from) != 0) return nearest;
  const bool above =
      infinite ? nearest > 0 : static_cast<Exact>(nearest) > static_cast<Exact>(from);
  const bool below =
      infinite ? nearest < 0 : static_cast<Exact>(nearest) < static_cast<Exact>(from);
  const bool positive = from > 0;
  if (above && (how == Rounding::down || (how == Rounding::to_zero && positive)))
    return nearest == 0 ? neighbour(To{0}, true) * To{-1} : neighbour(nearest, !positive);
  if (below && (how == Rounding::up || (how == Rounding::to_zero && !positive)))
    return nearest == 0 ? neighbour(To{0}, true) : neighbour(nearest, positive);
  return nearest;
}

}  // namespace detail

template <class To, Rounding how = Rounding::as_c, class From>
COHORT_FN constexpr To convert(const From& from) {
  if constexpr (IsVec<From>::value) {
    To result;
    for (unsigned i = 0; i < IsVec<From>::width; ++i)
      result[i] = convert<typename IsVec<To>::Element, how>(from[i]);
    return result;
  } else if constexpr (std::is_same_v<From, half>) {
    return convert<To, how>(static_cast<float>(from));
  } else if constexpr (std::is_same_v<To, half>) {
    return half(from, how);
  } else if constexpr (how == Rounding::as_c) {
    return static_cast<To>(from);
  } else if constexpr (std::is_floating_point_v<To>) {
    return detail::round_into<To>(from, how);
  } else if constexpr (std::is_floating_point_v<From>) {
    return static_cast<To>(detail::round_to(from, how));
  } else {
    return static_cast<To>(from);
  }
}

template <class To, Rounding how = Rounding::as_c, class From>
COHORT_FN constexpr To convert_sat(const From& from) {
  if constexpr (IsVec<From>::value) {
    To result;
    for (unsigned i = 0; i < IsVec<From>::width; ++i)
      result[i] = convert_sat<typename IsVec<To>::Element, how>(from[i]);
    return result;
  } else if constexpr (std::is_same_v<From, half>) {
    return convert_sat<To, how>(static_cast<float>(from));
  } else if constexpr (std::is_floating_point_v<From>) {
    if (from != from) return 0;
    if (from <= static_cast<From>(std::numeric_limits<To>::lowest()))
      return std::numeric_limits<To>::lowest();
    if (from >= static_cast<From>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return convert<To, how>(from);
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

/// vload_half and vloada_half. With `aligned`, a vector of 3 takes the space of 4.
template <class To, bool aligned>
COHORT_FN To load_half(std::size_t offset, const half* from) {
  if constexpr (IsVec<To>::value) {
    constexpr unsigned width = IsVec<To>::width;
    To result;
    for (unsigned i = 0; i < width; ++i)
      result[i] = static_cast<float>(from[offset * (aligned && width == 3 ? 4 : width) + i]);
    return result;
  } else {
    return static_cast<To>(from[offset]);
  }
}
template <bool aligned, Rounding how, class From>
COHORT_FN void store_half(const From& value, std::size_t offset, half* to) {
  if constexpr (IsVec<From>::value) {
    constexpr unsigned width = IsVec<From>::width;
    for (unsigned i = 0; i < width; ++i)
      to[offset * (aligned && width == 3 ? 4 : width) + i] = half(value[i], how);
  } else {
    to[offset] = half(value, how);
  }
}

}  // namespace cohort::cl
