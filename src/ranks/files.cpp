// Checkpoints of jobs on several ranks. A file is a header, its contents, and a CRC-32 of both.
#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "cohort/ranks.hpp"

namespace cohort {
namespace {

namespace fs = std::filesystem;
using protocol::Bytes;
using protocol::Manifest;
using protocol::ParcelReader;
using protocol::ParcelWriter;

constexpr std::array<char, 8> magic{'c', 'o', 'h', 'o', 'r', 't', 's', '1'};

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error{Errc::bad_file, "checkpoint " + file.string() + ": " + why};
}
std::string system_says() { return std::generic_category().message(errno); }

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Writes a draft, which replaces the file when it is on the disk.
void write_file(const fs::path& file, const std::string& job, const Bytes& contents) {
  Bytes bytes;
  ParcelWriter writer{bytes};
  writer.value(magic);
  writer.list(std::span{job});
  writer.list(contents);
  writer.value(checksum(bytes));
  const fs::path draft = file.string() + ".part";
  Descriptor out{::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (!out.open() || !out.write(bytes.data(), bytes.size()) || ::fsync(out.get()) != 0 ||
      !out.close() || ::rename(draft.c_str(), file.c_str()) != 0)
    refuse(file, "cannot be written: " + system_says());
}

Bytes read_file(const fs::path& file, const std::string& job) {
  const Descriptor in{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (!in.open() || ::fstat(in.get(), &status) != 0)
    refuse(file, "cannot be opened: " + system_says());
  Bytes bytes(static_cast<std::size_t>(status.st_size));
  if (!in.read(bytes.data(), bytes.size())) refuse(file, "cannot be read: " + system_says());
  constexpr std::size_t tail = sizeof(std::uint32_t);
  if (bytes.size() < magic.size() + tail) refuse(file, "it ends too early");
  const auto body = std::span{bytes}.first(bytes.size() - tail);
  ParcelReader reader{body};
  if (reader.value<std::array<char, 8>>() != magic) refuse(file, "not a checkpoint of a shard");
  if (ParcelReader{std::span{bytes}.last(tail)}.value<std::uint32_t>() != checksum(body))
    refuse(file, "damaged: wrong checksum");
  const std::vector<char> its = reader.list<char>();
  if (const std::string name{its.begin(), its.end()}; name != job)
    refuse(file, "of the job '" + name + "', not '" + job + "'; give another folder");
  return reader.list<std::byte>();
}

constexpr const char* manifest_name = "manifest";

}  // namespace

fs::path ShardFiles::file_of(std::uint64_t generation, std::uint32_t shard) const {
  return folder_ / ("shard-" + std::to_string(generation) + "." + std::to_string(shard));
}

void ShardFiles::write(std::uint64_t generation, std::uint32_t shard, const Bytes& bytes) const {
  fs::create_directories(folder_);
  write_file(file_of(generation, shard), job_, bytes);
}

Bytes ShardFiles::read(std::uint64_t generation, std::uint32_t shard) const {
  return read_file(file_of(generation, shard), job_);
}

void ShardFiles::publish(const Manifest& manifest) const {
  Bytes bytes;
  ParcelWriter writer{bytes};
  writer.value(manifest.superstep);
  writer.value(manifest.shards);
  writer.list(manifest.state);
  write_file(folder_ / manifest_name, job_, bytes);
}

std::optional<Manifest> ShardFiles::published() const {
  const fs::path file = folder_ / manifest_name;
  if (!fs::exists(file)) return {};
  // A checksum finds accidents. Shards that somebody has made up could do anything to this process.
  if ((fs::status(folder_).permissions() & fs::perms::others_write) != fs::perms::none)
    refuse(folder_, "everybody can write to it; run chmod o-w, if you trust what is there");
  const Bytes bytes = read_file(file, job_);
  ParcelReader reader{bytes};
  Manifest manifest;
  manifest.superstep = reader.value<std::uint64_t>();
  manifest.shards = reader.value<std::uint32_t>();
  manifest.state = reader.list<std::byte>();
  return manifest;
}

void ShardFiles::prune(std::uint64_t generation) const {
  for (const fs::directory_entry& each : fs::directory_iterator{folder_}) {
    constexpr std::string_view prefix = "shard-";
    const std::string name = each.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::uint64_t its = 0;
    const auto parsed =
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), its);
    if (parsed.ec == std::errc{} && its < generation) fs::remove(each.path());
  }
}

void ShardFiles::clear() const {
  fs::remove(folder_ / manifest_name);
  if (fs::exists(folder_)) prune(~std::uint64_t{0});
}

}  // namespace cohort
