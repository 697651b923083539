// Random kernels of the dialect with known results. A kernel's text and its meaning are made
// together: each piece of it is a string and a function that does the same here.
// Invariant: the arithmetic is defined, nothing is read before it is written or behind a point that
// does not hand it over, and the result does not depend on how many groups there are.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cohort::test {

struct RandomStyle {
  bool annotated = true;  ///< for --transmit=annotated; else for live, where all variables are sent
  bool barriers = true;   ///< groups come and go at barriers; else at offers and forks
};

/// Of the seed: every fourth kernel is one of four styles.
inline RandomStyle style_of(std::uint64_t seed) {
  return {.annotated = seed % 2 == 0, .barriers = seed / 2 % 4 != 0};
}

struct RandomKernel {
  std::string name;
  std::string text;          ///< with the types and functions it needs, but without random_prelude
  std::uint32_t points = 0;  ///< resizing points that a group passes
  std::uint32_t pieces = 0;  ///< statements that can be left out

  // The arguments: marks, items, table, n (how many items), and these.
  std::int32_t a = 0;
  std::uint8_t b = 0;
  std::int64_t c = 0;
  float f = 0;

  // What is in memory afterwards.
  std::vector<std::uint32_t> marks;
  std::vector<std::uint32_t> items;
};

inline constexpr std::uint32_t random_slots = 64;  ///< two marks each: the largest and the smallest
inline constexpr std::uint32_t random_items = 24;
inline constexpr std::uint32_t random_table = 16;

/// What precedes the kernels of a file. Each mark counts once however many groups make it, and
/// shows if one of them has another value.
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

/// The kernel of a seed, without the pieces whose numbers are left out. A few seeds would make
/// kernels that run for too long or pass too few points, and make others instead. Nothing if the
/// kernel runs for too long without those pieces.
std::optional<RandomKernel> random_kernel(std::uint64_t seed, const std::string& name,
                                          const std::set<std::uint32_t>& left_out = {});

}  // namespace cohort::test
