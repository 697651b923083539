// A frame of the Mandelbrot set, drawn by any number of groups and checked: the demo's
// latency-critical work. Invariant: a frame is right exactly when its checksum is that of the frame
// a single thread drew.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "cohort/platform/cpu.hpp"

namespace cohort::cli {

/// A square picture, drawn again and again.
class Fractal {
 public:
  /// Draws the reference too, in the calling thread.
  explicit Fractal(std::uint32_t side);
  /// One that takes about `work` of one CPU's time.
  static std::uint32_t side_for(std::chrono::nanoseconds work);

  /// A group's part of a frame; group 0 checks the frame when all have done theirs.
  template <class Group>
  void draw(Group& group) {
    const std::uint64_t begin = cpu::now();
    std::uint64_t sum = 0;
    for (const std::size_t row : group.stride(side_)) sum += draw_row(row);
    checksum_.fetch_add(sum, std::memory_order_relaxed);
    used_.fetch_add(cpu::now() - begin, std::memory_order_relaxed);
    group.global_barrier();  // orders the sums before the check
    if (group.group_id() == 0) check();
  }

  [[nodiscard]] std::uint32_t side() const { return side_; }
  [[nodiscard]] std::uint64_t drawn() const { return drawn_.load(); }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_.load(); }
  /// The time groups have spent drawing, all together.
  [[nodiscard]] std::chrono::nanoseconds used() const {
    return std::chrono::nanoseconds{used_.load()};
  }

 private:
  /// Returns the row's part of the checksum.
  std::uint64_t draw_row(std::size_t row);
  void check();

  std::uint32_t side_;
  std::vector<std::uint8_t> pixels_;
  std::uint64_t expected_ = 0;
  std::atomic<std::uint64_t> checksum_{0};
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> drawn_{0};
  std::atomic<std::uint64_t> wrong_{0};
};

}  // namespace cohort::cli
