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
#include "src/files.hpp"

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

/// Whether `file` exists and is not a regular file: a pipe, a terminal, /dev/stdout.
bool is_stream(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) && !fs::is_regular_file(file, ignored);
}

void write_into(const fs::path& stream, std::string_view content) {
  Descriptor out{::open(stream.c_str(), O_WRONLY | O_CLOEXEC)};
  if (!out.open() || !out.write(content.data(), content.size()) || !out.close())
    refuse(stream, errno);
}

/// Writes a temporary file next to `file`, flushes it to the disk, and renames it.
void replace(const fs::path& file, std::string_view content) {
  std::string draft = file.string() + ".XXXXXX";
  Descriptor out{::mkostemp(draft.data(), O_CLOEXEC)};
  if (!out.open()) refuse(file, errno);
  const mode_t mask = ::umask(0);  // mkostemp's 0600 is stricter than the umask
  ::umask(mask);
  if (out.write(content.data(), content.size()) && ::fchmod(out.get(), 0666U & ~mask) == 0 &&
      ::fsync(out.get()) == 0 && out.close() && ::rename(draft.c_str(), file.c_str()) == 0)
    return;
  const int error = errno;
  ::unlink(draft.c_str());
  refuse(file, error);
}

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

nlohmann::ordered_json to_json(const Summary& summary) {
  return {
      {"count", summary.count}, {"p50", summary.p50}, {"p99", summary.p99}, {"max", summary.max}};
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
  } else {
    replace(file, content);
  }
}

}  // namespace cohort::tool
