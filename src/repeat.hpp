// Fills memory that the host can write with copies of a value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace cohort {

/// Fills `total` bytes, a multiple of `size`, with copies of the `size` bytes at `value`.
inline void repeat(void* to, const void* value, std::size_t size, std::size_t total) {
  if (total == 0) return;
  auto* const bytes = static_cast<std::byte*>(to);
  std::memcpy(bytes, value, size);
  for (std::size_t done = size; done < total;) {  // each copy doubles the filled part
    const std::size_t more = std::min(done, total - done);
    std::memcpy(bytes + done, bytes, more);
    done += more;
  }
}

}  // namespace cohort
