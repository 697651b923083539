// Built-in functions compared with the host's libm in wider arithmetic. Inputs are ordinary values
// and edge cases: zeroes, infinities, NaNs, the smallest and largest numbers. A result may have the
// error that the OpenCL specification allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "on_engine.hpp"

namespace cohort::test {
namespace {

using Wide = long double;

// The same functions on the host.
namespace host {

using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::cbrt, std::ceil,
    std::cos, std::cosh, std::erf, std::erfc, std::exp, std::exp2, std::expm1, std::fabs,
    std::floor, std::log, std::log10, std::log1p, std::log2, std::logb, std::rint, std::round,
    std::sin, std::sinh, std::sqrt, std::tan, std::tanh, std::tgamma, std::trunc, std::atan2,
    std::copysign, std::fdim, std::fmax, std::fmin, std::fmod, std::hypot, std::pow, std::remainder,
    std::ldexp;

constexpr Wide pi = 3.14159265358979323846264338327950288L;
constexpr Wide infinity = std::numeric_limits<Wide>::infinity();
constexpr Wide not_a_number = std::numeric_limits<Wide>::quiet_NaN();

Wide acospi(Wide x) { return std::acos(x) / pi; }
Wide asinpi(Wide x) { return std::asin(x) / pi; }
Wide atanpi(Wide x) { return std::atan(x) / pi; }
Wide atan2pi(Wide y, Wide x) { return std::atan2(y, x) / pi; }
Wide exp10(Wide x) { return ::exp10l(x); }
Wide rsqrt(Wide x) { return 1 / std::sqrt(x); }
Wide cosine(Wide x) { return std::cos(x); }
Wide sinpi(Wide x) {
  if (std::isinf(x)) return not_a_number;
  if (x == std::rint(x)) return std::copysign(0.0L, x);
  const Wide r = std::remainder(x, 2.0L);
  const Wide a = std::fabs(r);
  const Wide size = a < 0.25L   ? std::sin(pi * a)
                    : a < 0.75L ? std::cos(pi * (0.5L - a))
                                : std::sin(pi * (1 - a));
  return std::copysign(size, r);
}
Wide cospi(Wide x) {
  if (std::isinf(x)) return not_a_number;
  const Wide r = std::fabs(std::remainder(x, 2.0L));
  return r == 0.5L   ? 0.0L
         : r < 0.25L ? std::cos(pi * r)
         : r < 0.75L ? std::sin(pi * (0.5L - r))
                     : -std::cos(pi * (1 - r));
}
Wide tanpi(Wide x) {
  if (std::isinf(x)) return not_a_number;
  const bool odd = std::fabs(std::fmod(std::floor(x), 2.0L)) == 1;
  const Wide r = std::remainder(x, 1.0L);
  if (r == 0) return std::copysign(0.0L, odd ? -x : x);
  if (std::fabs(r) == 0.5L) return std::copysign(infinity, odd ? -std::floor(x) : std::floor(x));
  return std::fabs(r) < 0.25L ? std::tan(pi * r)
                              : std::copysign(1 / std::tan(pi * (0.5L - std::fabs(r))), r);
}
template <class T>
Wide fraction(T x) {
  if (std::isinf(x)) return std::copysign(0.0L, static_cast<Wide>(x));
  const T part = x - std::floor(x);
  return part >= 1 ? 1 - std::numeric_limits<T>::epsilon() / 2 : x == 0 ? x : part;
}
Wide whole(Wide x) { return std::floor(x); }
Wide significand(Wide x) {
  int exponent = 0;
  return std::frexp(x, &exponent);
}
Wide remaining(Wide x) {
  Wide part = 0;
  return std::modf(x, &part);
}
Wide remquo_rest(Wide x, Wide y) { return std::remainder(x, y); }
Wide remquo_bits(Wide x, Wide y) {
  if (std::isnan(std::remainder(x, y)) || std::isinf(y)) return 0;
  const Wide part =
      std::remainder(std::fmod(x, 1024 * y), y);  // changes the quotient by a multiple of 1024
  const Wide quotient = (std::fmod(x, 1024 * y) - part) / y;
  return std::fmod(std::rint(quotient), 128.0L) + 0.0L;  // + 0.0L turns -0 into 0
}
Wide maxmag(Wide x, Wide y) {
  return std::fabs(x) > std::fabs(y) ? x : std::fabs(y) > std::fabs(x) ? y : std::fmax(x, y);
}
Wide minmag(Wide x, Wide y) {
  return std::fabs(x) < std::fabs(y) ? x : std::fabs(y) < std::fabs(x) ? y : std::fmin(x, y);
}
template <class T>
Wide nextafter(T x, T y) {
  return std::nextafter(x, y);
}
Wide powr(Wide x, Wide y) {
  if (x < 0 || std::isnan(x) || std::isnan(y) || (x == 0 && y == 0) || (std::isinf(x) && y == 0) ||
      (x == 1 && std::isinf(y)))
    return not_a_number;
  return std::pow(std::fabs(x), y);
}
Wide pown(Wide x, int y) { return std::pow(x, static_cast<Wide>(y)); }
Wide rootn(Wide x, int n) {
  if (n == 0 || (x < 0 && n % 2 == 0)) return not_a_number;
  const Wide root = std::pow(std::fabs(x), 1 / static_cast<Wide>(n));
  return n % 2 == 0 ? root : std::copysign(root, x);
}
template <class T>
bool isnormal(T x) {
  return std::isnormal(x);
}
template <class T>
bool isequal(T x, T y) {
  return x == y;
}
template <class T>
bool isnotequal(T x, T y) {
  return x != y;
}
template <class T>
bool isordered(T x, T y) {
  return !std::isunordered(x, y);
}
using std::isfinite, std::isgreater, std::isgreaterequal, std::isinf, std::isless, std::islessequal,
    std::islessgreater, std::isnan, std::isunordered, std::signbit;

}  // namespace host

template <class T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result{0,
                        T(0.5),
                        1,
                        T(1.5),
                        2,
                        T(2.5),
                        3,
                        T(0.1),
                        T(0.7),
                        T(3.7),
                        T(10.25),
                        T(33.3),
                        T(87.9),
                        T(170.6),
                        T(1e-3),
                        T(1e-10),
                        T(1e10),
                        T(1e30),
                        T(16777217),
                        T(host::pi / 2),
                        T(host::pi),
                        Limits::epsilon(),
                        1 + Limits::epsilon(),
                        1 - Limits::epsilon() / 2,
                        Limits::denorm_min(),
                        Limits::min(),
                        Limits::max(),
                        Limits::infinity()};
  const std::size_t count = result.size();
  for (std::size_t i = 0; i < count; ++i) result.push_back(-result[i]);
  result.push_back(Limits::quiet_NaN());
  return result;
}

/// The distance of two values in ulp of T; 0 for two NaNs.
template <class T>
Wide distance(T got, Wide exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : host::infinity;
  if (std::isnan(got)) return host::infinity;
  const T rounded = static_cast<T>(exact);
  if (got == rounded)
    return exact == 0 && std::signbit(got) != std::signbit(exact) ? host::infinity : 0;
  if (std::isinf(got) || std::isinf(exact)) {
    const Wide limit = std::numeric_limits<T>::max();
    const Wide finite = std::isinf(got) ? exact : static_cast<Wide>(got);
    if (std::isinf(got) && std::isinf(exact)) return host::infinity;
    return (limit - std::fabs(finite)) /
           (limit - static_cast<Wide>(std::nextafter(std::numeric_limits<T>::max(), T{0})));
  }
  const T size = std::max(std::fabs(rounded), std::numeric_limits<T>::min());
  const Wide ulp = static_cast<Wide>(std::nextafter(size, std::numeric_limits<T>::infinity())) -
                   static_cast<Wide>(size);
  return std::fabs(static_cast<Wide>(got) - exact) / ulp;
}

Program program(const char* real, const char* vector, const char* truth) {
  return Program::from_file(
      std::filesystem::path{COHORT_TEST_PROGRAMS} / "functions.cl",
      {.engine = engine_name,
       .defines = {std::string{"REAL="} + real, std::string{"REAL4="} + vector,
                   std::string{"TRUTH4="} + truth},
       .optimise = "-O1"});
}

template <class T>
const Program& functions() {
  static const Program its =
      sizeof(T) == 4 ? program("float", "float4", "int4") : program("double", "double4", "long4");
  return its;
}

/// Runs a kernel on one work-item for each input.
void run(ProgramKernel kernel, std::size_t count) {
  kernel.set("n", static_cast<std::uint32_t>(count));
  kernel.set_range({.global = {static_cast<std::uint32_t>(count), 1, 1}});
  ASSERT_EQ(kernel.launch(engine(), {.max_groups = 2}).wait().status, Status::finished);
}

template <class T>
struct Inputs {
  Shared<T> x;
  Shared<T> y;
  Shared<int> k;

  Inputs() {
    const std::vector<int> whole{0,    1,     -1,       2,         -2,         3,
                                 -3,   5,     24,       -25,       127,        -150,
                                 1000, -1001, 16777217, -16777216, 2147483647, -2147483647 - 1};
    std::mt19937 random{7};
    const auto add = [&](T a, T b) {
      x.push_back(a);
      y.push_back(b);
      k.push_back(whole[random() % whole.size()]);
    };
    for (const T a : edges<T>()) {
      for (const T b : edges<T>()) add(a, b);
    }
    for (int i = 0; i < 2000; ++i) {
      const auto any = [&] {
        return std::ldexp(static_cast<T>(random()) / T(4294967296.0) - T(0.5),
                          static_cast<int>(random() % 40) - 20);
      };
      add(any(), any());
    }
  }
};

template <class T>
class Functions : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Functions, Reals);

TYPED_TEST(Functions, AreAsAccurateAsTheSpecificationDemands) {
  using T = TypeParam;
  const Inputs<T> in;
  const std::size_t n = in.x.size();
  std::size_t count = 0;
#define ONE(name, ulp, ulp64) ++count;
#define TWO(name, ulp, ulp64) ++count;
#define WITH_INT(name, ulp, ulp64) ++count;
#define RELATION(name) ++count;
#define RELATION_TWO(name) ++count;
#include "functions.def"
  Shared<T> out(n * count);
  ProgramKernel kernel = functions<T>().kernel("all_floats");
  kernel.set("x", in.x.data()).set("y", in.y.data()).set("k", in.k.data()).set("out", out.data());
  run(kernel, n);
  const T* at = out.data();
  const auto compare = [&](const char* name, const auto& exact, int ulp) {
    for (std::size_t i = 0; i < n; ++i) {
      const Wide wanted = exact(i);
      if (distance(at[i], wanted) <= ulp) continue;
      ADD_FAILURE() << distance(at[i], wanted) << " ulp: " << name << " of " << in.x[i] << ", "
                    << in.y[i] << ", " << in.k[i] << " is " << at[i] << ", and should be "
                    << wanted;
      break;
    }
    at += n;
  };
  const int wide = sizeof(T) == 8 ? 1 : 0;
#define COMPARE(name, ulp, ulp64, ...) \
  compare(                             \
      #name, [&](std::size_t i) -> Wide { return host::name(__VA_ARGS__); }, wide ? ulp64 : ulp);
#define ONE(name, ulp, ulp64) COMPARE(name, ulp, ulp64, Wide{in.x[i]})
#define TWO(name, ulp, ulp64) COMPARE(name, ulp, ulp64, Wide{in.x[i]}, Wide{in.y[i]})
#define SAME_ONE(name, ulp, ulp64) COMPARE(name, ulp, ulp64, in.x[i])
#define SAME_TWO(name, ulp, ulp64) COMPARE(name, ulp, ulp64, in.x[i], in.y[i])
#define ANY_ZERO_TWO(name, ulp, ulp64)                                             \
  compare(                                                                         \
      #name,                                                                       \
      [&](std::size_t i) {                                                         \
        const Wide exact = host::name(Wide{in.x[i]}, Wide{in.y[i]});               \
        return exact == 0 ? std::copysign(0.0L, static_cast<Wide>(at[i])) : exact; \
      },                                                                           \
      wide ? ulp64 : ulp);
#define WITH_INT(name, ulp, ulp64) COMPARE(name, ulp, ulp64, Wide{in.x[i]}, in.k[i])
#define RELATION(name) \
  compare(             \
      #name, [&](std::size_t i) -> Wide { return host::name(in.x[i]) ? 1 : 0; }, 0);
#define RELATION_TWO(name) \
  compare(                 \
      #name, [&](std::size_t i) -> Wide { return host::name(in.x[i], in.y[i]) ? 1 : 0; }, 0);
#include "functions.def"
#undef COMPARE
}

TYPED_TEST(Functions, GiveTheSameOnVectors) {
  using T = TypeParam;
  const Inputs<T> in;
  Shared<int> same(in.x.size());
  ProgramKernel kernel = functions<T>().kernel("all_vectors");
  kernel.set("x", in.x.data()).set("y", in.y.data()).set("k", in.k.data());
  kernel.set("same", same.data());
  run(kernel, same.size());
  for (std::size_t i = 0; i < same.size(); ++i)
    ASSERT_EQ(same[i], 1) << in.x[i] << ", " << in.y[i] << ", " << in.k[i];
}

TYPED_TEST(Functions, OfGammaAndExponentAreThoseOfTheHost) {
  using T = TypeParam;
  const std::vector<T> values = edges<T>();
  const Shared<T> x(values.begin(), values.end());
  Shared<T> gamma(x.size());
  Shared<int> sign(x.size());
  Shared<int> exponent(x.size());
  ProgramKernel kernel = functions<T>().kernel("special");
  kernel.set("x", x.data()).set("gamma", gamma.data()).set("sign", sign.data());
  kernel.set("exponent", exponent.data());
  run(kernel, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE(x[i]);
    const Wide wanted = std::lgamma(static_cast<Wide>(x[i]));
    if (std::isfinite(wanted) && std::isfinite(static_cast<T>(wanted))) {
      const Wide tolerance = 100 * std::numeric_limits<T>::epsilon();
      EXPECT_LE(std::fabs(gamma[i] - wanted), tolerance * (1 + std::fabs(wanted)));
    } else {
      EXPECT_EQ(std::isnan(gamma[i]), std::isnan(wanted));
    }
    if (x[i] < 0 && std::isfinite(wanted) && x[i] > -1e6) {
      EXPECT_EQ(sign[i], std::fmod(std::floor(x[i]), 2) == 0 ? 1 : -1);
    }
    EXPECT_EQ(exponent[i], std::isfinite(x[i]) && x[i] != 0 ? std::ilogb(x[i])
                           : x[i] == 0                      ? -2147483647 - 1
                                                            : 2147483647);
  }
}

TEST(Conversions, RoundAsTheirNamesSay) {
  constexpr std::array modes{FE_TOWARDZERO, FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  const Shared<float> x{0.5F, 1.5F, 2.5F,  -0.5F,  -1.5F, 2.3F,      -2.7F,    255.5F,
                        0.0F, 7.0F, -0.1F, 254.5F, 1e9F,  1234.567F, -2147e6F, 16777216.0F};
  const Shared<std::int64_t> whole{0,
                                   16777217,
                                   -16777217,
                                   16777219,
                                   33554435,
                                   -33554435,
                                   std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min(),
                                   1,
                                   -1,
                                   123456789012345,
                                   -123456789012345,
                                   1LL << 40,
                                   (1LL << 40) + 1,
                                   999999999,
                                   -999999999};
  Shared<int> ints(x.size() * 5);
  Shared<float> floats(x.size() * 5);
  Shared<std::uint8_t> bytes(x.size() * 2);
  ProgramKernel kernel = functions<float>().kernel("conversions");
  kernel.set("x", x.data()).set("whole", whole.data()).set("ints", ints.data());
  kernel.set("floats", floats.data()).set("bytes", bytes.data());
  run(kernel, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t mode = 0; mode < modes.size(); ++mode) {
      SCOPED_TRACE(testing::Message() << "mode " << mode << " of " << x[i] << " and " << whole[i]);
      std::fesetround(modes[mode]);
      const volatile float number = x[i];
      const float rounded = std::nearbyint(number);
      std::fesetround(mode == 0 ? FE_TONEAREST : modes[mode]);
      const volatile std::int64_t integer = whole[i];
      const volatile auto real = static_cast<float>(integer);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(ints[i * 5 + mode], static_cast<int>(rounded));
      EXPECT_EQ(floats[i * 5 + mode], real);
    }
    const float clamped = std::min(std::max(x[i], 0.0F), 255.0F);
    EXPECT_EQ(bytes[i * 2], static_cast<std::uint8_t>(std::nearbyint(clamped)));
    EXPECT_EQ(bytes[i * 2 + 1], static_cast<std::uint8_t>(clamped));
  }
}

// ---- half, computed in double

double value_of(std::uint16_t half) {
  const int exponent = half >> 10U & 31U;
  const double digits = half & 0x3ffU;
  const double size = exponent == 31  ? (digits == 0 ? HUGE_VAL : std::nan(""))
                      : exponent == 0 ? std::ldexp(digits, -24)
                                      : std::ldexp(digits + 1024, exponent - 25);
  return (half & 0x8000U) != 0 ? -size : size;
}

/// The half nearest to `x`, or the next one upwards, downwards or toward zero. Searches all halves.
std::uint16_t half_of(double x, int mode) {
  static const std::vector<std::uint16_t> ascending = [] {
    std::vector<std::uint16_t> all;
    for (std::uint32_t i = 0x7c00; i > 0; --i)
      all.push_back(static_cast<std::uint16_t>(i | 0x8000U));
    for (std::uint32_t i = 0; i <= 0x7c00; ++i) all.push_back(static_cast<std::uint16_t>(i));
    return all;
  }();
  const std::uint16_t sign = std::signbit(x) ? 0x8000U : 0U;
  if (x == 0) return sign;
  const auto above =
      std::lower_bound(ascending.begin(), ascending.end(), x,
                       [](std::uint16_t half, double wanted) { return value_of(half) < wanted; });
  if (value_of(*above) == x) return *above;
  const std::uint16_t high = *above;
  const std::uint16_t low = *(above - 1);
  const auto signed_zero = [&](std::uint16_t half) { return (half & 0x7fffU) == 0 ? sign : half; };
  if (mode == FE_UPWARD) return signed_zero(high);
  if (mode == FE_DOWNWARD) return signed_zero(low);
  if (mode == FE_TOWARDZERO) return signed_zero(x < 0 ? high : low);
  // Treats infinity as 65536, the number that would follow the largest half.
  const auto finite = [](std::uint16_t half) {
    return std::isinf(value_of(half)) ? std::copysign(65536.0, value_of(half)) : value_of(half);
  };
  const double to_high = finite(high) - x;
  const double to_low = x - finite(low);
  return signed_zero(to_high < to_low || (to_high == to_low && high % 2 == 0) ? high : low);
}

TEST(Halfs, AreReadWrittenAndComputedWithAsRoundedNumbers) {
  constexpr std::size_t all = 65536;
  Shared<std::uint16_t> h(all);
  Shared<float> x(all);
  std::mt19937 random{11};
  for (std::size_t i = 0; i < all; ++i) {
    h[i] = static_cast<std::uint16_t>(i);
    const double between =
        (value_of(static_cast<std::uint16_t>(i)) + value_of(static_cast<std::uint16_t>(i + 1))) / 2;
    x[i] =
        i % 3 == 0 ? static_cast<float>(between)  // halfway between two halves
        : i % 3 == 1
            ? static_cast<float>(value_of(h[i]) * (1 + 1e-5 * static_cast<double>(random() % 100)))
            : std::ldexp(static_cast<float>(random()), -static_cast<int>(random() % 70));
  }
  x[1] = 65519.0F;
  x[2] = 65520.0F;
  x[4] = -1e30F;
  x[5] = std::numeric_limits<float>::denorm_min();
  Shared<float> wide(all);
  Shared<std::uint16_t> near(all * 5 + 4);
  Shared<std::uint16_t> sum(all * 4);
  ProgramKernel kernel = functions<float>().kernel("halfs");
  kernel.set("h", h.data()).set("x", x.data()).set("wide", wide.data());
  kernel.set("near", near.data()).set("sum", sum.data());
  kernel.set_range({.global = {all, 1, 1}});
  // One group takes the work-items in order. Each overwrites the extra elements stored by the one
  // before.
  ASSERT_EQ(kernel.launch(engine(), {.max_groups = 1}).wait().status, Status::finished);
  const auto same = [](std::uint16_t got, double wanted, int mode = FE_TONEAREST) {
    return std::isnan(wanted) ? std::isnan(value_of(got)) : got == half_of(wanted, mode);
  };
  constexpr std::array modes{FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD, FE_TONEAREST};
  for (std::size_t i = 0; i < all && !testing::Test::HasFailure(); ++i) {
    const double a = value_of(h[i]);
    const double b = value_of(h[i * 77 % all]);
    SCOPED_TRACE(testing::Message() << i << ": " << a << ", " << b << "; " << x[i]);
    EXPECT_TRUE(std::isnan(a) ? std::isnan(wide[i])
                              : wide[i] == a && std::signbit(wide[i]) == std::signbit(a));
    for (std::size_t mode = 0; mode < modes.size(); ++mode)
      EXPECT_TRUE(same(near[i * 5 + mode], x[i], modes[mode])) << near[i * 5 + mode];
    const auto rounded = [](double exact) {
      return std::isnan(exact) ? exact : value_of(half_of(exact, FE_TONEAREST));
    };
    EXPECT_TRUE(same(sum[i * 4], a + b));
    EXPECT_TRUE(same(sum[i * 4 + 1], rounded(a * b) + 1));
    EXPECT_TRUE(same(sum[i * 4 + 2], a / b)) << sum[i * 4 + 2];
    const double quotient = rounded(a / b);
    EXPECT_TRUE(same(sum[i * 4 + 3], -static_cast<double>(static_cast<float>(quotient) + 0.1F)));
  }
}

TEST(SubGroups, AreSingleThreadsOrWarps) {
  for (const std::uint32_t threads : {1U, 7U, 32U, 45U}) {
    SCOPED_TRACE(testing::Message() << "groups of " << threads);
    Shared<std::uint32_t> out(std::size_t{threads} * 2);
    ProgramKernel kernel = functions<float>().kernel("sub_groups");
    kernel.set("out", out.data());
    kernel.set_range({.global = {threads * 2, 1, 1}, .local = {threads, 1, 1}});
    ASSERT_EQ(kernel.launch(engine(), {.max_groups = 2}).wait().status, Status::finished);
    for (const std::uint32_t right : out) EXPECT_EQ(right, 1U);
  }
}

TEST(Constants, AndFunctionsOfIntegersAreRight) {
  Shared<int> right(40, -1);
  const Shared<int> zero{0};
  ProgramKernel kernel = functions<float>().kernel("constants");
  kernel.set("right", right.data()).set("zero", zero.data());
  ASSERT_EQ(kernel.launch(engine(), {.max_groups = 1}).wait().status, Status::finished);
  EXPECT_EQ(right[18], 1);
  for (std::size_t i = 0; i < right.size() && right[i] != -1; ++i) EXPECT_EQ(right[i], 1) << i;
  ProgramKernel matrix = functions<float>().kernel("constant_argument");
  const Shared<int> rows{1, 2, 3, 4, 5, 6};
  matrix.set("m", rows.data()).set("right", right.data());
  ASSERT_EQ(matrix.launch(engine(), {.max_groups = 1}).wait().status, Status::finished);
  EXPECT_EQ(right[0], 1);
}

}  // namespace
}  // namespace cohort::test
