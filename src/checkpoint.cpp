// The file: magic, version, kernel, State, buffers (each with its name and size), CRC-32 of all
// that.
#include "cohort/checkpoint.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "cohort/error.hpp"

namespace cohort::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> magic{'c', 'o', 'h', 'o', 'r', 't', 'c', 'p'};
constexpr std::uint32_t version = 1;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error{Errc::bad_file, "checkpoint " + file.string() + ": " + why};
}

std::uint32_t checksum(std::uint32_t so_far, const void* data, std::size_t size) {
  if (size == 0) return so_far;  // an empty buffer may be null, at which zlib would start anew
  return static_cast<std::uint32_t>(crc32_z(so_far, static_cast<const Bytef*>(data), size));
}

/// Writes and sums up.
class Writer {
 public:
  explicit Writer(const fs::path& file) : out_(file, std::ios::binary | std::ios::trunc) {}

  void bytes(const void* data, std::size_t size) {
    out_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    sum_ = checksum(sum_, data, size);
  }
  void number(std::uint64_t value) { bytes(&value, sizeof value); }
  void text(const std::string& value) {
    number(value.size());
    bytes(value.data(), value.size());
  }
  /// The sum itself, last. False when anything could not be written.
  bool finish() {
    const std::uint64_t sum = sum_;
    out_.write(reinterpret_cast<const char*>(&sum), sizeof sum);
    out_.close();
    return out_.good();
  }

 private:
  std::ofstream out_;
  std::uint32_t sum_ = 0;
};

/// Walks through the bytes of a file; everything it hands out lies inside them.
class Reader {
 public:
  Reader(const fs::path& file, std::span<const std::byte> bytes) : file_(file), rest_(bytes) {}

  std::span<const std::byte> bytes(std::uint64_t size) {
    if (size > rest_.size()) refuse(file_, "it ends too early");
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto taken = bytes(number());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  [[nodiscard]] bool done() const { return rest_.empty(); }

 private:
  const fs::path& file_;
  std::span<const std::byte> rest_;
};

std::vector<std::byte> whole(const fs::path& file) {
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) refuse(file, "not a file");
  std::ifstream in{file, std::ios::binary | std::ios::ate};
  if (!in)
    refuse(file, std::string{"cannot be opened: "} +
                     std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
  std::vector<std::byte> bytes(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) refuse(file, "cannot be read");
  return bytes;
}

void sync(const fs::path& file) {
  const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) return;
  ::fsync(handle);
  ::close(handle);
}

}  // namespace

void write_checkpoint(const fs::path& file, const std::string& kernel,
                      std::span<const std::byte> state, const std::vector<NamedMemory>& buffers) {
  const fs::path draft = file.string() + ".part" + std::to_string(::getpid());
  Writer out{draft};
  out.bytes(magic.data(), magic.size());
  out.number(version);
  out.text(kernel);
  out.number(state.size());
  out.bytes(state.data(), state.size());
  out.number(buffers.size());
  for (const NamedMemory& buffer : buffers) {
    out.text(buffer.name);
    out.number(buffer.bytes.size());
    out.bytes(buffer.bytes.data(), buffer.bytes.size());
  }
  std::error_code error;
  if (!out.finish()) {
    fs::remove(draft, error);
    refuse(file, "cannot be written; is the folder there, and has the disk room?");
  }
  sync(draft);
  fs::rename(draft, file, error);
  if (error) {
    const std::string why = error.message();
    fs::remove(draft, error);
    refuse(file, "cannot be written: " + why);
  }
}

void read_checkpoint(const fs::path& file, const std::string& kernel, std::span<std::byte> state,
                     const std::vector<NamedMemory>& buffers) {
  const std::vector<std::byte> content = whole(file);
  if (content.size() < magic.size() + sizeof(std::uint64_t) ||
      std::memcmp(content.data(), magic.data(), magic.size()) != 0) {
    refuse(file, "not a checkpoint of cohort");
  }
  const auto body = std::span{content}.first(content.size() - sizeof(std::uint64_t));
  Reader last{file, std::span{content}.last(sizeof(std::uint64_t))};
  Reader in{file, body.subspan(magic.size())};
  const std::uint64_t its_version = in.number();
  if (its_version != version) {
    refuse(file, "format " + std::to_string(its_version) + "; this library reads format " +
                     std::to_string(version));
  }
  if (last.number() != checksum(0, body.data(), body.size()))
    refuse(file, "damaged: wrong checksum");

  const std::string its_kernel = in.text();
  if (its_kernel != kernel)
    refuse(file, "of the kernel '" + its_kernel + "', not '" + kernel + "'");
  const auto its_state = in.bytes(in.number());
  if (its_state.size() != state.size()) {
    refuse(file, "its State has " + std::to_string(its_state.size()) +
                     " bytes, this kernel's has " + std::to_string(state.size()));
  }
  if (in.number() != buffers.size())
    refuse(file, "it has another number of buffers than this kernel");
  std::vector<std::span<const std::byte>> data;
  for (const NamedMemory& buffer : buffers) {
    const std::string name = in.text();
    data.push_back(in.bytes(in.number()));
    if (name != buffer.name || data.back().size() != buffer.bytes.size()) {
      refuse(file, "it has the buffer '" + name + "' of " + std::to_string(data.back().size()) +
                       " bytes where this kernel has '" + buffer.name + "' of " +
                       std::to_string(buffer.bytes.size()));
    }
  }
  if (!in.done()) refuse(file, "there is more in it than there should be");

  std::ranges::copy(its_state, state.begin());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    std::ranges::copy(data[i], buffers[i].bytes.begin());  // may be empty, and then it is nowhere
  }
}

}  // namespace cohort::detail
