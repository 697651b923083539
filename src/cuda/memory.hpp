// Device memory: for Buffer, and for the words that streams write.
// Invariant: nothing here waits for a running kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cohort/buffer.hpp"

namespace cohort::cuda {

[[nodiscard]] std::shared_ptr<cohort::detail::Memory> device_memory(int device);

/// Pieces of memory that stay allocated until the end, since freeing would wait for running
/// kernels. A returned piece is kept for reuse.
class Pieces {
 public:
  void give(void* memory);  // `memory` may be null

 protected:
  struct Piece {
    void* memory;
    std::size_t bytes;
    bool taken;
  };

  /// The smallest free piece of at least `bytes`, or null.
  [[nodiscard]] void* reuse(std::size_t bytes);

  std::vector<Piece> pieces_;
};

/// Device memory in which streams can write single words. They cannot do so in a pool's memory.
class ControlMemory : public Pieces {
 public:
  /// At least `bytes`, on the current device. Throws Error{out_of_memory}.
  [[nodiscard]] void* take(std::size_t bytes);
  /// Called when no kernel of the engine runs any more.
  void free_all() noexcept;
};

/// Host memory that the device can write: one block, allocated at the start.
class PinnedMemory : public Pieces {
 public:
  void open();
  /// At least `bytes`. Throws Error{out_of_memory}.
  [[nodiscard]] void* take(std::size_t bytes);
  /// Called when no kernel of the engine runs any more.
  void free_all() noexcept;

 private:
  static constexpr std::size_t size = std::size_t{4} << 20U;
  std::byte* block_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace cohort::cuda
