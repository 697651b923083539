// The numbers that random kernels compute with, their types, and the effect of OpenCL C's operators
// and functions on them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cohort::test::random {

// ---- values

enum class Kind : std::uint8_t { boolean, i8, u8, i16, u16, i32, u32, i64, u64, f32 };

struct KindFacts {
  const char* name;
  unsigned bits;  // |value| <= 2^bits
  unsigned width;
  bool is_signed;
};

inline const KindFacts& facts(Kind kind) {
  static constexpr std::array<KindFacts, 10> all{{{"bool", 0, 1, false},
                                                  {"char", 7, 8, true},
                                                  {"uchar", 8, 8, false},
                                                  {"short", 15, 16, true},
                                                  {"ushort", 16, 16, false},
                                                  {"int", 31, 32, true},
                                                  {"uint", 32, 32, false},
                                                  {"long", 63, 64, true},
                                                  {"ulong", 64, 64, false},
                                                  {"float", 8, 32, true}}};
  return all[static_cast<std::size_t>(kind)];
}

/// A number as stored in memory: sign-extended or not depending on its kind; a float as its bits.
using Word = std::int64_t;

inline Word wrap(Word value, Kind kind) {
  switch (kind) {
    case Kind::boolean: return value != 0 ? 1 : 0;
    case Kind::i8: return static_cast<std::int8_t>(value);
    case Kind::u8: return static_cast<std::uint8_t>(value);
    case Kind::i16: return static_cast<std::int16_t>(value);
    case Kind::u16: return static_cast<std::uint16_t>(value);
    case Kind::i32: return static_cast<std::int32_t>(value);
    case Kind::u32: return static_cast<std::uint32_t>(value);
    default: return value;
  }
}

inline float real(Word value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }
inline Word word(float value) { return std::bit_cast<std::uint32_t>(value); }

inline Word convert(Word value, Kind from, Kind to) {
  if (from == to) return value;
  if (from == Kind::f32) {
    if (to == Kind::boolean) return real(value) != 0 ? 1 : 0;
    return wrap(static_cast<Word>(real(value)), to);
  }
  if (to != Kind::f32) return wrap(value, to);
  return word(from == Kind::u64 ? static_cast<float>(static_cast<std::uint64_t>(value))
                                : static_cast<float>(value));
}

inline Kind promoted(Kind kind) { return kind < Kind::i32 ? Kind::i32 : kind; }
inline Kind common(Kind a, Kind b) { return std::max(promoted(a), promoted(b)); }

struct Record;

/// A scalar or vector, a record, or an array of these.
struct Type {
  Kind kind = Kind::i32;
  unsigned width = 1;
  std::shared_ptr<const Record> record = {};
  std::vector<unsigned> extents = {};

  [[nodiscard]] bool scalar() const { return width == 1 && !record && extents.empty(); }
  [[nodiscard]] bool vector() const { return width > 1 && extents.empty(); }
  [[nodiscard]] Type element() const {
    Type result = *this;
    result.extents.erase(result.extents.begin());
    return result;
  }
  [[nodiscard]] unsigned cells() const;
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string declare(const std::string& what) const {
    std::string result = name() + " " + what;
    for (const unsigned each : extents) result += "[" + std::to_string(each) + "]";
    return result;
  }
  friend bool operator==(const Type&, const Type&) = default;
};

struct Field {
  std::string name;
  Type type;
  unsigned offset = 0;
};

struct Record {
  std::string name;
  std::vector<Field> fields;
  unsigned cells = 0;
};

inline unsigned Type::cells() const {
  unsigned result = record ? record->cells : width;
  for (const unsigned each : extents) result *= each;
  return result;
}

inline std::string Type::name() const {
  if (record) return "struct " + record->name;
  return facts(kind).name + (width > 1 ? std::to_string(width) : "");
}

enum class Op : std::uint8_t {
  add,
  sub,
  mul,
  div,
  rem,
  shl,
  shr,
  band,
  bor,
  bxor,
  lt,
  le,
  gt,
  ge,
  eq,
  ne
};

struct OpFacts {
  const char* text;
  int level;
};
inline const OpFacts& facts(Op op) {
  static constexpr std::array<OpFacts, 16> all{{{"+", 12},
                                                {"-", 12},
                                                {"*", 13},
                                                {"/", 13},
                                                {"%", 13},
                                                {"<<", 11},
                                                {">>", 11},
                                                {"&", 8},
                                                {"|", 6},
                                                {"^", 7},
                                                {"<", 10},
                                                {"<=", 10},
                                                {">", 10},
                                                {">=", 10},
                                                {"==", 9},
                                                {"!=", 9}}};
  return all[static_cast<std::size_t>(op)];
}
inline bool compares(Op op) { return op >= Op::lt; }

template <class T>
inline Word apply_to(Op op, T x, T y) {
  switch (op) {
    case Op::lt: return x < y ? 1 : 0;
    case Op::le: return x <= y ? 1 : 0;
    case Op::gt: return x > y ? 1 : 0;
    case Op::ge: return x >= y ? 1 : 0;
    case Op::eq: return x == y ? 1 : 0;
    case Op::ne: return x != y ? 1 : 0;
    default: break;
  }
  if constexpr (std::is_same_v<T, float>) {
    return word(op == Op::add ? x + y : op == Op::sub ? x - y : x * y);
  } else {
    const auto a = static_cast<std::uint64_t>(x);
    const auto b = static_cast<std::uint64_t>(y);
    switch (op) {
      case Op::add: return static_cast<Word>(a + b);
      case Op::sub: return static_cast<Word>(a - b);
      case Op::mul: return static_cast<Word>(a * b);
      case Op::div: return static_cast<Word>(x / y);
      case Op::rem: return static_cast<Word>(x % y);
      case Op::shl: return static_cast<Word>(a << b);
      case Op::shr: return static_cast<Word>(x >> b);
      case Op::band: return static_cast<Word>(a & b);
      case Op::bor: return static_cast<Word>(a | b);
      default: return static_cast<Word>(a ^ b);
    }
  }
}

/// Both operands have that kind. So has the result, unless `op` is a comparison.
inline Word apply(Op op, Word x, Word y, Kind kind) {
  if (kind == Kind::f32) return apply_to(op, real(x), real(y));
  const Word result =
      kind == Kind::u64 ? apply_to(op, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y))
                        : apply_to(op, x, y);
  return compares(op) ? result : wrap(result, kind);
}

// ---- functions of OpenCL C, on integers of one kind

using Wide = __int128;

inline Wide wide(Word value, Kind kind) {
  return kind == Kind::u64 ? static_cast<Wide>(static_cast<std::uint64_t>(value))
                           : static_cast<Wide>(value);
}
inline Wide largest(Kind kind) {
  return (static_cast<Wide>(1) << (facts(kind).width - (facts(kind).is_signed ? 1 : 0))) - 1;
}
inline Wide smallest(Kind kind) { return facts(kind).is_signed ? -largest(kind) - 1 : 0; }
inline Word saturated(Wide value, Kind kind) {
  return static_cast<Word>(std::clamp(value, smallest(kind), largest(kind)));
}
inline Kind unsigned_of(Kind kind) {
  return facts(kind).is_signed ? static_cast<Kind>(static_cast<int>(kind) + 1) : kind;
}
inline std::uint64_t bits_of(Word value, Kind kind) {
  const unsigned width = facts(kind).width;
  const auto all = static_cast<std::uint64_t>(value);
  return width == 64 ? all : all & ((std::uint64_t{1} << width) - 1);
}

struct Builtin {
  const char* name;
  unsigned arguments;
  bool makes_unsigned;
  Word (*apply)(Word x, Word y, Word z, Kind kind);
};

constexpr std::array<Builtin, 15> builtins{{
    {"min", 2, false, [](Word x, Word y, Word, Kind k) { return wide(y, k) < wide(x, k) ? y : x; }},
    {"max", 2, false, [](Word x, Word y, Word, Kind k) { return wide(x, k) < wide(y, k) ? y : x; }},
    {"abs_diff", 2, true,
     [](Word x, Word y, Word, Kind k) {
       const Wide apart = wide(x, k) - wide(y, k);
       return wrap(static_cast<Word>(apart < 0 ? -apart : apart), unsigned_of(k));
     }},
    {"hadd", 2, false,
     [](Word x, Word y, Word, Kind k) {
       return static_cast<Word>((wide(x, k) + wide(y, k)) >> 1);
     }},
    {"rhadd", 2, false,
     [](Word x, Word y, Word, Kind k) {
       return static_cast<Word>((wide(x, k) + wide(y, k) + 1) >> 1);
     }},
    {"add_sat", 2, false,
     [](Word x, Word y, Word, Kind k) { return saturated(wide(x, k) + wide(y, k), k); }},
    {"sub_sat", 2, false,
     [](Word x, Word y, Word, Kind k) { return saturated(wide(x, k) - wide(y, k), k); }},
    {"rotate", 2, false,
     [](Word x, Word y, Word, Kind k) {
       const unsigned width = facts(k).width;
       const auto by = static_cast<unsigned>(bits_of(y, k) % width);
       const std::uint64_t bits = bits_of(x, k);
       return wrap(static_cast<Word>(by == 0 ? bits : bits << by | bits >> (width - by)), k);
     }},
    {"mul_hi", 2, false,
     [](Word x, Word y, Word, Kind k) {
       if (k == Kind::u64)
         return static_cast<Word>(static_cast<unsigned __int128>(static_cast<std::uint64_t>(x)) *
                                      static_cast<std::uint64_t>(y) >>
                                  64);
       return wrap(static_cast<Word>(wide(x, k) * wide(y, k) >> facts(k).width), k);
     }},
    {"abs", 1, true,
     [](Word x, Word, Word, Kind k) {
       const Wide value = wide(x, k);
       return wrap(static_cast<Word>(value < 0 ? -value : value), unsigned_of(k));
     }},
    {"popcount", 1, false,
     [](Word x, Word, Word, Kind k) { return static_cast<Word>(std::popcount(bits_of(x, k))); }},
    {"clz", 1, false,
     [](Word x, Word, Word, Kind k) {
       return static_cast<Word>(static_cast<unsigned>(std::countl_zero(bits_of(x, k))) - 64 +
                                facts(k).width);
     }},
    {"bitselect", 3, false, [](Word x, Word y, Word z, Kind) { return (x & ~z) | (y & z); }},
    {"select", 3, false, [](Word x, Word y, Word z, Kind) { return z != 0 ? y : x; }},
    {"clamp", 3, false,  // the bounds are in order
     [](Word x, Word low, Word high, Kind k) {
       return wide(x, k) < wide(low, k) ? low : wide(high, k) < wide(x, k) ? high : x;
     }},
}};

}  // namespace cohort::test::random
