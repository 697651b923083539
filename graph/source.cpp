#include "graph/source.hpp"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <vector>

namespace cohort {
namespace {

class File : public Source {
 public:
  explicit File(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) refuse(errno);
    struct stat status {};
    const int error = ::fstat(descriptor_, &status) != 0 ? errno
                      : S_ISDIR(status.st_mode)          ? EISDIR
                                                         : 0;
    if (error == 0) return;
    ::close(descriptor_);
    refuse(error);
  }
  ~File() override { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t read(char* into, std::size_t room) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, into, room);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) refuse(errno);
    }
  }

 private:
  [[noreturn]] static void refuse(int error) {
    throw BadData{"cannot be read: " + std::generic_category().message(error)};
  }

  int descriptor_;
};

class Memory : public Source {
 public:
  Memory(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}

  std::size_t read(char* into, std::size_t room) override {
    const std::size_t size = std::min({room, piece_, bytes_.size()});
    std::copy_n(bytes_.data(), size, into);
    bytes_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view bytes_;
  std::size_t piece_;
};

/// Input of a decompressor. Bytes can be inspected before they are taken.
class Input {
 public:
  explicit Input(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  /// At least `wanted` bytes, or all that remain.
  std::string_view peek(std::size_t wanted) {
    if (end_ - begin_ < wanted) {
      std::copy(buffer_.begin() + offset(begin_), buffer_.begin() + offset(end_), buffer_.begin());
      end_ -= begin_;
      begin_ = 0;
    }
    while (end_ - begin_ < wanted) {
      const std::size_t got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
      if (got == 0) break;
      end_ += got;
    }
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void take(std::size_t size) { begin_ += size; }

 private:
  static std::ptrdiff_t offset(std::size_t position) {
    return static_cast<std::ptrdiff_t>(position);
  }

  std::unique_ptr<Source> source_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{64} << 10U);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

class Plain : public Source {
 public:
  explicit Plain(Input input) : input_(std::move(input)) {}

  std::size_t read(char* into, std::size_t room) override {
    const std::string_view bytes = input_.peek(1).substr(0, room);
    std::copy(bytes.begin(), bytes.end(), into);
    input_.take(bytes.size());
    return bytes.size();
  }

 private:
  Input input_;
};

constexpr std::string_view gzip_magic{"\x1f\x8b", 2};
constexpr std::string_view xz_magic{
    "\xfd"
    "7zXZ\0",
    6};

class Gzip : public Source {
 public:
  explicit Gzip(Input input) : input_(std::move(input)) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc{};
  }
  ~Gzip() override { ::inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  std::size_t read(char* into, std::size_t room) override {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    const auto wanted = static_cast<uInt>(std::min(room, most));
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    stream_.avail_out = wanted;
    while (!done_ && stream_.avail_out == wanted) step();
    return wanted - stream_.avail_out;
  }

 private:
  void step() {
    const std::string_view bytes = input_.peek(1);
    if (bytes.empty()) throw BadData{"the gzip data ends too early: the file is truncated"};
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    input_.take(bytes.size() - stream_.avail_in);
    if (result == Z_STREAM_END) {
      next_member();
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc{};
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw BadData{std::string{"the gzip data is damaged: "} +
                    (stream_.msg == nullptr ? "no stream" : stream_.msg)};
    }
  }

  /// Skips to the next member. Another member may follow, and zeros may follow the last one, as on
  /// tapes.
  void next_member() {
    for (;;) {
      const std::string_view bytes = input_.peek(gzip_magic.size());
      if (bytes.starts_with(gzip_magic)) {
        ::inflateReset(&stream_);
        return;
      }
      if (bytes.empty()) {
        done_ = true;
        return;
      }
      const std::size_t zeros = std::min(bytes.find_first_not_of('\0'), bytes.size());
      if (zeros == 0) throw BadData{"there is something else after the gzip data"};
      input_.take(zeros);
    }
  }

  Input input_;
  z_stream stream_{};
  bool done_ = false;
};

class Xz : public Source {
 public:
  explicit Xz(Input input) : input_(std::move(input)) {
    if (::lzma_stream_decoder(&stream_, memory_limit, LZMA_CONCATENATED) != LZMA_OK)
      throw std::bad_alloc{};
  }
  ~Xz() override { ::lzma_end(&stream_); }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;

  std::size_t read(char* into, std::size_t room) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(into);
    stream_.avail_out = room;
    while (!done_ && stream_.avail_out == room) step();
    return room - stream_.avail_out;
  }

 private:
  static constexpr std::uint64_t memory_limit = std::uint64_t{256} << 20U;  // `xz -9` needs 65 MiB

  void step() {
    const std::string_view bytes = input_.peek(1);
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    const lzma_ret result = ::lzma_code(&stream_, bytes.empty() ? LZMA_FINISH : LZMA_RUN);
    input_.take(bytes.size() - stream_.avail_in);
    switch (result) {
      case LZMA_OK: return;
      case LZMA_STREAM_END: done_ = true; return;
      case LZMA_MEM_ERROR: throw std::bad_alloc{};
      case LZMA_BUF_ERROR: throw BadData{"the xz data ends too early: the file is truncated"};
      case LZMA_MEMLIMIT_ERROR:
        throw BadData{"the xz data needs more than 256 MiB to unpack: compress it with `xz -9`"};
      case LZMA_OPTIONS_ERROR: throw BadData{"the xz data uses a filter that is not known here"};
      default: throw BadData{"the xz data is damaged"};
    }
  }

  Input input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool done_ = false;
};

struct Unpacked {
  std::unique_ptr<Source> source;
  bool packed;  ///< the input was compressed
};

Unpacked unpack(std::unique_ptr<Source> inner) {
  Input input{std::move(inner)};
  const std::string_view start = input.peek(xz_magic.size());
  if (start.starts_with(gzip_magic)) return {std::make_unique<Gzip>(std::move(input)), true};
  if (start.starts_with(xz_magic)) return {std::make_unique<Xz>(std::move(input)), true};
  return {std::make_unique<Plain>(std::move(input)), false};
}

}  // namespace

std::unique_ptr<Source> open_file(const std::filesystem::path& file) {
  return std::make_unique<File>(file);
}

std::unique_ptr<Source> open_memory(std::string_view bytes, std::size_t piece) {
  return std::make_unique<Memory>(bytes, piece);
}

std::unique_ptr<Source> decompressed(std::unique_ptr<Source> inner) {
  return unpack(std::move(inner)).source;
}

std::unique_ptr<Source> open_text(const std::filesystem::path& file) {
  constexpr std::uintmax_t worth_a_thread = std::uintmax_t{128} << 10U;
  Unpacked text = unpack(open_file(file));
  std::error_code no_plain_file;
  const std::uintmax_t size = std::filesystem::file_size(file, no_plain_file);
  if (!text.packed || no_plain_file || size < worth_a_thread) return std::move(text.source);
  return read_ahead(std::move(text.source));
}

}  // namespace cohort
