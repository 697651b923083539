#include "program/cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace cohort::program {
namespace {

namespace fs = std::filesystem;

fs::path from_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody here changes it
  return value == nullptr ? "" : value;
}

fs::path named_folder(const ProgramOptions& options) {
  if (options.cache) return *options.cache;
  if (fs::path named = from_environment("COHORT_CACHE"); !named.empty()) return named;
  if (const fs::path base = from_environment("XDG_CACHE_HOME"); !base.empty())
    return base / "cohort" / "programs";
  if (const fs::path home = from_environment("HOME"); !home.empty())
    return home / ".cache" / "cohort" / "programs";
  return fs::temp_directory_path() / ("cohort-programs-" + std::to_string(::geteuid()));
}

[[noreturn]] void refuse(const fs::path& cache, const std::string& why) {
  throw Error{Errc::bad_options, "cache of compiled programs " + cache.string() + ": " + why +
                                     "; set COHORT_CACHE to a folder of your own"};
}

std::string reason(int error) { return std::generic_category().message(error); }

/// A link counts as much as the folder behind it: in /tmp anybody can make one to a folder of ours.
void check_owner(const fs::path& cache) {
  struct stat link {};
  struct stat folder {};
  if (::lstat(cache.c_str(), &link) != 0 || ::stat(cache.c_str(), &folder) != 0)
    refuse(cache, reason(errno));
  if (!S_ISDIR(folder.st_mode)) refuse(cache, "not a folder");
  const uid_t user = ::geteuid();
  for (const uid_t owner : {link.st_uid, folder.st_uid}) {
    if (owner != user) {
      refuse(cache, "it belongs to user " + std::to_string(owner) +
                        ", but programs in it would run as user " + std::to_string(user));
    }
  }
  if ((folder.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    refuse(cache, "other users can write to it (chmod go-w)");
}

}  // namespace

fs::path cache_folder(const ProgramOptions& options) {
  fs::path cache = fs::absolute(named_folder(options));
  std::error_code error;
  fs::create_directories(cache.parent_path(), error);
  if (::mkdir(cache.c_str(), S_IRWXU) != 0 && errno != EEXIST) refuse(cache, reason(errno));
  check_owner(cache);
  return cache;
}

Scratch::Scratch(const fs::path& cache) : cache_(cache) {
  std::string name = cache / "new-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) refuse(cache, reason(errno));
  folder_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Scratch::keep(const fs::path& made, const fs::path& kept) const {
  // Whatever the umask: what is loaded later must not be writable by a group.
  if (::chmod(made.c_str(), S_IRWXU) != 0 || ::rename(made.c_str(), kept.c_str()) != 0)
    refuse(cache_, reason(errno));
}

}  // namespace cohort::program
