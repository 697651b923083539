// The checkpoint file: magic, version, kernel, State, buffers (each with its name and size), and a
// CRC-32 of all of these.
#include "cohort/checkpoint.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "cohort/error.hpp"
#include "files.hpp"

namespace cohort::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> magic{'c', 'o', 'h', 'o', 'r', 't', 'c', 'p'};
constexpr std::uint32_t version = 1;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error{Errc::bad_file, "checkpoint " + file.string() + ": " + why};
}

std::uint32_t checksum(std::uint32_t so_far, const void* data, std::size_t size) {
  // The pointer may be null, with which zlib would start a new checksum.
  if (size == 0) return so_far;
  return static_cast<std::uint32_t>(crc32_z(so_far, static_cast<const Bytef*>(data), size));
}

/// The system's message for the current errno.
std::string system_says() { return std::generic_category().message(errno); }

/// Writes a draft next to the file, which replaces the file at the end. Until then the file stays
/// as it was.
class Writer {
 public:
  explicit Writer(const fs::path& file) : file_(file), out_(create()) {}
  ~Writer() {
    if (!draft_.empty()) ::unlink(draft_.c_str());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void bytes(const void* data, std::size_t size) {
    sum_ = checksum(sum_, data, size);
    if (!out_.write(data, size)) fail();
  }
  void number(std::uint64_t value) { bytes(&value, sizeof value); }
  void text(const std::string& value) {
    number(value.size());
    bytes(value.data(), value.size());
  }
  /// Completes the draft by writing the checksum last. Then the draft replaces the file.
  void finish() {
    number(sum_);
    if (::fsync(out_.get()) != 0 || ::rename(draft_.c_str(), file_.c_str()) != 0) fail();
    draft_.clear();
  }

 private:
  [[noreturn]] void fail() const { refuse(file_, "cannot be written: " + system_says()); }

  /// Creates the draft under an unused name, since other jobs, processes and containers may write
  /// the same checkpoint.
  int create() {
    std::error_code error;
    if (fs::exists(file_, error) && !fs::is_regular_file(file_, error))
      refuse(file_, "not a regular file, so it is not replaced; give another name");
    for (std::uint32_t number = 0;; ++number) {
      fs::path draft = file_.string() + ".part" + std::to_string(number);
      int handle = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      const bool fresh = handle >= 0;
      if (!fresh && errno != EEXIST) fail();
      if (!fresh) handle = ::open(draft.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (handle < 0) continue;
      if (take(handle, draft, fresh)) {
        draft_ = std::move(draft);
        return handle;
      }
      ::close(handle);
    }
  }

  /// Locks a draft. A draft without a lock was left by a writer that was killed; it is used again,
  /// so that such drafts do not pile up.
  static bool take(int handle, const fs::path& draft, bool fresh) {
    if (::flock(handle, LOCK_EX | LOCK_NB) != 0)
      return fresh && errno != EWOULDBLOCK;  // the file system has no locks
    struct stat opened {};
    struct stat named {};
    // Check that the draft still has its name: another writer may have renamed it since it was
    // opened. Another user may also have made it.
    return ::fstat(handle, &opened) == 0 && ::lstat(draft.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino &&
           S_ISREG(opened.st_mode) && opened.st_nlink == 1 && opened.st_uid == ::geteuid() &&
           ::ftruncate(handle, 0) == 0;
  }

  const fs::path& file_;
  fs::path draft_;
  Descriptor out_;
  std::uint32_t sum_ = 0;
};

/// Reads a file from start to end and computes its checksum. A damaged file cannot make it allocate
/// much memory.
class Reader {
 public:
  explicit Reader(const fs::path& file) : file_(file), in_(open()), size_(length()) {}

  void bytes(void* into, std::size_t size) {
    read_at(at_, into, size);
    sum_ = checksum(sum_, into, size);
    at_ += size;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    bytes(&value, sizeof value);
    return value;
  }
  /// Reads a name and compares it with `expected`. Returns the name if it differs, for the message.
  std::string name(const std::string& expected) {
    const std::uint64_t size = number();
    if (size > std::max<std::size_t>(expected.size(), 4096))
      refuse(file_, "damaged: a name of " + std::to_string(size) + " bytes");
    std::string value(static_cast<std::size_t>(size), '\0');
    bytes(value.data(), value.size());
    return value;
  }
  /// Skips the next `size` bytes. Returns their position.
  std::uint64_t skip(std::uint64_t size) {
    const std::uint64_t begin = at_;
    if (size > size_ - at_) refuse(file_, "it ends too early");
    std::vector<std::byte> part(static_cast<std::size_t>(std::min<std::uint64_t>(size, 1U << 20U)));
    while (at_ < begin + size)
      bytes(part.data(), std::min<std::uint64_t>(part.size(), begin + size - at_));
    return begin;
  }
  void read_at(std::uint64_t at, void* into, std::size_t size) const {
    if (at > size_ || size > size_ - at) refuse(file_, "it ends too early");
    auto* to = static_cast<char*>(into);
    while (size > 0) {
      const ssize_t got = ::pread(in_.get(), to, size, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(file_, "cannot be read: " + system_says());
      if (got == 0) refuse(file_, "it ends too early");
      to += got;
      at += static_cast<std::uint64_t>(got);
      size -= static_cast<std::size_t>(got);
    }
  }
  [[nodiscard]] std::uint32_t sum() const { return sum_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool done() const { return at_ == size_; }

 private:
  int open() {
    std::error_code error;
    if (fs::exists(file_, error) && !fs::is_regular_file(file_, error))
      refuse(file_, "not a regular file");
    const int handle = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) refuse(file_, "cannot be opened: " + system_says());
    return handle;
  }
  [[nodiscard]] std::uint64_t length() const {
    struct stat status {};
    if (::fstat(in_.get(), &status) != 0) refuse(file_, "cannot be read: " + system_says());
    return static_cast<std::uint64_t>(status.st_size);
  }

  const fs::path& file_;
  Descriptor in_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
  std::uint32_t sum_ = 0;
};

}  // namespace

void write_checkpoint(const fs::path& file, const CheckpointParts& parts, Memory& memory) {
  Writer out{file};
  out.bytes(magic.data(), magic.size());
  out.number(version);
  out.text(parts.kernel);
  out.number(parts.state.size());
  out.bytes(parts.state.data(), parts.state.size());
  out.number(parts.buffers.size());
  std::vector<std::byte> copy;
  for (const auto& [name, bytes] : parts.buffers) {
    out.text(name);
    out.number(bytes.size());
    if (memory.reached_by_host() || bytes.empty()) {
      out.bytes(bytes.data(), bytes.size());
    } else {
      copy.resize(bytes.size());
      memory.read(copy.data(), bytes.data(), bytes.size());
      out.bytes(copy.data(), copy.size());
    }
  }
  out.finish();
}

void read_checkpoint(const fs::path& file, const CheckpointParts& parts, Memory& memory) {
  const auto& [kernel, state, buffers] = parts;
  Reader in{file};
  std::array<char, magic.size()> its_magic{};
  if (in.size() < magic.size()) refuse(file, "not a checkpoint of cohort");
  in.bytes(its_magic.data(), its_magic.size());
  if (its_magic != magic) refuse(file, "not a checkpoint of cohort");
  const std::uint64_t its_version = in.number();
  if (its_version != version) {
    refuse(file, "format " + std::to_string(its_version) + "; this library reads format " +
                     std::to_string(version));
  }
  const std::string its_kernel = in.name(kernel);
  if (its_kernel != kernel)
    refuse(file, "of the kernel '" + its_kernel + "', not '" + kernel + "'");
  const std::uint64_t state_size = in.number();
  if (state_size != state.size()) {
    refuse(file, "its State has " + std::to_string(state_size) + " bytes, this kernel's has " +
                     std::to_string(state.size()));
  }
  const std::uint64_t state_at = in.skip(state_size);
  if (in.number() != buffers.size())
    refuse(file, "it has another number of buffers than this kernel");
  std::vector<std::uint64_t> data_at;
  for (const NamedMemory& buffer : buffers) {
    const std::string name = in.name(buffer.name);
    const std::uint64_t size = in.number();
    if (name != buffer.name || size != buffer.bytes.size()) {
      refuse(file, "it has the buffer '" + name + "' of " + std::to_string(size) +
                       " bytes where this kernel has '" + buffer.name + "' of " +
                       std::to_string(buffer.bytes.size()));
    }
    data_at.push_back(in.skip(size));
  }
  const std::uint32_t sum = in.sum();
  if (in.number() != sum) refuse(file, "damaged: wrong checksum");
  if (!in.done()) refuse(file, "there is more in it than there should be");

  // The whole file fits and its checksum is right: only now change the kernel's memory.
  in.read_at(state_at, state.data(), state.size());
  std::vector<std::byte> copy;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::span<std::byte> bytes = buffers[i].bytes;
    if (memory.reached_by_host() || bytes.empty()) {
      in.read_at(data_at[i], bytes.data(), bytes.size());
    } else {
      copy.resize(bytes.size());
      in.read_at(data_at[i], copy.data(), copy.size());
      memory.write(bytes.data(), copy.data(), copy.size());
    }
  }
}

}  // namespace cohort::detail
