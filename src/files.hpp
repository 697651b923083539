// File descriptors that are closed at the end of their scope. Reads and writes are complete or
// fail.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace cohort {

/// A file descriptor. After a failed call, errno holds the reason.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() {
    if (open()) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);  // the other object now closes the old descriptor
    return *this;
  }

  [[nodiscard]] bool open() const { return value_ >= 0; }
  [[nodiscard]] int get() const { return value_; }

  /// Reads exactly `size` bytes. Returns false on an error and at the end of the file.
  bool read(void* into, std::size_t size) const {
    auto* to = static_cast<char*>(into);
    while (size > 0) {
      const ssize_t got = ::read(value_, to, size);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }
  bool write(const void* from, std::size_t size) const {
    const auto* rest = static_cast<const char*>(from);
    while (size > 0) {
      const ssize_t put = ::write(value_, rest, size);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      rest += put;
      size -= static_cast<std::size_t>(put);
    }
    return true;
  }
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

}  // namespace cohort
