// Connect four with six rows and seven columns, as two bit sets. Each column has seven bits, the
// lowest row first. The seventh bit is always 0, so that lines do not run into the next column.
#pragma once

#include <cstdint>

#include "cohort/kernel.hpp"

namespace cohort::apps {

struct Board {
  static constexpr std::uint32_t columns = 7;
  static constexpr std::uint32_t rows = 6;
  static constexpr std::int32_t won = 666;

  std::uint64_t x = 0;
  std::uint64_t o = 0;

  [[nodiscard]] COHORT_FN constexpr bool can_play(std::uint32_t column) const {
    return ((x | o) >> (column * 7 + rows - 1) & 1U) == 0;
  }
  [[nodiscard]] COHORT_FN constexpr bool full() const { return (x | o) == cells(); }
  /// The board after x (or o) has put a stone into that column.
  [[nodiscard]] COHORT_FN constexpr Board play(std::uint32_t column, bool by_x) const {
    const std::uint64_t bottom = std::uint64_t{1} << (column * 7);
    const std::uint64_t stone = ((x | o) + bottom) & (std::uint64_t{63} << (column * 7));
    const std::uint64_t lowest = stone & ~(x | o);
    return by_x ? Board{x | lowest, o} : Board{x, o | lowest};
  }

  /// Scores the board: each run of two or three stones counts 1 for x and -1 for o; a run of four
  /// or more decides the game.
  [[nodiscard]] COHORT_FN std::int32_t score() const {
    const Runs mine = runs(x);
    if (mine.four) return won;
    const Runs theirs = runs(o);
    return theirs.four ? -won : mine.short_ones - theirs.short_ones;
  }

 private:
  struct Runs {
    std::int32_t short_ones;
    bool four;
  };

  static COHORT_FN constexpr std::uint64_t cells() {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < columns; ++i) all |= std::uint64_t{63} << (i * 7);
    return all;
  }
  /// Cells on rising (or falling) diagonals of four cells or more.
  static COHORT_FN constexpr std::uint64_t diagonals(bool rising) {
    std::uint64_t all = 0;
    for (int column = 0; column < 7; ++column) {
      for (int row = 0; row < 6; ++row) {
        const int line = rising ? column - row + 5 : column + row;  // -2 to 3, or 3 to 8
        if (line >= 3 && line <= 8) all |= std::uint64_t{1} << (column * 7 + row);
      }
    }
    return all;
  }
  static COHORT_FN std::int32_t count(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
    return __popcll(bits);
#else
    return __builtin_popcountll(bits);
#endif
  }
  static COHORT_FN void add_runs(Runs& sum, std::uint64_t stones, std::uint32_t step) {
    // Bits where a run begins.
    const std::uint64_t two = stones & ~(stones << step) & (stones >> step);
    const std::uint64_t four = two & (stones >> 2 * step) & (stones >> 3 * step);
    sum.short_ones += count(two) - count(four);
    sum.four |= four != 0;
  }
  static COHORT_FN Runs runs(std::uint64_t stones) {
    constexpr std::uint64_t rising = diagonals(true);
    constexpr std::uint64_t falling = diagonals(false);
    Runs sum{0, false};
    add_runs(sum, stones, 1);
    add_runs(sum, stones, 7);
    add_runs(sum, stones & rising, 8);
    add_runs(sum, stones & falling, 6);
    return sum;
  }
};

}  // namespace cohort::apps
