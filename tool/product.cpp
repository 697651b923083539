#include "tool/product.hpp"

#include <algorithm>
#include <cmath>

#include "tool/statistics.hpp"

namespace cohort::tool {
namespace {

using std::chrono::nanoseconds;

/// Small whole numbers that are the same each time. Sums of their products fit the 24 bits of a
/// float's mantissa.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> result(count);
  for (float& each : result) {
    seed = seed * 1664525U + 1013904223U;
    each = static_cast<float>(seed >> 29U);
  }
  return result;
}

/// The reference, computed by columns and in integers, so that it shares no code with multiply_row.
std::vector<float> product_by_columns(const std::vector<float>& left,
                                      const std::vector<float>& right, std::size_t side) {
  std::vector<float> result(side * side);
  std::vector<std::uint32_t> column(side);
  for (std::size_t j = 0; j < side; ++j) {
    for (std::size_t k = 0; k < side; ++k)
      column[k] = static_cast<std::uint32_t>(right[k * side + j]);
    for (std::size_t i = 0; i < side; ++i) {
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < side; ++k)
        sum += static_cast<std::uint32_t>(left[i * side + k]) * column[k];
      result[i * side + j] = static_cast<float>(sum);
    }
  }
  return result;
}

constexpr std::uint32_t least_side = 8;
constexpr std::uint32_t most_side = 4096;

double seconds_of(cpu::Engine& engine, std::uint32_t side, std::uint32_t groups) {
  MatrixProduct product{side};
  return fastest_of(7, [&] {
    const TaskReport report =
        engine.submit([&product](auto& group) { product.multiply(group); }, {.groups = groups})
            .wait();
    return std::chrono::duration<double>{report.run_time}.count();
  });
}

}  // namespace

MatrixProduct::MatrixProduct(std::uint32_t side)
    : side_(side),
      left_(numbers(std::size_t{side} * side, 1)),
      right_(numbers(std::size_t{side} * side, 2)),
      product_(std::size_t{side} * side),
      expected_(product_by_columns(left_, right_, side)) {
  clear();
}

void MatrixProduct::clear() { std::fill(product_.begin(), product_.end(), -1.0F); }

void MatrixProduct::multiply_row(std::size_t row) {
  float* const to = product_.data() + row * side_;
  std::fill(to, to + side_, 0.0F);
  for (std::size_t k = 0; k < side_; ++k) {
    const float factor = left_[row * side_ + k];
    const float* const from = right_.data() + k * side_;
    for (std::size_t j = 0; j < side_; ++j) to[j] += factor * from[j];
  }
}

std::uint32_t side_for(nanoseconds work, const std::function<double(std::uint32_t)>& seconds_of) {
  const double wanted = std::chrono::duration<double>{work}.count();
  double side = 64;
  for (int i = 0; i < 4; ++i) {
    const auto whole = static_cast<std::uint32_t>(std::lround(side));
    const double took = seconds_of(whole);
    side = std::clamp(whole * std::cbrt(wanted / took), double{least_side}, double{most_side});
  }
  return static_cast<std::uint32_t>(std::lround(side));
}

std::uint32_t side_for(cpu::Engine& engine, nanoseconds work, std::uint32_t groups) {
  return side_for(
      work, [&engine, groups](std::uint32_t side) { return seconds_of(engine, side, groups); });
}

}  // namespace cohort::tool
