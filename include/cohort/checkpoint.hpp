// Checkpoints. At a resizing point, a kernel's progress is its State and the memory that it names.
// A file with both therefore holds the whole job.
// Invariant: a file is written completely or not at all, and is read only if its checksum, kernel
// and sizes match.
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

/// Collects the buffers that a kernel names: `template <class Visit> void buffers(Visit& visit)
/// const` calls `visit(name, pointer, count)` for each.
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

/// Distinguishes checkpoints of different kernels: `Kernel::name` if the kernel has one.
template <class Kernel>
std::string checkpoint_name() {
  if constexpr (requires { std::string{Kernel::name}; }) {
    return Kernel::name;
  } else {
    return typeid(Kernel).name();
  }
}

/// The contents of a checkpoint file.
struct CheckpointParts {
  std::string kernel;  ///< checkpoint_name()
  std::span<std::byte> state;
  std::vector<NamedMemory> buffers;
};

/// Writes a checkpoint of buffers in `memory`, atomically. If several writers write the same file,
/// the complete checkpoint of one of them remains. Throws Error{bad_file}, which names the file and
/// the reason. Does not replace a device or a folder.
void write_checkpoint(const std::filesystem::path& file, const CheckpointParts& parts,
                      Memory& memory);
/// Reads a checkpoint into the State and the buffers. If any part does not match, changes nothing.
void read_checkpoint(const std::filesystem::path& file, const CheckpointParts& parts,
                     Memory& memory);

}  // namespace detail

}  // namespace cohort
