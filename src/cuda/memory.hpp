// Device memory: behind Buffer, and for the words that streams write. Invariant: nothing here waits
// for a running kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cohort/buffer.hpp"

namespace cohort::cuda {

[[nodiscard]] std::shared_ptr<cohort::detail::Memory> device_memory(int device);

/// Memory that streams may write single words of, which they cannot in a pool's. Freeing such
/// memory waits for running kernels, so what is given back is kept for the next taker.
class ControlMemory {
 public:
  /// At least `bytes`, on the current device. Throws Error{out_of_memory}.
  [[nodiscard]] void* take(std::size_t bytes);
  void give(void* memory);
  /// When no kernel of the engine runs any more.
  void free_all() noexcept;

 private:
  struct Piece {
    void* memory;
    std::size_t bytes;
    bool taken;
  };
  std::vector<Piece> pieces_;
};

}  // namespace cohort::cuda
