// Random kernels of the dialect with known results. A kernel's text and its meaning are made
// together: each piece is a string and a C++ function with the same effect.
// Invariant: the arithmetic is defined. Nothing is read before it is written, or after a point that
// does not transmit it. The result does not depend on the number of groups.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cohort::test {

struct RandomStyle {
  /// True for --transmit=annotated; false for live, which sends all variables that are read.
  bool annotated = true;
  bool barriers = true;  ///< true if groups join and leave at barriers; false for offers and forks
};

/// The style for a seed. There are four styles, in turn.
inline RandomStyle style_of(std::uint64_t seed) {
  return {.annotated = seed % 2 == 0, .barriers = seed / 2 % 4 != 0};
}

struct RandomKernel {
  std::string name;
  std::string text;          ///< includes the types and functions used, but not random_prelude
  std::uint32_t points = 0;  ///< resizing points that a group passes
  std::uint32_t pieces = 0;  ///< statements that can be left out

  // The arguments of the kernel are marks, items, table, n (the number of items), and the following
  // ones.
  std::int32_t a = 0;
  std::uint8_t b = 0;
  std::int64_t c = 0;
  float f = 0;

  // Expected contents of memory after the run.
  std::vector<std::uint32_t> marks;
  std::vector<std::uint32_t> items;
};

/// Two marks each: the largest and the smallest value.
inline constexpr std::uint32_t random_slots = 64;
inline constexpr std::uint32_t random_items = 24;
inline constexpr std::uint32_t random_table = 16;

/// Text in front of the kernels of a file. A mark has the same effect however many groups make it,
/// and shows if one of them had a different value.
inline constexpr const char* random_prelude =
    R"(uint stir(uint item, uint key) { return item * 1664525u + key * 2654435761u + 1013904223u; }
void mark(global uint *marks, uint slot, uint value) {
  atomic_max(marks + 2 * slot, value);
  atomic_min(marks + 2 * slot + 1, value);
}
)";

/// Memory before a kernel runs.
std::vector<std::uint32_t> first_marks();
std::vector<std::uint32_t> first_items();
std::vector<std::uint32_t> table_words();

/// The kernel for a seed, without the pieces whose numbers are in `left_out`. If a seed's kernel
/// would run too long or pass too few points, another one is made instead. Returns nothing if the
/// kernel runs too long without those pieces.
std::optional<RandomKernel> random_kernel(std::uint64_t seed, const std::string& name,
                                          const std::set<std::uint32_t>& left_out = {});

}  // namespace cohort::test
