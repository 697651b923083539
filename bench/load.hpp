// The latency-critical work of the paper's section 5: matrix products of a fixed size. Invariant:
// every product is compared with one that shares no code with it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "cohort/cpu.hpp"

namespace cohort::bench {

/// A class of rendering: a task is due every `period` (P) and takes `work` (E) on all groups.
struct LoadClass {
  std::string_view name;
  std::chrono::milliseconds period;
  std::chrono::milliseconds work;
  std::string_view summary;
};

/// As the paper measured them (section 5.2).
inline constexpr std::array load_classes{
    LoadClass{"light", std::chrono::milliseconds{70}, std::chrono::milliseconds{3},
              "every 70 ms one that takes 3 ms on all groups"},
    LoadClass{"medium", std::chrono::milliseconds{40}, std::chrono::milliseconds{3},
              "every 40 ms one that takes 3 ms on all groups"},
    LoadClass{"heavy", std::chrono::milliseconds{40}, std::chrono::milliseconds{10},
              "every 40 ms one that takes 10 ms on all groups"},
};

/// The shares of the machine that the paper's tasks ask for, and all of it, which suspends the job.
inline constexpr std::array<std::string_view, 5> share_names{"one", "quarter", "half",
                                                             "all-but-one", "all"};

/// How many of `capacity` groups `share` is: a name, or a number from 1 to `capacity`. Throws
/// Error{bad_options}.
[[nodiscard]] std::uint32_t groups_of(std::string_view share, std::uint32_t capacity);

/// The product of two square matrices of whole numbers, exact in any order of summation.
class MatrixProduct {
 public:
  explicit MatrixProduct(std::uint32_t side);

  /// A group's rows of the product.
  template <class Group>
  void multiply(Group& group) {
    for (const std::size_t row : group.stride(side_)) multiply_row(row);
  }
  /// Forgets the product. Not while it is being computed.
  void clear();
  /// Whether the product is complete and right.
  [[nodiscard]] bool right() const { return product_ == expected_; }

  [[nodiscard]] std::uint32_t side() const { return side_; }
  [[nodiscard]] const std::vector<float>& left() const { return left_; }
  [[nodiscard]] const std::vector<float>& right_factor() const { return right_; }
  [[nodiscard]] const std::vector<float>& expected() const { return expected_; }

 private:
  void multiply_row(std::size_t row);

  std::uint32_t side_;
  std::vector<float> left_;
  std::vector<float> right_;
  std::vector<float> product_;
  std::vector<float> expected_;
};

/// The side of a product that takes `work`, by trying: `seconds_of(side)` tells how long one takes.
[[nodiscard]] std::uint32_t side_for(std::chrono::nanoseconds work,
                                     const std::function<double(std::uint32_t)>& seconds_of);

/// The side of a product that takes `work` on `groups` of the engine's groups while nothing else
/// runs there.
[[nodiscard]] std::uint32_t side_for(cpu::Engine& engine, std::chrono::nanoseconds work,
                                     std::uint32_t groups);

}  // namespace cohort::bench
