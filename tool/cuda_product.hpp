// A product of square matrices as a task on a GPU. Invariant: every element is compared with a
// reference computed by separate code.
#pragma once

#include <cstdint>
#include <memory>

#include "cohort/cuda.hpp"

namespace cohort::tool {

/// A product on one engine. Create it while the engine is idle.
class CudaProduct {
 public:
  CudaProduct(cuda::Engine& engine, std::uint32_t side);
  CudaProduct(const CudaProduct&) = delete;
  CudaProduct& operator=(const CudaProduct&) = delete;
  ~CudaProduct();

  /// Computes the product on `groups` SMs, next to running jobs, and waits for it.
  TaskReport run(std::uint32_t groups) const {
    return run(TaskOptions{.groups = groups, .priority = 1});
  }
  /// The same as a task with these options, except for its threads per group.
  TaskReport run(TaskOptions options) const;
  /// Whether the last product was complete and correct.
  [[nodiscard]] bool right() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace cohort::tool
