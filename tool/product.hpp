// The latency-critical work of the paper's section 5: matrix products of a fixed size. Invariant:
// every product is compared with a reference computed by separate code.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "cohort/cpu.hpp"

namespace cohort::tool {

/// The product of two square matrices of whole numbers, exact in any order of summation.
class MatrixProduct {
 public:
  explicit MatrixProduct(std::uint32_t side);

  /// Computes the group's rows of the product.
  template <class Group>
  void multiply(Group& group) {
    for (const std::size_t row : group.stride(side_)) multiply_row(row);
  }
  /// Clears the product. Must not be called while it is being computed.
  void clear();
  /// Whether the product is complete and correct.
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

/// Side length of a product that takes `work`, found by trials: `seconds_of(side)` measures one.
[[nodiscard]] std::uint32_t side_for(std::chrono::nanoseconds work,
                                     const std::function<double(std::uint32_t)>& seconds_of);

/// Side length of a product that takes `work` on `groups` of the engine's groups while nothing else
/// runs there.
[[nodiscard]] std::uint32_t side_for(cpu::Engine& engine, std::chrono::nanoseconds work,
                                     std::uint32_t groups);

}  // namespace cohort::tool
