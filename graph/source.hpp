// Bytes of a file or of memory, which may be compressed. Invariant: readers see decompressed bytes
// only. Compression is detected by content, not by name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace cohort {

/// Thrown when bytes cannot be read. The caller adds the file's name and line.
class BadData : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A stream of bytes.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// Reads up to `room` bytes and returns how many; 0 only at the end. Throws BadData.
  [[nodiscard]] virtual std::size_t read(char* into, std::size_t room) = 0;
};

/// The raw bytes of a file. Throws BadData if it cannot be opened or is not a regular file.
[[nodiscard]] std::unique_ptr<Source> open_file(const std::filesystem::path& file);

/// Bytes in memory that the caller keeps alive, returned in pieces of at most `piece`.
[[nodiscard]] std::unique_ptr<Source> open_memory(std::string_view bytes,
                                                  std::size_t piece = std::size_t(-1));

/// Decompresses gzip or xz, detected by the first bytes; passes other bytes on unchanged. Several
/// compressed streams in a row are read as one.
[[nodiscard]] std::unique_ptr<Source> decompressed(std::unique_ptr<Source> inner);

/// Passes the same bytes on, read ahead by a thread of its own.
[[nodiscard]] std::unique_ptr<Source> read_ahead(std::unique_ptr<Source> inner);

/// The decompressed content of `file`, read in the fastest way.
[[nodiscard]] std::unique_ptr<Source> open_text(const std::filesystem::path& file);

}  // namespace cohort
