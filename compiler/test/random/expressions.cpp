#include <cmath>
#include <cstdio>

#include "random/maker.hpp"

namespace cohort::test::random {

Expr Maker::literal(std::uint64_t value, Kind kind) {
  Expr e;
  e.kind = promoted(kind);
  e.text = std::to_string(value);
  if (!facts(e.kind).is_signed) e.text += "u";
  if (e.kind >= Kind::i64) e.text += "L";
  if (e.kind == Kind::i32 && value >= 'a' && value <= 'z' && chance(30))
    e.text = std::string{"'"} + static_cast<char>(value) + "'";
  else if (chance(10))
    e.text = [&] {
      char hexadecimal[32];
      std::snprintf(hexadecimal, sizeof hexadecimal, "0x%llx%s%s",
                    static_cast<unsigned long long>(value), facts(e.kind).is_signed ? "" : "u",
                    e.kind >= Kind::i64 ? "L" : "");
      return std::string{hexadecimal};
    }();
  e.bits = static_cast<unsigned>(std::bit_width(value));
  e.value = [word = static_cast<Word>(value)](Env&) { return cell(word); };
  e.literal = true;
  return e;
}

Expr Maker::binary(Op op, const Expr& a, const Expr& b) {
  const bool shifts = op == Op::shl || op == Op::shr;
  const Kind kind = shifts ? promoted(a.kind) : common(a.kind, b.kind);
  const int level = facts(op).level;
  Expr e;
  e.text = within(a, level) + " " + facts(op).text + " " + within(b, level + 1);
  e.level = level;
  if (chance(12)) {
    e.text = "(" + e.text + ")";
    e.level = primary;
  }
  e.kind = compares(op) ? Kind::i32 : kind;
  if (compares(op)) {
    e.bits = 1;
  } else if (!facts(kind).is_signed) {
    const bool masks = op == Op::band && (a.literal || b.literal);
    e.bits = masks ? (a.literal ? a.bits : b.bits) : facts(kind).bits;
  } else {
    switch (op) {
      case Op::mul: e.bits = a.bits + b.bits; break;
      case Op::div:
      case Op::shr: e.bits = a.bits; break;
      case Op::rem: e.bits = std::min(a.bits, b.bits); break;
      case Op::shl: e.bits = a.bits + 16; break;
      case Op::band:
        e.bits = a.literal ? a.bits : b.literal ? b.bits : std::max(a.bits, b.bits) + 1;
        break;
      default: e.bits = std::max(a.bits, b.bits) + 1;
    }
    e.bits = std::min(e.bits, facts(kind).bits);
  }
  e.value = [op, kind, x = a.value, y = b.value, from = a.kind, other = b.kind,
             to = shifts ? promoted(b.kind) : kind](Env& env) {
    const Word left = convert(x(env)[0], from, kind);
    return cell(apply(op, left, convert(y(env)[0], other, to), kind));
  };
  return e;
}

/// Returns an expression with |value| <= 2^bits: the same one or a changed one. A literal keeps its
/// value.
Expr Maker::shrunk(Expr e, unsigned bits) {
  if (e.bits <= bits || e.kind == Kind::f32) return e;
  if (chance(25) && bits >= 7) return cast(e, bits >= 15 && chance(70) ? Kind::i16 : Kind::i8);
  if (chance(30))
    return binary(Op::rem, e, literal(1 + below((1U << std::min(bits, 14U)) - 1), Kind::i32));
  Expr result = binary(Op::band, e, literal((1U << std::min(bits, 14U)) - 1, Kind::i32));
  // `%` of an unsigned value and `&` both keep the value small enough, for every kind.
  result.bits = std::min(bits, 14U);
  return result;
}

Expr Maker::cast(const Expr& e, Kind to) {
  Expr result;
  result.text = std::string{"("} + facts(to).name + ")" + within(e, prefix);
  result.level = prefix;
  result.kind = to;
  const bool fits = e.bits < facts(to).bits || (e.bits == facts(to).bits && e.kind == to);
  result.bits = fits && (facts(to).is_signed || !facts(e.kind).is_signed) ? e.bits : facts(to).bits;
  result.value = [value = e.value, from = e.kind, to](Env& env) {
    return cell(convert(value(env)[0], from, to));
  };
  return result;
}

Expr Maker::exactly(const Expr& e, Kind kind) {
  return e.kind == kind && chance(70) ? e : cast(e, kind);
}

Expr Maker::index_below(unsigned extent) {
  Expr e = leaf();
  if (e.kind == Kind::boolean) return extent > 1 ? e : literal(0, Kind::i32);
  if (std::has_single_bit(extent)) return binary(Op::band, e, literal(extent - 1, Kind::i32));
  if (facts(promoted(e.kind)).is_signed) e = cast(e, chance(50) ? Kind::u32 : Kind::u8);
  return binary(Op::rem, e, literal(extent, chance(50) ? Kind::u32 : Kind::i32));
}

/// An element of the table, through one of the pointers into it.
Expr Maker::table_element() {
  ++leaves_;
  const Var* var = choose(false, [](const Var& each) { return each.table; });
  Expr index = index_below(var == nullptr ? random_table : 8);
  --leaves_;
  Expr e;
  e.kind = Kind::u32;
  e.bits = 32;
  const int base = var == nullptr ? -1 : static_cast<int>(var->base);
  const std::string name = var == nullptr ? "table" : var->name;
  if (name.ends_with(".from") && chance(30)) {  // passes a structure as an argument
    e.text = "look(" + name.substr(0, name.size() - 5) + ")";
    index.value = [at = static_cast<unsigned>(base) + 1](Env& env) { return cell(env.memory[at]); };
  } else {
    e.text = name + "[" + index.text + "]";
    if (chance(15)) e.text = "peek(&" + e.text + ")";
  }
  e.value = [value = index.value, base](Env& env) {
    const Word from = base < 0 ? 0 : env.memory[static_cast<unsigned>(base)];
    static const std::vector<std::uint32_t> words = table_words();
    return cell(words[static_cast<std::size_t>(from + value(env)[0])]);
  };
  return e;
}

Expr Maker::leaf() {
  const std::uint32_t which = below(100);
  if (which < 60) {
    const Var* var = choose(false, [&](const Var& each) {
      return !each.table && (each.type.record || each.type.kind != Kind::f32) &&
             (each.type.extents.empty() || leaves_ == 0);
    });
    if (var != nullptr) {
      ++leaves_;
      Place place = part_of(*var, true);
      --leaves_;
      if (place.type.kind == Kind::u32 && !var->constant && var->type.scalar() && chance(4)) {
        Expr e = read(place);  // reads through a generic pointer
        e.text = "peek(" + (var->pointer ? var->name : "&" + var->name) + ")";
        e.level = primary;
        return e;
      }
      if (place.type.kind != Kind::f32) return read(place);
    }
  }
  if (which < 68 && here_.memory && leaves_ == 0) return table_element();
  if (which < 76 && !constants_.empty() && leaves_ == 0) {
    ++leaves_;
    const auto& [name, words] = pick(constants_);
    const Expr index = index_below(static_cast<unsigned>(words.size()));
    --leaves_;
    Expr e;
    e.text = name + "[" + index.text + "]";
    e.kind = Kind::i16;
    e.bits = 15;
    e.value = [value = index.value, words = words](Env& env) {
      return cell(words[static_cast<std::size_t>(value(env)[0])]);
    };
    return e;
  }
  if (which < 80 && calls_ < 2) {
    std::vector<std::shared_ptr<Function>> fit;
    for (const auto& each : functions_) {
      if (!each->result.record && callable(*each)) fit.push_back(each);
    }
    if (!fit.empty()) {
      ++calls_;
      Expr e = call(*pick(fit), 0);
      --calls_;
      return e;
    }
  }
  if (!numbers_in_program_.empty() && chance(20)) return pick(numbers_in_program_);
  switch (below(8)) {
    case 0: return literal(random_() >> (1 + below(40)), Kind::u64);
    case 1: return literal(random_() >> (33 + below(28)), Kind::u32);
    case 2: return literal(random_() >> (34 + below(28)), chance(30) ? Kind::i64 : Kind::i32);
    case 3: {
      Expr e;
      const unsigned width = pick({1U, 2U, 4U});
      const Kind kind = integer_kind();
      e.text = "sizeof(" + Type{kind, width}.name() + ")";
      e.kind = Kind::u64;
      e.bits = 7;
      e.value = [size = static_cast<Word>(facts(kind).width / 8 * width)](Env&) {
        return cell(size);
      };
      return e;
    }
    default: return literal(below(120), Kind::i32);
  }
}

Expr Maker::arithmetic(int depth) {
  const Op op = static_cast<Op>(below(10));
  Expr a = integer(depth - 1);
  Expr b = integer(depth - 1);
  if (op == Op::shl || op == Op::shr) {
    const unsigned width = facts(promoted(a.kind)).width;
    const bool plain = op == Op::shr || !facts(promoted(a.kind)).is_signed;
    if (!plain) {
      a = binary(Op::band, a, literal(1023, Kind::i32));
      if (facts(a.kind).is_signed) a.bits = 10;
    }
    b = chance(50) ? literal(below(plain ? width : 8), Kind::i32)
                   : binary(Op::band, b, literal(7, Kind::i32));
    return binary(op, a, b);
  }
  if (op == Op::div || op == Op::rem) {
    if (chance(40)) {
      b = literal(1 + below(50), Kind::i32);
    } else if (!facts(common(a.kind, b.kind)).is_signed && chance(50)) {
      b = binary(Op::bor, b, literal(1, Kind::i32));
    } else {
      b = binary(Op::add, binary(Op::band, b, literal(15, Kind::i32)), literal(1, Kind::i32));
    }
    return binary(op, a, b);
  }
  const Kind kind = common(a.kind, b.kind);
  if (facts(kind).is_signed && (op == Op::add || op == Op::sub || op == Op::mul)) {
    const unsigned limit = facts(kind).width - 2;
    const unsigned each = op == Op::mul ? limit / 2 : limit - 1;
    a = shrunk(std::move(a), each);
    b = shrunk(std::move(b), each);
  }
  return binary(op, a, b);
}

Expr Maker::condition(int depth) {
  if (depth > 0 && chance(30)) {
    const Expr a = condition(depth - 1);
    const Expr b = condition(depth - 1);
    const bool both = chance(50);
    const int level = both ? 5 : 4;
    Expr e;
    e.text = within(a, level) + (both ? " && " : " || ") + within(b, level + 1);
    e.level = level;
    e.bits = 1;
    e.value = [both, x = a.value, y = b.value](Env& env) {
      const bool first = x(env)[0] != 0;
      if (first != both) return cell(first ? 1 : 0);
      return cell(y(env)[0] != 0 ? 1 : 0);
    };
    return e;
  }
  if (chance(10)) {
    const Expr a = real_number(1);
    const Expr b = real_number(1);
    return binary(static_cast<Op>(static_cast<int>(Op::lt) + static_cast<int>(below(6))), a, b);
  }
  if (depth > 0 && chance(12)) {
    const Expr a = integer(depth - 1);
    Expr e;
    e.text = "!" + within(a, prefix);
    e.level = prefix;
    e.bits = 1;
    e.value = [x = a.value](Env& env) { return cell(x(env)[0] == 0 ? 1 : 0); };
    return e;
  }
  if (chance(10)) return integer(depth);
  return binary(static_cast<Op>(static_cast<int>(Op::lt) + static_cast<int>(below(6))),
                integer(depth - 1), integer(depth - 1));
}

Expr Maker::builtin(int depth) {
  const Builtin& which = builtins[below(builtins.size())];
  const Kind kind = integer_kind();
  std::vector<Expr> given;
  for (unsigned i = 0; i < which.arguments; ++i) given.push_back(exactly(integer(depth - 1), kind));
  if (std::string{which.name} == "clamp") {
    given[1] = cast(literal(below(60), Kind::i32), kind);
    given[2] = cast(literal(60 + below(60), Kind::i32), kind);
  }
  Expr e;
  for (const Expr& each : given) e.text += (e.text.empty() ? "" : ", ") + each.text;
  e.text = std::string{which.name} + "(" + e.text + ")";
  e.kind = which.makes_unsigned ? unsigned_of(kind) : kind;
  e.bits = facts(e.kind).bits;
  e.value = [run = which.apply, kind, x = given[0].value, y = given[given.size() > 1 ? 1 : 0].value,
             z = given[given.size() > 2 ? 2 : 0].value](Env& env) {
    const Word first = x(env)[0];
    const Word second = y(env)[0];
    return cell(run(first, second, z(env)[0], kind));
  };
  return e;
}

Expr Maker::conversion(int depth) {
  const Expr from = integer(depth - 1);
  const Kind to = integer_kind();
  if (chance(60)) return cast(from, to);
  const bool saturates = chance(50) && from.kind != Kind::boolean;
  Expr e;
  e.text = std::string{"convert_"} + facts(to).name + (saturates ? "_sat(" : "(") + from.text + ")";
  e.kind = to;
  e.bits = facts(to).bits;
  e.value = [saturates, value = from.value, kind = from.kind, to](Env& env) {
    const Word word = value(env)[0];
    return cell(saturates ? saturated(wide(word, kind), to) : convert(word, kind, to));
  };
  return e;
}

Expr Maker::integer(int depth) {
  if (depth <= 0) return leaf();
  const std::uint32_t which = below(100);
  if (which < 45) return arithmetic(depth);
  if (which < 55) return condition(depth - 1);
  if (which < 62) return builtin(depth);
  if (which < 70) return conversion(depth);
  if (which < 76) return component(depth);
  if (which < 84) {
    const Expr test = condition(depth - 1);
    const Expr a = integer(depth - 1);
    const Expr b = integer(depth - 1);
    Expr e;
    e.text = within(test, 4) + " ? " + within(a, 3) + " : " + within(b, 3);
    e.level = 3;
    e.kind = common(a.kind, b.kind);
    e.bits = facts(e.kind).is_signed ? std::max(a.bits, b.bits) : facts(e.kind).bits;
    e.value = [test = test.value, x = a.value, y = b.value, xs = a.kind, ys = b.kind,
               to = e.kind](Env& env) {
      return cell(test(env)[0] != 0 ? convert(x(env)[0], xs, to) : convert(y(env)[0], ys, to));
    };
    return e;
  }
  if (which < 91) {
    const bool negates = chance(50);
    Expr a = integer(depth - 1);
    if (negates && facts(promoted(a.kind)).is_signed)
      a = shrunk(std::move(a), facts(promoted(a.kind)).width - 2);
    Expr e;
    const std::string inner = within(a, prefix);
    e.text = (negates ? "-" : "~") + (negates && inner[0] == '-' ? " " + inner : inner);
    e.level = prefix;
    e.kind = promoted(a.kind);
    e.bits =
        facts(e.kind).is_signed ? std::min(a.bits + 1, facts(e.kind).bits) : facts(e.kind).bits;
    e.value = [negates, value = a.value, from = a.kind, to = e.kind](Env& env) {
      const Word x = convert(value(env)[0], from, to);
      return cell(negates ? apply(Op::sub, 0, x, to) : wrap(~x, to));
    };
    return e;
  }
  if (which < 94) {  // a float literal: a small multiple of 1/4
    const Expr a = real_number(1);
    Expr e = cast(a, chance(70) ? Kind::i32 : Kind::i64);
    e.bits = 10;
    return e;
  }
  return which < 97 ? reinterpreted(depth) : leaf();
}

/// The bits of a value of another type.
Expr Maker::reinterpreted(int depth) {
  Expr e;
  e.kind = Kind::u32;
  e.bits = 32;
  switch (below(4)) {
    case 0: {
      const Expr a = real_number(1);
      e.text = "as_uint(" + within(a, 12) + " + 0.0f)";  // -0.0 becomes 0.0
      e.value = [value = a.value](Env& env) { return cell(word(real(value(env)[0]) + 0.0F)); };
      return e;
    }
    case 1: {
      const Expr a = vector({Kind::u8, 4}, 1);
      e.text = "as_uint(" + a.text + ")";
      e.value = [value = a.value](Env& env) {
        const Cells parts = value(env);
        return cell(parts[0] | parts[1] << 8U | parts[2] << 16U | parts[3] << 24U);
      };
      return e;
    }
    case 2: {
      const Expr a = exactly(integer(depth - 1), Kind::u32);
      const unsigned i = below(2);
      e.text = "as_short2(" + a.text + ").s" + std::to_string(i);
      e.kind = Kind::i16;
      e.bits = 15;
      e.value = [value = a.value, i](Env& env) {
        return cell(static_cast<std::int16_t>(value(env)[0] >> (16 * i)));
      };
      return e;
    }
    default: {
      const Expr high = exactly(leaf(), Kind::u16);
      const Expr low = exactly(leaf(), Kind::u16);
      e.text = "upsample(" + high.text + ", " + low.text + ")";
      e.value = [x = high.value, y = low.value](Env& env) {
        const Word first = x(env)[0];
        return cell(first << 16U | y(env)[0]);
      };
      return e;
    }
  }
}

/// A call of a function whose result is also a multiple of 1/4.
Expr Maker::real_function(int depth) {
  const Expr a = real_number(depth - 1);
  Expr e;
  e.kind = Kind::f32;
  e.bits = 8;
  struct One {
    const char* name;
    float (*apply)(float);
  };
  struct Two {
    const char* name;
    float (*apply)(float, float);
  };
  if (chance(50)) {
    const One one = pick({One{"fabs", [](float x) { return std::fabs(x); }},
                          One{"floor", [](float x) { return std::floor(x); }},
                          One{"ceil", [](float x) { return std::ceil(x); }},
                          One{"trunc", [](float x) { return std::trunc(x); }},
                          One{"rint", [](float x) { return std::nearbyint(x); }},
                          One{"round", [](float x) { return std::round(x); }}});
    e.text = std::string{one.name} + "(" + a.text + ")";
    e.value = [apply = one.apply, x = a.value](Env& env) {
      return cell(word(apply(real(x(env)[0]))));
    };
    return e;
  }
  const Expr b = real_number(depth - 1);
  const Two two = pick({Two{"fmin", [](float x, float y) { return std::fmin(x, y); }},
                        Two{"fmax", [](float x, float y) { return std::fmax(x, y); }},
                        Two{"fdim", [](float x, float y) { return std::fdim(x, y); }},
                        Two{"narrow_sum", [](float x, float y) { return x + y; }}});
  e.text = std::string{two.name} + "(" + a.text + ", " + b.text + ")";
  e.value = [apply = two.apply, x = a.value, y = b.value](Env& env) {
    const float first = real(x(env)[0]);
    return cell(word(apply(first, real(y(env)[0]))));
  };
  return e;
}

/// A multiple of 1/4 between -256 and 256.
Expr Maker::real_number(int depth) {
  if (depth > 0 && chance(25)) return real_function(depth);
  if (depth > 0 && chance(50)) {
    const Op op = chance(50) ? Op::add : Op::sub;
    return binary(op, real_number(depth - 1), real_number(depth - 1));
  }
  if (const Var* var = chance(50) ? choose(false,
                                           [](const Var& each) {
                                             return each.type.scalar() && !each.table &&
                                                    each.type.kind == Kind::f32;
                                           })
                                  : nullptr;
      var != nullptr)
    return read(part_of(*var, true));
  if (chance(50)) {
    Expr small = shrunk(integer(1), 5);
    if (small.kind == Kind::f32) small = literal(3, Kind::i32);
    return cast(binary(Op::band, small, literal(31, Kind::i32)), Kind::f32);
  }
  Expr e;
  const unsigned quarters = below(100);
  char text[16];
  std::snprintf(text, sizeof text, "%u.%02uf", quarters / 4, quarters % 4 * 25);
  e.text = text;
  e.kind = Kind::f32;
  e.bits = 8;
  e.value = [value = word(static_cast<float>(quarters) * 0.25F)](Env&) { return cell(value); };
  return e;
}

/// A component of an unnamed vector.
Expr Maker::component(int depth) {
  const Type type = vector_type();
  const Expr v = vector(type, std::min(depth - 1, 1));
  const unsigned i = below(std::min(type.width, 4U));
  Expr e;
  if (chance(20) && type.width != 3) {
    const bool signs = facts(type.kind).is_signed && type.kind != Kind::f32;
    if (signs) {  // any() tests the sign bits
      e.text = "any(" + v.text + ")";
      e.kind = Kind::i32;
      e.bits = 1;
      e.value = [value = v.value, width = type.width](Env& env) {
        const Cells cells = value(env);
        return cell(
            std::any_of(cells.begin(), cells.begin() + width, [](Word each) { return each < 0; })
                ? 1
                : 0);
      };
      return e;
    }
  }
  e.text = within(v, primary) + "." + "xyzw"[i];
  e.kind = type.kind;
  e.bits = facts(e.kind).bits;
  e.value = [value = v.value, i](Env& env) { return cell(value(env)[i]); };
  return type.kind == Kind::f32 ? cast(e, Kind::i32) : e;
}

/// A vector of multiples of 1/4 between -64 and 64.
Expr Maker::real_vector(const Type& type, int depth) {
  const unsigned width = type.width;
  const std::string name = type.name();
  Expr e;
  e.kind = Kind::f32;
  e.width = width;
  e.bits = 8;
  switch (depth > 0 ? below(6) : below(3)) {
    case 0: {
      const Var* var = choose(false, [&](const Var& each) { return each.type == type; });
      if (var != nullptr) return read(whole(*var));
      [[fallthrough]];
    }
    case 1:
    case 2: {
      std::vector<Value> values;
      for (unsigned i = 0; i < width; ++i) {
        const Expr part = of_type({Kind::f32}, 0);
        e.text += (i == 0 ? "" : ", ") + part.text;
        values.push_back(part.value);
      }
      e.text = "(" + name + ")(" + e.text + ")";
      e.level = prefix;
      e.value = [values](Env& env) {
        Cells result{};
        for (std::size_t i = 0; i < values.size(); ++i) result[i] = values[i](env)[0];
        return result;
      };
      return e;
    }
    case 3: {
      const Expr from = vector({Kind::u8, width}, depth - 1);
      e.text = "clamp(convert_" + name + "(" + from.text + "), -64.0f, 64.0f)";
      e.value = [x = from.value, width](Env& env) {
        Cells result = x(env);
        for (unsigned i = 0; i < width; ++i)
          result[i] = word(std::min(static_cast<float>(result[i]), 64.0F));
        return result;
      };
      return e;
    }
    default: {
      const bool adds = chance(50);
      const Expr a = real_vector(type, depth - 1);
      const Expr b = real_vector(type, depth - 1);
      e.text =
          "clamp(" + within(a, 12) + (adds ? " + " : " - ") + within(b, 13) + ", -64.0f, 64.0f)";
      e.value = [x = a.value, y = b.value, adds, width](Env& env) {
        const Cells left = x(env);
        const Cells right = y(env);
        Cells result{};
        for (unsigned i = 0; i < width; ++i) {
          const float other = adds ? real(right[i]) : -real(right[i]);
          result[i] = word(std::clamp(real(left[i]) + other, -64.0F, 64.0F));
        }
        return result;
      };
      return e;
    }
  }
}

Expr Maker::vector(Type type, int depth) {
  if (type.kind == Kind::f32) return real_vector(type, depth);
  Expr e;
  e.kind = type.kind;
  e.width = type.width;
  e.bits = facts(type.kind).bits;
  const unsigned width = type.width;
  const Kind kind = type.kind;
  const bool wraps = !facts(kind).is_signed;
  if (here_.memory && kind == Kind::u32 && chance(12)) {
    const unsigned at = below(random_table / width);
    e.text = "vload" + std::to_string(width) + "(" + std::to_string(at) + ", table)";
    e.value = [first = at * width, width](Env&) {
      Cells result{};
      for (unsigned i = 0; i < width; ++i) result[i] = table_words()[first + i];
      return result;
    };
    return e;
  }
  if (depth > 0 && width != 3 && facts(kind).width == 32 && chance(12)) {
    const Expr from = vector(type, depth - 1);
    const Expr order = vector({Kind::u32, width}, depth - 1);
    e.text = "shuffle(" + from.text + ", " + order.text + ")";
    e.value = [x = from.value, y = order.value, width](Env& env) {
      const Cells values = x(env);
      const Cells places = y(env);
      Cells result{};
      for (unsigned i = 0; i < width; ++i)
        result[i] = values[static_cast<std::size_t>(places[i]) % width];
      return result;
    };
    return e;
  }
  if (depth > 0 && kind == Kind::i32 && chance(12)) {
    const Expr from = real_vector({Kind::f32, width}, depth - 1);
    struct Way {
      const char* suffix;
      float (*round)(float);
    };
    const Way way = pick({Way{"", [](float x) { return std::trunc(x); }},
                          Way{"_rte", [](float x) { return std::nearbyint(x); }},
                          Way{"_rtp", [](float x) { return std::ceil(x); }},
                          Way{"_rtn", [](float x) { return std::floor(x); }}});
    e.text = "convert_" + type.name() + way.suffix + "(" + from.text + ")";
    e.value = [x = from.value, round = way.round, width](Env& env) {
      Cells result = x(env);
      for (unsigned i = 0; i < width; ++i) result[i] = static_cast<Word>(round(real(result[i])));
      return result;
    };
    return e;
  }
  switch (depth > 0 ? below(10) : below(4)) {
    case 0:
    case 1: {
      const Var* var =
          choose(false, [&](const Var& each) { return each.type == type && !each.table; });
      if (var != nullptr) {
        Expr found = read(whole(*var));
        if (chance(40)) {  // a swizzle
          std::array<unsigned, 8> order{};
          std::string letters;
          for (unsigned i = 0; i < width; ++i) {
            order[i] = below(width);
            letters += width <= 4 ? "xyzw"[order[i]] : "01234567"[order[i]];
          }
          found.text = within(found, primary) + (width <= 4 ? "." : ".s") + letters;
          found.level = primary;
          found.value = [value = found.value, order, width](Env& env) {
            const Cells from = value(env);
            Cells result{};
            for (unsigned i = 0; i < width; ++i) result[i] = from[order[i]];
            return result;
          };
        }
        return found;
      }
      [[fallthrough]];
    }
    case 2: {
      std::vector<Value> values;
      std::vector<Kind> kinds;
      for (unsigned i = 0; i < width; ++i) {
        const Expr part = depth > 0 && chance(30) ? integer(1) : leaf();
        e.text += (i == 0 ? "" : ", ") + part.text;
        values.push_back(part.value);
        kinds.push_back(part.kind);
      }
      e.text = "(" + type.name() + ")(" + e.text + ")";
      e.level = prefix;
      e.value = [values, kinds, kind](Env& env) {
        Cells result{};
        for (std::size_t i = 0; i < values.size(); ++i)
          result[i] = convert(values[i](env)[0], kinds[i], kind);
        return result;
      };
      return e;
    }
    case 3: {
      const Expr part = leaf();
      e.text = "(" + type.name() + ")(" + part.text + ")";
      e.level = prefix;
      e.value = [value = part.value, from = part.kind, kind, width](Env& env) {
        Cells result{};
        const Word word = convert(value(env)[0], from, kind);
        std::fill_n(result.begin(), width, word);
        return result;
      };
      return e;
    }
    case 4: {  // a choice that depends on a comparison
      const Expr a = vector(type, depth - 1);
      const Expr b = vector(type, depth - 1);
      const Op op = static_cast<Op>(static_cast<int>(Op::lt) + static_cast<int>(below(6)));
      const int level = facts(op).level;
      e.text = within(a, level) + " " + facts(op).text + " " + within(b, level + 1) + " ? " +
               within(a, 3) + " : " + within(b, 3);
      e.level = 3;
      e.value = [x = a.value, y = b.value, op, kind, width](Env& env) {
        const Cells left = x(env);
        const Cells right = y(env);
        Cells result{};
        for (unsigned i = 0; i < width; ++i)
          result[i] = apply(op, left[i], right[i], kind) != 0 ? left[i] : right[i];
        return result;
      };
      return e;
    }
    case 5: {
      const Expr a = vector(type, depth - 1);
      const Expr b = vector(type, depth - 1);
      const Builtin& which = builtins[below(9)];
      if (which.makes_unsigned) return a;
      e.text = std::string{which.name} + "(" + a.text + ", " + b.text + ")";
      e.value = [run = which.apply, x = a.value, y = b.value, kind, width](Env& env) {
        const Cells left = x(env);
        const Cells right = y(env);
        Cells result{};
        for (unsigned i = 0; i < width; ++i) result[i] = run(left[i], right[i], 0, kind);
        return result;
      };
      return e;
    }
    case 6: {
      Type from = type;
      from.kind = pick({Kind::u8, Kind::u32, Kind::i32, Kind::i16});
      const Expr a = vector(from, depth - 1);
      e.text = "convert_" + type.name() + "(" + a.text + ")";
      e.value = [x = a.value, from = from.kind, kind, width](Env& env) {
        Cells result = x(env);
        for (unsigned i = 0; i < width; ++i) result[i] = convert(result[i], from, kind);
        return result;
      };
      return e;
    }
    default: {
      const Op op = wraps ? pick({Op::add, Op::sub, Op::mul, Op::bxor, Op::bor, Op::band})
                          : pick({Op::bxor, Op::bor, Op::band});
      const Expr a = vector(type, depth - 1);
      const Expr b = vector(type, depth - 1);
      const int level = facts(op).level;
      e.text = within(a, level) + " " + facts(op).text + " " + within(b, level + 1);
      e.level = level;
      e.value = [x = a.value, y = b.value, op, kind, width](Env& env) {
        const Cells left = x(env);
        const Cells right = y(env);
        Cells result{};
        for (unsigned i = 0; i < width; ++i) result[i] = apply(op, left[i], right[i], kind);
        return result;
      };
      return e;
    }
  }
}

Expr Maker::of_type(const Type& type, int depth) {
  if (type.vector()) return vector(type, depth);
  if (type.kind != Kind::f32) return integer(depth);
  const Expr sum = real_number(depth > 0 ? 1 : 0);
  if (sum.level == primary) return sum;
  Expr e = sum;  // small enough to be added up in a loop
  e.text = "clamp(" + sum.text + ", -64.0f, 64.0f)";
  e.level = primary;
  e.value = [value = sum.value](Env& env) {
    return cell(word(std::clamp(real(value(env)[0]), -64.0F, 64.0F)));
  };
  return e;
}

}  // namespace cohort::test::random
