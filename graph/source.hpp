// Bytes of a file or of memory, which may be compressed. Invariant: readers see the decompressed
// bytes and nothing else; the content decides, not the name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace cohort {

/// Thrown when bytes cannot be read. The caller knows the file's name and line, and adds them.
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

  /// Up to `room` bytes; 0 only at the end. Throws BadData.
  [[nodiscard]] virtual std::size_t read(char* into, std::size_t room) = 0;
};

/// The bytes of a file as they are. Throws BadData when it cannot be opened, or is no plain file.
[[nodiscard]] std::unique_ptr<Source> open_file(const std::filesystem::path& file);

/// Bytes that the caller keeps, in pieces of at most `piece`.
[[nodiscard]] std::unique_ptr<Source> open_memory(std::string_view bytes,
                                                  std::size_t piece = std::size_t(-1));

/// Decompresses gzip or xz, recognised by the first bytes; passes other bytes on as they are.
/// Several compressed streams one after another are one.
[[nodiscard]] std::unique_ptr<Source> decompressed(std::unique_ptr<Source> inner);

/// The same bytes, fetched ahead by a thread of its own.
[[nodiscard]] std::unique_ptr<Source> read_ahead(std::unique_ptr<Source> inner);

/// `file` decompressed, in the fastest way.
[[nodiscard]] std::unique_ptr<Source> open_text(const std::filesystem::path& file);

}  // namespace cohort
