// The demo's latency-critical work: a frame of the Mandelbrot set, drawn by any number of groups.
// Invariant: a frame is correct exactly if its checksum equals that of the frame drawn by a single
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "cohort/platform/cpu.hpp"

namespace cohort::cli {

/// A square picture that is drawn repeatedly.
class Fractal {
 public:
  /// Also draws the reference frame, on the calling thread.
  explicit Fractal(std::uint32_t side);
  /// Side length of a frame that takes about `work` on one CPU.
  static std::uint32_t side_for(std::chrono::nanoseconds work);

  /// Draws the group's rows. Group 0 verifies the frame after all groups are done.
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
  /// CPU time spent drawing, summed over all groups.
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
