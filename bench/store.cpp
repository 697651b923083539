#include "bench/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "cohort/error.hpp"
#include "tool/record.hpp"

namespace cohort::bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, int error) {
  throw Error{Errc::bad_options, "cannot write '" + file.string() +
                                     "': " + std::generic_category().message(error) +
                                     "; choose another folder"};
}

int opened(const fs::path& file) {
  tool::check_writable(file);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse(file, errno);
  return descriptor;
}

std::string content_of(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  if (!in) {
    throw Error{Errc::bad_file,
                "cannot read '" + file.string() + "': " + std::generic_category().message(errno)};
  }
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::vector<Store::Json> parse(const fs::path& file, const std::string& content) {
  std::vector<Store::Json> lines;
  std::size_t begin = 0;
  for (std::size_t end = content.find('\n'); end != std::string::npos;
       begin = end + 1, end = content.find('\n', begin)) {
    Store::Json line =
        Store::Json::parse(content.begin() + static_cast<std::ptrdiff_t>(begin),
                           content.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_object()) {
      throw Error{Errc::bad_file, "'" + file.string() + "', line " +
                                      std::to_string(lines.size() + 1) +
                                      ": not a sample; remove the file or choose another folder"};
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The name of the first field in which they differ, `time` excepted.
std::string difference(const Store::Json& a, const Store::Json& b) {
  for (const auto& [name, value] : a.items()) {
    if (name != "time" && (!b.contains(name) || b[name] != value)) return name;
  }
  for (const auto& [name, value] : b.items()) {
    if (!a.contains(name)) return name;
  }
  return "";
}

}  // namespace

std::vector<Store::Json> read_lines(const fs::path& file) { return parse(file, content_of(file)); }

Store::Store(fs::path file, Json header)
    : file_(std::move(file)), out_(opened(file_)), header_(std::move(header)) {
  if (::flock(out_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error{Errc::bad_options, "'" + file_.string() +
                                       "' is being written by another run; wait for it, or "
                                       "choose another folder"};
  }
  std::string content = content_of(file_);
  const std::size_t whole = content.rfind('\n') + 1;  // no newline: npos + 1 is 0
  if (whole != content.size()) {                      // the previous run was killed during a write
    content.resize(whole);
    if (::ftruncate(out_.get(), static_cast<off_t>(whole)) != 0) refuse(file_, errno);
  }
  samples_ = parse(file_, content);
  if (samples_.empty()) {
    append(header_);
    return;
  }
  const std::string other = difference(samples_.front(), header_);
  if (!other.empty()) {
    throw Error{Errc::bad_options, "'" + file_.string() + "' holds samples with another " + other +
                                       "; choose another folder, or remove it to begin anew"};
  }
  header_ = samples_.front();
  samples_.erase(samples_.begin());
}

const Store::Json* Store::find(const std::string& key) const {
  const auto found =
      std::ranges::find_if(samples_, [&key](const Json& sample) { return sample["key"] == key; });
  return found == samples_.end() ? nullptr : &*found;
}

bool Store::has(const std::string& key) const { return find(key) != nullptr; }

void Store::add(Json sample) {
  if (out_.open()) append(sample);
  samples_.push_back(std::move(sample));
}

void Store::append(const Json& line) {
  const std::string text = line.dump() + "\n";
  const off_t before = ::lseek(out_.get(), 0, SEEK_END);
  if (!out_.write(text.data(), text.size())) {
    const int error = errno;
    if (::ftruncate(out_.get(), before) != 0) refuse(file_, errno);
    refuse(file_, error);
  }
  if (::fsync(out_.get()) != 0) refuse(file_, errno);
}

}  // namespace cohort::bench
