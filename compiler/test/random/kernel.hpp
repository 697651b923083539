// Random kernels of the dialect with known results. A kernel's text and its meaning are made
// together: each piece is a string and a C++ function with the same effect.
// Invariant: the arithmetic is defined. Nothing is read before it is written, or after a point that
// does not transmit it. The result does not depend on the number of groups.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::test {

struct RandomStyle {
  /// The --transmit mode: annotated, live or per-thread. The last two send all variables that are
  /// read.
  const char* transmit = "annotated";
  bool barriers = true;  ///< groups join and leave at barriers; false: at offers and forks
  bool range = false;    ///< whether the kernel has no points and runs over a range of work-items

  [[nodiscard]] bool annotated() const { return std::string_view{transmit} == "annotated"; }
  [[nodiscard]] bool per_thread() const { return std::string_view{transmit} == "per-thread"; }
};

/// Seeds that are a multiple of this apart have the same --transmit mode.
inline constexpr std::uint64_t random_modes = 4;

inline RandomStyle style_of(std::uint64_t seed) {
  constexpr std::array<const char*, random_modes> modes{"annotated", "live", "annotated",
                                                        "per-thread"};
  const std::uint64_t turn = seed / random_modes;
  return {
      .transmit = modes[seed % random_modes], .barriers = turn % 4 != 0, .range = turn % 8 == 5};
}

struct RandomKernel {
  std::string name;
  std::string text;          ///< includes the types and functions used, but not random_prelude
  std::uint32_t points = 0;  ///< resizing points that a group passes
  std::uint32_t pieces = 0;  ///< statements that can be left out

  /// Number of dimensions of the range; 0 if the kernel has points and no range.
  std::uint32_t dimensions = 0;

  // The arguments of the kernel are marks, items, table, room (of random_room bytes in local
  // memory), n (the number of items), and the following ones.
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
inline constexpr std::uint32_t random_room = 16;

/// Text in front of the kernels of a file. A mark has the same effect however many groups make it,
/// and shows if one of them had a different value.
inline constexpr const char* random_prelude =
    R"(uint stir(uint item, uint key) { return item * 1664525u + key * 2654435761u + 1013904223u; }
void mark(global uint *marks, uint slot, uint value) {
  atomic_max(marks + 2 * slot, value);
  atomic_min(marks + 2 * slot + 1, value);
}
struct view { global const uint *from; uint at; };
uint look(struct view v) { return v.from[v.at]; }
uint through(local uint *cell, uint value) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) *cell = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  return *cell;
}
#ifndef LIKE_POCL
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half narrow;
#define file_const const
uint peek(const uint *p) { return *p; }
#else  // PoCL has neither half nor generic pointers nor sub-groups
typedef float narrow;
#define file_const constant
#define peek(p) (*(p))
#define sub_group_all(x) ((x) != 0)
#define sub_group_broadcast(x, i) (x)
#define sub_group_reduce_min(x) (x)
#endif
float narrow_sum(float x, float y) {
  narrow sum = (narrow)x;
  sum += (narrow)y;
  return sum;
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
