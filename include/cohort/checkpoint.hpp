// Checkpoints: at a resizing point a kernel is its State and the memory it names, so both in a file
// are the job. Invariant: a file is written whole or not at all, and read only when its checksum,
// kernel and sizes are right.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "cohort/buffer.hpp"
#include "cohort/kernel.hpp"

namespace cohort {

/// A piece of memory that belongs to a kernel's progress.
struct NamedMemory {
  std::string name;
  std::span<std::byte> bytes;
};

/// Collects what a kernel names: `template <class Visit> void buffers(Visit& visit) const`, which
/// calls `visit(name, pointer, count)` for each buffer.
class BufferList {
 public:
  template <class T>
  void operator()(const char* name, T* data, std::size_t count) {
    static_assert(
        std::is_trivially_copyable_v<T>,
        "cohort: a buffer is written byte by byte, so its elements must be trivially copyable");
    buffers_.push_back({name, {reinterpret_cast<std::byte*>(data), count * sizeof(T)}});
  }
  [[nodiscard]] const std::vector<NamedMemory>& all() const { return buffers_; }

 private:
  std::vector<NamedMemory> buffers_;
};

/// A kernel that can be checkpointed.
template <class Kernel>
concept NamesBuffers = requires(const Kernel& kernel, BufferList& list) {
  kernel.buffers(list);
};

namespace detail {

/// What tells checkpoints of one kernel from another's: `Kernel::name` where there is one.
template <class Kernel>
std::string checkpoint_name() {
  if constexpr (requires { std::string{Kernel::name}; }) {
    return Kernel::name;
  } else {
    return typeid(Kernel).name();
  }
}

/// A job as a file has it.
struct CheckpointParts {
  std::string kernel;  ///< checkpoint_name()
  std::span<std::byte> state;
  std::vector<NamedMemory> buffers;
};

/// Writes a checkpoint of buffers in `memory`, atomically; whoever else writes the same file, one
/// of them is there in the end. Throws Error{bad_file} with the file and the reason; a device or
/// folder is not replaced.
void write_checkpoint(const std::filesystem::path& file, const CheckpointParts& parts,
                      Memory& memory);
/// Reads one into the State and the buffers. Nothing is touched unless everything fits.
void read_checkpoint(const std::filesystem::path& file, const CheckpointParts& parts,
                     Memory& memory);

}  // namespace detail

}  // namespace cohort
