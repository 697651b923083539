// Kernels in the style of public suites (suites/*.cl), in unmodified OpenCL C. They run while
// groups join and leave between work-groups. Results are compared with computations on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <numeric>

#include "random/runs.hpp"

namespace cohort::test {
namespace {

using Floats = Shared<float>;
using Ints = Shared<int>;
using Words = Shared<std::uint32_t>;
using Bytes = Shared<std::uint8_t>;
using testing::ElementsAreArray;
using testing::FloatNear;
using testing::Pointwise;

const std::filesystem::path folder = std::filesystem::path{COHORT_TEST_PROGRAMS} / "suites";

const Program& suite(const std::string& name) {
  static std::map<std::string, Program> loaded;
  const auto found = loaded.find(name);
  if (found != loaded.end()) return found->second;
  return loaded
      .emplace(name, Program::from_file(folder / (name + ".cl"),
                                        {.engine = engine_name, .optimise = "-O0"}))
      .first->second;
}

/// A parameter in local memory, with its size in bytes.
struct Local {
  std::size_t bytes;
};

/// Runs a kernel over a range with these arguments.
template <class... Arguments>
void run(const std::string& file, const std::string& name, const NDRange& range,
         const Arguments&... arguments) {
  SCOPED_TRACE(name);
  ProgramKernel kernel = suite(file).kernel(name);
  const std::vector<Parameter> parameters = kernel.info().parameters;
  ASSERT_EQ(parameters.size(), sizeof...(arguments));
  std::size_t next = 0;
  const auto give = [&](const auto& argument) {
    const std::string& parameter = parameters[next++].name;
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Local>) {
      kernel.set_local(parameter, argument.bytes);
    } else {
      kernel.set(parameter, argument);
    }
  };
  (give(arguments), ...);
  kernel.set_range(range);
  static std::uint64_t seed = 0;
  run_shaken(kernel, range.local[0] * range.local[1] * range.local[2], ++seed);
}

NDRange line(std::uint32_t global, std::uint32_t local) {
  return {.global = {global, 1, 1}, .local = {local, 1, 1}};
}
NDRange plane(std::uint32_t x, std::uint32_t y, std::uint32_t local_x, std::uint32_t local_y) {
  return {.global = {x, y, 1}, .local = {local_x, local_y, 1}};
}

std::uint32_t noise(std::size_t i) {
  std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761U + 12345U;
  x ^= x >> 15U;
  x *= 2246822519U;
  return x ^ (x >> 13U);
}
template <class T>
Shared<T> filled(std::size_t count, std::uint32_t below, std::size_t from = 0) {
  Shared<T> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<T>(noise(from + i) % below);
  return result;
}
Floats fractions(std::size_t count, std::size_t from = 0) {
  Floats result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<float>(noise(from + i) % 1000) / 250.0F - 2.0F;
  return result;
}
/// Matches floats up to rounding errors.
testing::Matcher<Floats> near(const std::vector<double>& expected, double tolerance = 1e-4) {
  std::vector<testing::Matcher<float>> each;
  for (const double value : expected)
    each.push_back(FloatNear(static_cast<float>(value),
                             static_cast<float>(tolerance * std::max(1.0, std::fabs(value)))));
  return ElementsAreArray(each);
}

// ---- matrices

std::vector<double> product(const Floats& a, const Floats& b, std::size_t m, std::size_t n,
                            std::size_t k) {
  std::vector<double> c(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < k; ++l) c[i * n + j] += double{a[i * k + l]} * b[l * n + j];
    }
  }
  return c;
}

TEST(Matrices, Saxpy) {
  const Floats x = fractions(100);
  Floats y = fractions(100, 100);
  std::vector<double> expected;
  for (std::size_t i = 0; i < 100; ++i) expected.push_back(3.5 * double{x[i]} + y[i]);
  run("matrices", "saxpy", line(104, 8), 3.5F, x.data(), y.data(), 100);
  EXPECT_THAT(y, near(expected));
}

TEST(Matrices, Products) {
  constexpr int n = 16;
  const Floats a = fractions(n * n);
  const Floats b = fractions(n * n, 1000);
  const std::vector<double> expected = product(a, b, n, n, n);
  Floats c(n * n);
  run("matrices", "gemm_tiled", plane(n, n, 8, 8), a.data(), b.data(), c.data(), n);
  EXPECT_THAT(c, near(expected));
  Floats d(n * n);
  run("matrices", "gemm_local", plane(n, n, 4, 4), a.data(), b.data(), d.data(), n, Local{64},
      Local{64});
  EXPECT_THAT(d, near(expected));
}

TEST(Matrices, ProductOfAnySize) {
  const Floats a = fractions(7 * 5);
  const Floats b = fractions(5 * 11, 50);
  Floats c = fractions(7 * 11, 200);
  std::vector<double> expected = product(a, b, 7, 11, 5);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 2 * expected[i] + 0.5 * c[i];
  run("matrices", "gemm_naive", plane(12, 8, 4, 2), a.data(), b.data(), c.data(), 7, 11, 5, 2.0F,
      0.5F);
  EXPECT_THAT(c, near(expected));
}

TEST(Matrices, TimesVector) {
  const Floats a = fractions(9 * 33);
  const Floats x = fractions(33, 500);
  Floats y(9);
  run("matrices", "gemv", line(9 * 8, 8), a.data(), x.data(), y.data(), 33U, Local{32});
  EXPECT_THAT(y, near(product(a, x, 9, 1, 33)));
}

/// A directed graph: the edges of v have the indices out[v] to out[v + 1].
struct Csr {
  Ints row{0};
  Ints column;
};
Csr random_graph(int nodes, std::uint32_t edges_each) {
  Csr graph;
  for (int v = 0; v < nodes; ++v) {
    const std::uint32_t edges = noise(static_cast<std::size_t>(v)) % (edges_each + 1);
    for (std::uint32_t e = 0; e < edges; ++e)
      graph.column.push_back(
          static_cast<int>(noise(graph.column.size() + 7777) % static_cast<std::uint32_t>(nodes)));
    graph.row.push_back(static_cast<int>(graph.column.size()));
  }
  return graph;
}

TEST(Matrices, SparseTimesVector) {
  constexpr int rows = 30;
  const Csr m = random_graph(rows, 5);
  const Floats values = fractions(m.column.size());
  const Floats x = fractions(rows, 300);
  Floats y(rows);
  std::vector<double> expected(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    for (auto e = static_cast<std::size_t>(m.row[r]); e < static_cast<std::size_t>(m.row[r + 1]);
         ++e)
      expected[r] += double{values[e]} * x[static_cast<std::size_t>(m.column[e])];
  }
  run("matrices", "spmv_csr", line(32, 4), m.row.data(), m.column.data(), values.data(), x.data(),
      y.data(), rows);
  EXPECT_THAT(y, near(expected));
}

TEST(Matrices, GaussianElimination) {
  constexpr int size = 12;
  Floats a = fractions(size * size);
  for (std::size_t i = 0; i < size; ++i) a[i * size + i] += 20;
  const Floats x = fractions(size, 400);
  Floats b(size);
  const std::vector<double> right = product(a, x, size, 1, size);
  std::copy(right.begin(), right.end(), b.begin());
  Floats m(size * size);
  for (int t = 0; t < size - 1; ++t) {
    run("matrices", "fan1", line(size, 4), m.data(), a.data(), size, t);
    run("matrices", "fan2", plane(size, size, 4, 2), m.data(), a.data(), b.data(), size, t);
  }
  std::vector<double> solved(size);
  for (std::size_t i = size; i-- > 0;) {
    solved[i] = b[i];
    for (std::size_t j = i + 1; j < size; ++j) solved[i] -= double{a[i * size + j]} * solved[j];
    solved[i] /= a[i * size + i];
  }
  EXPECT_THAT(x, near(solved, 1e-3));
}

TEST(Matrices, Covariance) {
  constexpr int m = 6;
  constexpr int n = 20;
  const Floats data = fractions(m * n);
  Floats mean(m);
  Floats cov(m * m);
  run("matrices", "mean_kernel", line(8, 2), mean.data(), data.data(), float{n}, m, n);
  run("matrices", "covariance_kernel", line(8, 4), mean.data(), data.data(), cov.data(), m, n);
  std::vector<double> means(m);
  std::vector<double> expected(m * m);
  for (std::size_t i = 0; i < m * n; ++i) means[i % m] += double{data[i]} / n;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m * m; ++j)
      expected[j] += (data[i * m + j / m] - means[j / m]) * (data[i * m + j % m] - means[j % m]);
  }
  EXPECT_THAT(mean, near(means));
  EXPECT_THAT(cov, near(expected, 1e-3));
}

// ---- images

TEST(Images, Jacobi) {
  constexpr int n = 18;
  const Floats a = fractions(n * n);
  Floats b = a;
  run("images", "jacobi2d", plane(20, 20, 4, 5), a.data(), b.data(), n);
  std::vector<double> expected(a.begin(), a.end());
  for (std::size_t i = 1; i < n - 1; ++i) {
    for (std::size_t j = 1; j < n - 1; ++j)
      expected[i * n + j] = 0.25 * (double{a[i * n + j - 1]} + a[i * n + j + 1] +
                                    a[(i + 1) * n + j] + a[(i - 1) * n + j]);
  }
  EXPECT_THAT(b, near(expected));
}

TEST(Images, StencilInThreeDimensions) {
  constexpr std::size_t nx = 10;
  constexpr std::size_t ny = 6;
  constexpr std::size_t nz = 5;
  const Floats a = fractions(nx * ny * nz);
  Floats b = a;
  run("images", "stencil3d", {.global = {8, 4, 3}, .local = {2, 2, 1}}, 1.5F, 0.25F, a.data(),
      b.data(), int{nx}, int{ny}, int{nz});
  std::vector<double> expected(a.begin(), a.end());
  for (std::size_t at = 0; at < expected.size(); ++at) {
    const std::size_t x = at % nx;
    const std::size_t y = at / nx % ny;
    const std::size_t z = at / nx / ny;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) continue;
    expected[at] = 0.25 * (double{a[at + 1]} + a[at - 1] + a[at + nx] + a[at - nx] +
                           a[at + nx * ny] + a[at - nx * ny]) -
                   1.5 * a[at];
  }
  EXPECT_THAT(b, near(expected));
}

TEST(Images, HeatByTiles) {
  constexpr int width = 14;
  constexpr int height = 9;
  const Floats in = fractions(width * height);
  Floats out(in.size());
  run("images", "heat_tile", plane(16, 12, 4, 4), in.data(), out.data(), width, height,
      Local{6 * 6 * sizeof(float)});
  const auto at = [&](int x, int y) {
    return double{in[static_cast<std::size_t>(std::clamp(y, 0, height - 1) * width +
                                              std::clamp(x, 0, width - 1))]};
  };
  std::vector<double> expected;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x)
      expected.push_back(0.5 * at(x, y) +
                         0.125 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1)));
  }
  EXPECT_THAT(out, near(expected));
}

constexpr int wide = 20;
constexpr int high = 10;
/// Calls `act` on the 3 x 3 pixels around each pixel. Pixels beyond the border repeat the border.
template <class Act>
void around_each_pixel(const Bytes& image, Act act) {
  for (int y = 0; y < high; ++y) {
    for (int x = 0; x < wide; ++x) {
      std::array<int, 9> around{};
      for (int i = 0; i < 9; ++i)
        around[static_cast<std::size_t>(i)] =
            image[static_cast<std::size_t>(std::clamp(y + i / 3 - 1, 0, high - 1) * wide +
                                           std::clamp(x + i % 3 - 1, 0, wide - 1))];
      act(x, y, around);
    }
  }
}

TEST(Images, Sobel) {
  const Bytes in = filled<std::uint8_t>(wide * high, 256);
  Bytes out(in.size());
  run("images", "sobel_filter", plane(wide, high, 4, 2), in.data(), out.data(), std::uint32_t{wide},
      std::uint32_t{high});
  std::vector<std::uint8_t> expected;
  around_each_pixel(in, [&](int x, int y, const std::array<int, 9>& p) {
    const int gx = p[0] + 2 * p[1] + p[2] - p[6] - 2 * p[7] - p[8];
    const int gy = p[0] - p[2] + 2 * p[3] - 2 * p[5] + p[6] - p[8];
    const bool border = x == 0 || y == 0 || x == wide - 1 || y == high - 1;
    expected.push_back(
        static_cast<std::uint8_t>(border ? 0 : std::min(255, std::abs(gx) + std::abs(gy))));
  });
  EXPECT_THAT(out, ElementsAreArray(expected));
}

TEST(Images, Median) {
  const Bytes in = filled<std::uint8_t>(wide * high, 256);
  Bytes out(in.size());
  run("images", "median3x3", plane(wide, high, 2, 5), in.data(), out.data(), wide, high);
  std::vector<std::uint8_t> expected;
  around_each_pixel(in, [&](int, int, std::array<int, 9> p) {
    std::sort(p.begin(), p.end());
    expected.push_back(static_cast<std::uint8_t>(p[4]));
  });
  EXPECT_THAT(out, ElementsAreArray(expected));
}

TEST(Images, BoxBlurOfFourChannels) {
  const Bytes in = filled<std::uint8_t>(std::size_t{4} * wide * high, 256);
  Bytes out(in.size());
  run("images", "box_blur", plane(wide, high, 5, 2), in.data(), out.data(), wide, high);
  std::vector<std::uint8_t> expected(in.size());
  for (std::size_t channel = 0; channel < 4; ++channel) {
    Bytes plane_of(std::size_t{wide} * high);
    for (std::size_t i = 0; i < plane_of.size(); ++i) plane_of[i] = in[4 * i + channel];
    around_each_pixel(plane_of, [&](int x, int y, const std::array<int, 9>& p) {
      expected[4 * static_cast<std::size_t>(y * wide + x) + channel] =
          static_cast<std::uint8_t>(std::accumulate(p.begin(), p.end(), 0) / 9);
    });
  }
  EXPECT_THAT(out, ElementsAreArray(expected));
}

TEST(Images, Histogram) {
  const Bytes data = filled<std::uint8_t>(500, 256);
  Words bins(16);
  run("images", "histogram", line(48, 8), data.data(), 500U, bins.data());
  std::vector<std::uint32_t> expected(16);
  for (const std::uint8_t each : data) ++expected[each % 16];
  EXPECT_THAT(bins, ElementsAreArray(expected));
}

TEST(Images, GameOfLife) {
  constexpr int size = 12;
  Bytes now = filled<std::uint8_t>(size * size, 2);
  std::vector<std::uint8_t> expected(now.begin(), now.end());
  Bytes next(now.size());
  for (int step = 0; step < 4; ++step) {
    run("images", "life", plane(size, size, 4, 3), now.data(), next.data(), size);
    std::swap(now, next);
    std::vector<std::uint8_t> after(expected.size());
    for (int at = 0; at < size * size; ++at) {
      int alive = 0;
      for (int i = 0; i < 9; ++i) {
        const int x = (at % size + i % 3 + size - 1) % size;
        const int y = (at / size + i / 3 + size - 1) % size;
        if (i != 4) alive += expected[static_cast<std::size_t>(y * size + x)];
      }
      const bool here = expected[static_cast<std::size_t>(at)] != 0;
      after[static_cast<std::size_t>(at)] = alive == 3 || (alive == 2 && here) ? 1 : 0;
    }
    expected = after;
  }
  EXPECT_THAT(now, ElementsAreArray(expected));
}

TEST(Images, Mandelbrot) {
  constexpr int width = 32;
  constexpr int height = 16;
  constexpr int limit = 40;
  Ints out(width * height);
  run("images", "mandelbrot", plane(width / 4, height, 4, 2), out.data(), width, height, limit);
  std::vector<int> expected;
  for (int at = 0; at < width * height; ++at) {
    const int cx = at % width * 3 * 4096 / width - 2 * 4096;
    const int cy = at / width * 2 * 4096 / height - 4096;
    int x = 0;
    int y = 0;
    int count = 0;
    while (count < limit && (x * x >> 12) + (y * y >> 12) < 4 * 4096) {
      const int xy = x * y >> 11;
      x = (x * x >> 12) - (y * y >> 12) + cx;
      y = xy + cy;
      ++count;
    }
    expected.push_back(count);
  }
  EXPECT_THAT(out, ElementsAreArray(expected));
  EXPECT_THAT(expected, testing::Contains(limit));
}

// ---- scans

TEST(Scans, Sums) {
  const Ints in = filled<int>(200, 1000);
  Ints out(13);
  run("scans", "reduce_sum", line(104, 8), in.data(), out.data(), 200U, Local{32});
  EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0), std::accumulate(in.begin(), in.end(), 0));
}

TEST(Scans, SmallestAndLargest) {
  Ints in = filled<int>(160, 100000);
  for (std::size_t i = 0; i < in.size(); i += 3) in[i] = -in[i];
  Ints out(2 * 5);
  run("scans", "min_max", line(20, 4), in.data(), out.data(), 40U, Local{32});
  int low = INT_MAX;
  int top = INT_MIN;
  for (std::size_t i = 0; i < out.size(); i += 2) {
    low = std::min(low, out[i]);
    top = std::max(top, out[i + 1]);
  }
  EXPECT_EQ(low, *std::min_element(in.begin(), in.end()));
  EXPECT_EQ(top, *std::max_element(in.begin(), in.end()));
}

TEST(Scans, InTwoBuffers) {
  Ints in = filled<int>(64, 1000);
  Ints out(64);
  Ints sums(8);
  run("scans", "scan_blocks", line(64, 8), in.data(), out.data(), sums.data(), Local{32},
      Local{32});
  run("scans", "add_sums", line(64, 8), out.data(), sums.data());
  std::vector<int> expected(64);
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT_THAT(out, ElementsAreArray(expected));
}

TEST(Scans, UpAndDownATree) {
  const Words in = filled<std::uint32_t>(32, 1000);
  Words out(32);
  run("scans", "scan_tree", line(16, 16), in.data(), out.data(), Local{128}, 32);
  std::vector<std::uint32_t> expected(32);
  std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0U);
  EXPECT_THAT(out, ElementsAreArray(expected));
}

TEST(Scans, DotProducts) {
  const Floats a = fractions(80);
  const Floats b = fractions(80, 100);
  Floats c(20);
  run("scans", "dot_product", line(20, 2), a.data(), b.data(), c.data());
  std::vector<double> expected(20);
  for (std::size_t i = 0; i < 80; ++i) expected[i / 4] += double{a[i]} * b[i];
  EXPECT_THAT(c, near(expected));
}

TEST(Scans, Compaction) {
  const Ints in = filled<int>(300, 1000);
  Ints out(300, -1);
  Ints count(1);
  run("scans", "compact", line(24, 4), in.data(), out.data(), count.data(), 300, 600);
  std::vector<int> expected;
  std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](int v) { return v > 600; });
  ASSERT_EQ(count[0], static_cast<int>(expected.size()));
  out.resize(expected.size());
  EXPECT_THAT(out, testing::UnorderedElementsAreArray(expected));
}

TEST(Scans, WalshTransform) {
  Ints data = filled<int>(64, 100);
  std::vector<int> expected(64);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 64; ++j)
      expected[i] += (std::popcount(i & j) % 2 == 0 ? 1 : -1) * data[j];
  }
  for (int step = 1; step < 64; step *= 2)
    run("scans", "walsh_step", line(32, 4), data.data(), step);
  EXPECT_THAT(data, ElementsAreArray(expected));
}

// ---- sorts

template <class T>
std::vector<T> sorted(const Shared<T>& keys) {
  std::vector<T> result(keys.begin(), keys.end());
  std::sort(result.begin(), result.end());
  return result;
}

TEST(Sorts, Bitonic) {
  Words keys = filled<std::uint32_t>(64, 1000000);
  const std::vector<std::uint32_t> expected = sorted<std::uint32_t>(keys);
  for (std::uint32_t stage = 0; stage < 6; ++stage) {
    for (std::uint32_t pass = 0; pass <= stage; ++pass)
      run("sorts", "bitonic_step", line(32, 8), keys.data(), stage, pass, 1U);
  }
  EXPECT_THAT(keys, ElementsAreArray(expected));
}

TEST(Sorts, BitonicInLocalMemory) {
  Words keys = filled<std::uint32_t>(96, 1000000);
  std::vector<std::uint32_t> expected(keys.begin(), keys.end());
  for (std::size_t i = 0; i < 96; i += 32)
    std::sort(expected.begin() + static_cast<std::ptrdiff_t>(i),
              expected.begin() + static_cast<std::ptrdiff_t>(i) + 32);
  run("sorts", "bitonic_local", line(48, 16), keys.data(), Local{128});
  EXPECT_THAT(keys, ElementsAreArray(expected));
}

TEST(Sorts, OddEven) {
  Ints keys = filled<int>(31, 1000);
  const std::vector<int> expected = sorted<int>(keys);
  for (int step = 0; step < 31; ++step)
    run("sorts", "odd_even_step", line(16, 4), keys.data(), 31, step % 2);
  EXPECT_THAT(keys, ElementsAreArray(expected));
}

TEST(Sorts, Radix) {
  constexpr std::uint32_t groups = 4;
  constexpr int n = 61;
  Words keys = filled<std::uint32_t>(n, 1U << 16U);
  Words other(n);
  const std::vector<std::uint32_t> expected = sorted<std::uint32_t>(keys);
  for (int shift = 0; shift < 16; shift += 4) {
    Words counts(std::size_t{16} * groups);
    Words starts(counts.size());
    run("sorts", "radix_count", line(64, 16), keys.data(), counts.data(), n, shift);
    std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0U);
    run("sorts", "radix_scatter", line(64, 16), keys.data(), other.data(), starts.data(), n, shift,
        Local{64});
    std::swap(keys, other);
  }
  EXPECT_THAT(keys, ElementsAreArray(expected));
}

TEST(Sorts, ByRank) {
  const Ints in = filled<int>(40, 30);
  Ints out(40);
  run("sorts", "rank_sort", line(40, 5), in.data(), out.data(), 40);
  EXPECT_THAT(out, ElementsAreArray(sorted<int>(in)));
}

// ---- graphs

TEST(Graphs, BreadthFirst) {
  constexpr int nodes = 60;
  const Csr graph = random_graph(nodes, 4);
  Ints node_list;
  for (std::size_t v = 0; v < nodes; ++v)
    node_list.insert(node_list.end(), {graph.row[v], graph.row[v + 1] - graph.row[v]});
  Shared<std::int8_t> mask(nodes);
  Shared<std::int8_t> updating(nodes);
  Shared<std::int8_t> visited(nodes);
  Shared<std::int8_t> over(1);
  Ints cost(nodes, -1);
  mask[0] = visited[0] = 1;
  cost[0] = 0;
  do {
    over[0] = 0;
    run("graphs", "bfs_visit", line(64, 8), node_list.data(), graph.column.data(), mask.data(),
        updating.data(), visited.data(), cost.data(), nodes);
    run("graphs", "bfs_update", line(64, 8), mask.data(), updating.data(), visited.data(),
        over.data(), nodes);
  } while (over[0] != 0);
  std::vector<int> expected(nodes, -1);
  expected[0] = 0;
  for (std::vector<int> front{0}; !front.empty();) {
    std::vector<int> next;
    for (const int v : front) {
      const auto at = static_cast<std::size_t>(v);
      for (int e = graph.row[at]; e < graph.row[at + 1]; ++e) {
        const int to = graph.column[static_cast<std::size_t>(e)];
        if (expected[static_cast<std::size_t>(to)] != -1) continue;
        expected[static_cast<std::size_t>(to)] = expected[at] + 1;
        next.push_back(to);
      }
    }
    front = next;
  }
  EXPECT_THAT(cost, ElementsAreArray(expected));
}

TEST(Graphs, FloydAndWarshall) {
  constexpr std::uint32_t n = 16;
  Words distance = filled<std::uint32_t>(n * n, 200);
  Words path(n * n);
  std::vector<std::uint32_t> expected(distance.begin(), distance.end());
  for (std::uint32_t k = 0; k < n; ++k) {
    run("graphs", "floyd_pass", plane(n, n, 4, 4), distance.data(), path.data(), n, k);
    for (std::uint32_t i = 0; i < n * n; ++i)
      expected[i] = std::min(expected[i], expected[i / n * n + k] + expected[k * n + i % n]);
  }
  EXPECT_THAT(distance, ElementsAreArray(expected));
}

TEST(Graphs, ShortestPaths) {
  constexpr int nodes = 40;
  constexpr int edges = 120;
  Ints from = filled<int>(edges, nodes);
  const Ints to = filled<int>(edges, nodes, 1000);
  const Ints weight = filled<int>(edges, 50, 2000);
  from[0] = 0;
  Ints distance(nodes, INT_MAX);
  distance[0] = 0;
  std::vector<int> expected(distance.begin(), distance.end());
  Ints changed(1);
  do {
    changed[0] = 0;
    run("graphs", "sssp_relax", line(24, 4), from.data(), to.data(), weight.data(), distance.data(),
        changed.data(), edges);
  } while (changed[0] != 0);
  for (int round = 0; round < nodes; ++round) {
    for (std::size_t e = 0; e < edges; ++e) {
      const int before = expected[static_cast<std::size_t>(from[e])];
      int& after = expected[static_cast<std::size_t>(to[e])];
      if (before != INT_MAX) after = std::min(after, before + weight[e]);
    }
  }
  EXPECT_THAT(distance, ElementsAreArray(expected));
}

TEST(Graphs, RanksOfPages) {
  constexpr int nodes = 24;
  const Csr graph = random_graph(nodes, 4);
  Ints degree(nodes);
  for (const int u : graph.column) ++degree[static_cast<std::size_t>(u)];
  const Floats old = [] {
    Floats result(nodes);
    for (std::size_t i = 0; i < nodes; ++i) result[i] = static_cast<float>(i + 1) / 300;
    return result;
  }();
  Floats ranks(nodes);
  run("graphs", "rank_pages", line(24, 6), graph.row.data(), graph.column.data(), old.data(),
      ranks.data(), degree.data(), nodes, 0.85F);
  std::vector<double> expected(nodes, 0.15 / nodes);
  for (std::size_t v = 0; v < nodes; ++v) {
    for (auto e = static_cast<std::size_t>(graph.row[v]);
         e < static_cast<std::size_t>(graph.row[v + 1]); ++e) {
      const auto u = static_cast<std::size_t>(graph.column[e]);
      expected[v] += 0.85 * old[u] / degree[u];
    }
  }
  EXPECT_THAT(ranks, near(expected, 1e-6));
}

TEST(Graphs, CheapestWayDownAGrid) {
  constexpr int cols = 50;
  constexpr int each = 3;  // rows per launch
  constexpr int rows = 12;
  constexpr std::uint32_t block = 16;
  const Ints wall = filled<int>(rows * cols, 10);
  Ints src(cols);
  Ints dst(cols);
  std::vector<int> expected(cols);
  for (int row = 0; row < rows; row += each) {
    constexpr std::uint32_t groups = (cols + block - 2 * each - 1) / (block - 2 * each);
    run("graphs", "pathfinder", line(groups * block, block), each,
        static_cast<const int*>(wall.data() + row * cols), src.data(), dst.data(), cols,
        Local{block * 4}, Local{block * 4});
    std::swap(src, dst);
  }
  for (int row = 0; row < rows; ++row) {
    std::vector<int> next;
    for (int x = 0; x < cols; ++x) {
      int best = INT_MAX;
      for (int d = -1; d <= 1; ++d)
        best = std::min(best, expected[static_cast<std::size_t>(std::clamp(x + d, 0, cols - 1))]);
      next.push_back(best + wall[static_cast<std::size_t>(row * cols + x)]);
    }
    expected = next;
  }
  EXPECT_THAT(src, ElementsAreArray(expected));
}

TEST(Graphs, Alignment) {
  constexpr int n = 20;
  const Bytes a = filled<std::uint8_t>(n, 4);
  const Bytes b = filled<std::uint8_t>(n, 4, 50);
  Ints table((n + 1) * (n + 1));
  for (int i = 0; i <= n; ++i) {
    table[static_cast<std::size_t>(i)] = -2 * i;
    table[static_cast<std::size_t>(i * (n + 1))] = -2 * i;
  }
  std::vector<int> expected(table.begin(), table.end());
  for (int diagonal = 2; diagonal <= 2 * n; ++diagonal)
    run("graphs", "align_diagonal", line(20, 4), table.data(), a.data(), b.data(), n, diagonal, 2);
  for (std::size_t r = 1; r <= n; ++r) {
    for (std::size_t c = 1; c <= n; ++c) {
      const std::size_t at = r * (n + 1) + c;
      expected[at] = std::max({expected[at - n - 2] + (a[r - 1] == b[c - 1] ? 3 : -1),
                               expected[at - 1] - 2, expected[at - n - 1] - 2});
    }
  }
  EXPECT_THAT(table, ElementsAreArray(expected));
}

// ---- physics

TEST(Physics, Bodies) {
  constexpr std::size_t n = 24;
  const Floats pos = fractions(4 * n);
  const Floats vel = fractions(4 * n, 500);
  Floats new_pos(4 * n);
  Floats new_vel(4 * n);
  run("physics", "nbody", line(n, 8), pos.data(), vel.data(), std::uint32_t{n}, 0.01F, 0.5F,
      Local{128}, new_pos.data(), new_vel.data());
  std::vector<double> positions(4 * n);
  std::vector<double> velocities(4 * n);
  for (std::size_t i = 0; i < n; ++i) {
    std::array<double, 4> acc{};
    for (std::size_t j = 0; j < n; ++j) {
      std::array<double, 4> r{};
      for (std::size_t d = 0; d < 4; ++d) r[d] = double{pos[4 * j + d]} - pos[4 * i + d];
      const double far = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + 0.5;
      for (std::size_t d = 0; d < 4; ++d) acc[d] += pos[4 * j + 3] / (far * std::sqrt(far)) * r[d];
    }
    for (std::size_t d = 0; d < 4; ++d) {
      velocities[4 * i + d] = vel[4 * i + d] + acc[d] * 0.01;
      positions[4 * i + d] =
          d == 3 ? double{pos[4 * i + 3]}
                 : pos[4 * i + d] + vel[4 * i + d] * 0.01 + acc[d] * 0.5 * 0.01 * 0.01;
    }
  }
  EXPECT_THAT(new_pos, near(positions));
  EXPECT_THAT(new_vel, near(velocities));
}

TEST(Physics, FourierTransform) {
  constexpr int bits = 5;
  constexpr std::size_t n = 1U << bits;
  const Floats in = fractions(2 * n);
  Floats data(2 * n);
  run("physics", "fft_reverse", line(n, 4), in.data(), data.data(), bits);
  for (int half = 1; half < static_cast<int>(n); half *= 2)
    run("physics", "fft_stage", line(n / 2, 4), data.data(), half);
  std::vector<double> expected;
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<double> sum;
    for (std::size_t t = 0; t < n; ++t)
      sum += std::complex<double>{in[2 * t], in[2 * t + 1]} *
             std::polar(1.0, -2 * M_PI * static_cast<double>(k * t) / double{n});
    expected.insert(expected.end(), {sum.real(), sum.imag()});
  }
  EXPECT_THAT(data, near(expected));
}

TEST(Physics, PricesOfOptions) {
  constexpr std::size_t n = 20;
  Floats price(n);
  Floats strike(n);
  for (std::size_t i = 0; i < n; ++i) {
    price[i] = 10.0F + static_cast<float>(noise(i) % 90);
    strike[i] = 10.0F + static_cast<float>(noise(i + 99) % 90);
  }
  Floats call(n);
  Floats put(n);
  run("physics", "black_scholes", line(n, 4), price.data(), strike.data(), call.data(), put.data(),
      1.5F, 0.03F, 0.25F);
  std::vector<double> calls;
  std::vector<double> puts;
  const auto phi = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  for (std::size_t i = 0; i < n; ++i) {
    const double s = price[i];
    const double k = strike[i];
    const double d1 = (std::log(s / k) + (0.03 + 0.25 * 0.25 / 2) * 1.5) / (0.25 * std::sqrt(1.5));
    const double d2 = d1 - 0.25 * std::sqrt(1.5);
    const double later = k * std::exp(-0.03 * 1.5);
    calls.push_back(s * phi(d1) - later * phi(d2));
    puts.push_back(later * phi(-d2) - s * phi(-d1));
  }
  EXPECT_THAT(call, near(calls, 1e-3));
  EXPECT_THAT(put, near(puts, 1e-3));
}

TEST(Physics, MonteCarlo) {
  Words hits(1);
  run("physics", "monte_carlo_pi", line(40, 4), hits.data(), 99U, 50);
  std::uint32_t expected = 0;
  for (std::uint32_t id = 0; id < 40; ++id) {
    std::uint32_t state = 99U ^ (id * 747796405U);
    for (int i = 0; i < 50; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::uint32_t x = state >> 17U;
      state = state * 1664525U + 1013904223U;
      const std::uint32_t y = state >> 17U;
      expected += x * x + y * y < (1U << 30U) ? 1U : 0U;
    }
  }
  EXPECT_EQ(hits[0], expected);
}

TEST(Physics, Sha1) {
  Words blocks(32);
  blocks[0] = 0x61626380U;  // "abc"; its length in bits is at the end
  blocks[15] = 24;
  blocks[16] = 0x80000000U;  // the empty message
  Words digests(10);
  run("physics", "sha1", line(2, 1), blocks.data(), digests.data());
  EXPECT_THAT(digests, testing::ElementsAre(0xa9993e36U, 0x4706816aU, 0xba3e2571U, 0x7850c26cU,
                                            0x9cd0d89dU, 0xda39a3eeU, 0x5e6b4b0dU, 0x3255bfefU,
                                            0x95601890U, 0xafd80709U));
}

TEST(Physics, ClustersOfPoints) {
  constexpr int points = 50;
  constexpr int clusters = 5;
  constexpr int features = 3;
  const Floats feature = fractions(points * features);
  const Floats centres = fractions(clusters * features, 900);
  Ints membership(points);
  run("physics", "kmeans_assign", line(52, 4), feature.data(), centres.data(), membership.data(),
      points, clusters, features);
  std::vector<int> expected;
  for (std::size_t p = 0; p < points; ++p) {
    std::array<double, clusters> far{};
    for (std::size_t c = 0; c < clusters; ++c) {
      for (std::size_t f = 0; f < features; ++f)
        far[c] += std::pow(double{feature[f * points + p]} - centres[c * features + f], 2);
    }
    expected.push_back(static_cast<int>(std::min_element(far.begin(), far.end()) - far.begin()));
  }
  EXPECT_THAT(membership, ElementsAreArray(expected));
}

TEST(Physics, Wavelets) {
  constexpr std::size_t n = 16;
  const Floats in = fractions(2 * n);
  Floats out(2 * n);
  run("physics", "haar", line(n, n / 2), in.data(), out.data(), Local{n * 4}, 4);
  std::vector<double> expected(2 * n);
  for (std::size_t base = 0; base < 2 * n; base += n) {
    std::vector<double> left(in.begin() + static_cast<std::ptrdiff_t>(base),
                             in.begin() + static_cast<std::ptrdiff_t>(base + n));
    for (std::size_t active = n / 2; active > 0; active /= 2) {
      for (std::size_t i = 0; i < active; ++i) {
        expected[base + active + i] = (left[2 * i] - left[2 * i + 1]) / 2;
        left[i] = (left[2 * i] + left[2 * i + 1]) / 2;
      }
    }
    expected[base] = left[0];
  }
  EXPECT_THAT(out, near(expected));
}

TEST(Physics, RandomNumbers) {
  constexpr std::size_t n = 8;
  Words state = filled<std::uint32_t>(4 * n, 1000000);
  for (std::uint32_t& each : state) each += 200;
  std::vector<std::uint32_t> expected(state.begin(), state.end());
  Floats out(n);
  run("physics", "hybrid_taus", line(n, 2), state.data(), out.data(), 10);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t* z = &expected[4 * i];
    const auto taus = [](std::uint32_t x, unsigned left, unsigned right, unsigned up,
                         std::uint32_t mask) {
      return ((x & mask) << up) ^ (((x << left) ^ x) >> right);
    };
    for (int round = 0; round < 10; ++round) {
      z[0] = taus(z[0], 13, 19, 12, 4294967294U);
      z[1] = taus(z[1], 2, 25, 4, 4294967288U);
      z[2] = taus(z[2], 3, 11, 17, 4294967280U);
      z[3] = 1664525U * z[3] + 1013904223U;
    }
    numbers.push_back(2.3283064365387e-10 * (z[0] ^ z[1] ^ z[2] ^ z[3]));
  }
  EXPECT_THAT(state, ElementsAreArray(expected));
  EXPECT_THAT(out, near(numbers));
}

}  // namespace
}  // namespace cohort::test
