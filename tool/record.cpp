#include "tool/record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "cohort/cpu.hpp"
#include "cohort/version.hpp"

namespace cohort::tool {
namespace {

namespace fs = std::filesystem;

std::string cpu_model() {
  std::ifstream file{"/proc/cpuinfo"};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return "unknown";
}

std::string operating_system() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return std::string{names.sysname} + " " + names.release + " " + names.machine;
}

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

[[noreturn]] void refuse(const fs::path& file, int error) {
  throw Error{Errc::bad_options, "cannot write '" + file.string() +
                                     "': " + std::generic_category().message(error) +
                                     "; choose another file or folder"};
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path{"."};
}

void write_all(int descriptor, std::string_view content, const fs::path& file) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(file, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Whether `file` exists and is not a regular file: a pipe, a terminal, /dev/stdout.
bool is_stream(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) && !fs::is_regular_file(file, ignored);
}

void write_into(const fs::path& stream, std::string_view content) {
  const int descriptor = ::open(stream.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) refuse(stream, errno);
  try {
    write_all(descriptor, content, stream);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  if (::close(descriptor) != 0) refuse(stream, errno);
}

/// Temporary file next to the target; deleted unless place() renames it.
class Draft {
 public:
  explicit Draft(const fs::path& file) : file_(file), name_(file.string() + ".XXXXXX") {
    descriptor_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) refuse(file_, errno);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!placed_) ::unlink(name_.c_str());
  }

  void write(std::string_view content) { write_all(descriptor_, content, file_); }

  /// Syncs to disk, then renames to the target.
  void place() {
    const mode_t mask = ::umask(0);  // mkostemp's 0600 is stricter than the umask
    ::umask(mask);
    if (::fchmod(descriptor_, 0666U & ~mask) != 0) refuse(file_, errno);
    if (::fsync(descriptor_) != 0) refuse(file_, errno);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) refuse(file_, errno);
    if (::rename(name_.c_str(), file_.c_str()) != 0) refuse(file_, errno);
    placed_ = true;
  }

 private:
  const fs::path& file_;
  std::string name_;
  int descriptor_ = -1;
  bool placed_ = false;
};

void append_text(const nlohmann::ordered_json& value, const std::string& indent,
                 std::string& text) {
  const auto structured = [](const auto& each) { return each.is_structured(); };
  if (value.is_array() ? std::ranges::none_of(value, structured) : !structured(value)) {
    text += value.dump();
    return;
  }
  text += value.is_array() ? '[' : '{';
  const char* separator = "\n";
  for (const auto& [key, each] : value.items()) {
    text.append(separator).append(indent).append(1, ' ');
    if (value.is_object()) text.append(nlohmann::json(key).dump()).append(": ");
    append_text(each, indent + " ", text);
    separator = ",\n";
  }
  text.append(1, '\n').append(indent).append(1, value.is_array() ? ']' : '}');
}

}  // namespace

nlohmann::ordered_json machine() {
  return {{"cpu", cpu_model()},
          {"cpus", std::thread::hardware_concurrency()},
          {"usable_cpus", cpu::usable_cpus()},
          {"os", operating_system()},
          {"compiler", compiler()},
#ifdef __OPTIMIZE__
          {"optimised", true}};
#else
          {"optimised", false}};
#endif
}

std::string utc_time() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm fields{};
  ::gmtime_r(&now, &fields);
  char text[sizeof "2024-05-31T12:00:00Z"];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

nlohmann::ordered_json provenance() {
  return {{"version", COHORT_VERSION},
          {"commit", commit()},
          {"time", utc_time()},
          {"machine", machine()}};
}

std::string record_text(const nlohmann::ordered_json& record) {
  std::string text;
  append_text(record, "", text);
  return text + "\n";
}

std::string file_of(std::string_view what, std::string_view engine, std::string_view extension) {
  std::string result{what};
  if (engine != "cpu") result.append(1, '-').append(engine);
  return result.append(extension);
}

void check_writable(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored) || !file.has_filename()) refuse(file, EISDIR);
  if (is_stream(file)) {
    if (::access(file.c_str(), W_OK) != 0) refuse(file, errno);
    return;
  }
  const fs::path folder = folder_of(file);
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) refuse(file, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(file, errno);
}

void write_atomically(const fs::path& file, const std::string& content) {
  check_writable(file);
  if (is_stream(file)) {
    write_into(file, content);
    return;
  }
  Draft draft{file};
  draft.write(content);
  draft.place();
}

}  // namespace cohort::tool
