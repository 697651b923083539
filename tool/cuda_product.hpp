// A product of square matrices as a task on a GPU. Invariant: every element is compared with that
// of a product which shares no code with it.
#pragma once

#include <cstdint>
#include <memory>

#include "cohort/cuda.hpp"

namespace cohort::tool {

/// Made while nothing else runs on the engine.
class CudaProduct {
 public:
  CudaProduct(cuda::Engine& engine, std::uint32_t side);
  CudaProduct(const CudaProduct&) = delete;
  CudaProduct& operator=(const CudaProduct&) = delete;
  ~CudaProduct();

  /// Computes it on `groups` SMs, beside whatever runs, and waits for it.
  TaskReport run(std::uint32_t groups, Tracer* tracer = nullptr) const;
  /// Whether the last one was complete and right.
  [[nodiscard]] bool right() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace cohort::tool
