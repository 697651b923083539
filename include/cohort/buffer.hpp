// Memory for kernels. An engine allocates it, so host code is the same on every engine: `auto
// levels = engine.fill<std::uint32_t>(nodes, unreached);`. Invariant: a buffer keeps its memory
// until it is destroyed; kernels hold plain pointers into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cohort/error.hpp"

namespace cohort {

namespace detail {

/// The memory that an engine's kernels read and write. Each engine has one.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  /// Allocates at least `bytes` bytes, aligned for any element. Throws Error{out_of_memory}.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  /// Releases memory. Never waits for a running job.
  virtual void release(void* memory, std::size_t bytes) noexcept = 0;
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
  /// Writes `count` copies of the `size` bytes at `value`.
  virtual void fill(void* to, const void* value, std::size_t size, std::size_t count) = 0;
  /// Called for memory without initial contents, which a kernel will write before it reads it.
  virtual void touch(void* /*memory*/, std::size_t /*bytes*/) {}
  /// Called for each new buffer, after its initial contents were written. `element`: the size of
  /// one element. `name`: for reports; empty if the buffer has none.
  virtual void announce(const void* /*memory*/, std::size_t /*bytes*/, std::size_t /*element*/,
                        std::string_view /*name*/) {}
  /// Whether host code can dereference pointers into the memory.
  [[nodiscard]] virtual bool reached_by_host() const { return true; }
};

}  // namespace detail

/// An array in an engine's memory. It must outlive the jobs that use it, and may outlive the
/// engine. No job may touch it during read(), write() and fill().
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "cohort: a buffer is copied byte by byte");

 public:
  Buffer() = default;
  Buffer(std::shared_ptr<detail::Memory> memory, std::size_t size)
      : memory_(std::move(memory)), size_(size) {
    if (size > PTRDIFF_MAX / sizeof(T)) {
      throw Error{Errc::out_of_memory, "no room for a buffer of " + std::to_string(size) +
                                           " elements of " + std::to_string(sizeof(T)) + " bytes"};
    }
    data_ = static_cast<T*>(memory_->allocate(size * sizeof(T)));
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved{std::move(other)};
    swap(moved);
    return *this;
  }
  ~Buffer() {
    if (memory_ != nullptr) memory_->release(data_, size_ * sizeof(T));
  }

  /// A pointer for the kernel's members. Only kernels may dereference it, except with the CPU
  /// engine.
  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(size_);
    if (size_ != 0) memory_->read(values.data(), data_, size_ * sizeof(T));
    return values;
  }
  /// Copies elements into `values`, from element `first` on. The buffer must be large enough.
  void read(std::span<T> values, std::size_t first) const {
    if (!values.empty()) memory_->read(values.data(), data_ + first, values.size_bytes());
  }
  /// Replaces elements by `values`, from element `first` on. The buffer must be large enough.
  void write(std::span<const T> values, std::size_t first = 0) const {
    if (!values.empty()) memory_->write(data_ + first, values.data(), values.size_bytes());
  }
  void fill(const T& value) const {
    if (size_ != 0) memory_->fill(data_, &value, sizeof(T), size_);
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::shared_ptr<detail::Memory> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

/// The part of an engine that creates buffers. The explorer's reports call a buffer by its `name`;
/// other engines ignore the name.
class BufferFactory {
 public:
  BufferFactory(const BufferFactory&) = delete;
  BufferFactory& operator=(const BufferFactory&) = delete;

  /// `count` elements, each a copy of `value`. Throws Error{out_of_memory}.
  template <class T>
  [[nodiscard]] Buffer<T> fill(std::size_t count, const T& value, std::string_view name = {}) {
    return make<T>(count, name, [&](const Buffer<T>& buffer) { buffer.fill(value); });
  }
  /// `count` elements without initial contents: the kernel must set them before it reads them.
  template <class T>
  [[nodiscard]] Buffer<T> allocate(std::size_t count, std::string_view name = {}) {
    return make<T>(count, name, [&](const Buffer<T>& buffer) {
      if (count != 0) memory_->touch(buffer.data(), count * sizeof(T));
    });
  }
  /// A copy of `values`.
  template <class T>
  [[nodiscard]] Buffer<T> upload(const std::vector<T>& values, std::string_view name = {}) {
    return make<T>(values.size(), name, [&](const Buffer<T>& buffer) { buffer.write(values); });
  }
  /// The memory that the buffers are in.
  [[nodiscard]] const Memory& memory() const { return *memory_; }

 protected:
  explicit BufferFactory(std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {}
  ~BufferFactory() = default;

 private:
  template <class T, class Set>
  Buffer<T> make(std::size_t count, std::string_view name, Set set) {
    Buffer<T> buffer{memory_, count};
    set(buffer);
    memory_->announce(buffer.data(), count * sizeof(T), sizeof(T), name);
    return buffer;
  }

  std::shared_ptr<Memory> memory_;
};

}  // namespace detail

}  // namespace cohort
