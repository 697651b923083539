#include "cli/fractal.hpp"

#include <cmath>

#include "tool/statistics.hpp"

namespace cohort::cli {
namespace {

constexpr std::uint8_t deepest = 255;

/// Number of steps until the point is known to be outside the set, or `deepest`.
std::uint8_t escape_time(double re, double im) {
  double x = 0;
  double y = 0;
  std::uint8_t steps = 0;
  while (steps < deepest && x * x + y * y <= 4) {
    const double next = x * x - y * y + re;
    y = 2 * x * y + im;
    x = next;
    ++steps;
  }
  return steps;
}

/// Hash of a pixel's place and value. The sum over all pixels does not depend on which group drew
/// which pixel.
std::uint64_t mixed(std::uint64_t place, std::uint64_t value) {
  std::uint64_t hash = (place << 8U | value) + 0x9E3779B97F4A7C15U;
  hash = (hash ^ hash >> 30U) * 0xBF58476D1CE4E5B9U;  // the finaliser of splitmix64
  hash = (hash ^ hash >> 27U) * 0x94D049BB133111EBU;
  return hash ^ hash >> 31U;
}

}  // namespace

Fractal::Fractal(std::uint32_t side) : side_(side), pixels_(static_cast<std::size_t>(side) * side) {
  for (std::size_t row = 0; row < side_; ++row) expected_ += draw_row(row);
}

std::uint32_t Fractal::side_for(std::chrono::nanoseconds work) {
  constexpr std::uint32_t sample = 64;
  const double fastest = tool::fastest_of(10, [] {
    const std::uint64_t begin = cpu::now();
    const Fractal drawn{sample};
    return static_cast<double>(cpu::now() - begin);
  });
  const double ratio = static_cast<double>(work.count()) / fastest;
  return static_cast<std::uint32_t>(std::lround(sample * std::sqrt(ratio)));
}

std::uint64_t Fractal::draw_row(std::size_t row) {
  const double scale = 2.5 / side_;
  std::uint64_t sum = 0;
  for (std::size_t column = 0; column < side_; ++column) {
    const std::size_t place = row * side_ + column;
    pixels_[place] = escape_time(-2.0 + scale * static_cast<double>(column),
                                 -1.25 + scale * static_cast<double>(row));
    sum += mixed(place, pixels_[place]);
  }
  return sum;
}

void Fractal::check() {
  wrong_ += checksum_.exchange(0, std::memory_order_relaxed) == expected_ ? 0 : 1;
  ++drawn_;
}

}  // namespace cohort::cli
