#include "program/cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
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

[[noreturn]] void refuse(const fs::path& cache, const std::string& why) {
  throw Error{Errc::bad_options, "cache of compiled programs " + cache.string() + ": " + why +
                                     "; set COHORT_CACHE to a folder of your own"};
}

std::string reason(int error) { return std::generic_category().message(error); }

/// The cache for COHORT_CACHE=off: a folder that this process removes when it exits.
const fs::path& folder_of_this_process() {
  struct Folder {
    fs::path path;
    Folder() {
      std::string name = fs::temp_directory_path() / "cohort-programs-XXXXXX";
      if (::mkdtemp(name.data()) == nullptr) refuse(name, reason(errno));
      path = name;
    }
    ~Folder() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

fs::path named_folder(const ProgramOptions& options) {
  if (options.cache) return *options.cache;
  if (fs::path named = from_environment("COHORT_CACHE"); !named.empty())
    return named == "off" ? folder_of_this_process() : named;
  if (const fs::path base = from_environment("XDG_CACHE_HOME"); !base.empty())
    return base / "cohort" / "programs";
  if (const fs::path home = from_environment("HOME"); !home.empty())
    return home / ".cache" / "cohort" / "programs";
  return fs::temp_directory_path() / ("cohort-programs-" + std::to_string(::geteuid()));
}

/// Checks that no other user could replace the cache. Symbolic links are checked as well as the
/// folder: in /tmp, any user can create a link to one of our folders.
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

int open_folder(const fs::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// Tries to lock the folder. Returns false if this process now holds the lock, or if the file
/// system has no locks.
bool is_locked_elsewhere(int folder) {
  return ::flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Removes the scratch folders of killed processes: the ones that no process has locked.
void remove_abandoned(const fs::path& cache) {
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator{cache, ignored}) {
    if (!each.path().filename().string().starts_with("new-")) continue;
    const int folder = open_folder(each.path());
    if (folder < 0) continue;
    if (::flock(folder, LOCK_EX | LOCK_NB) == 0) fs::remove_all(each.path(), ignored);
    ::close(folder);
  }
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
  remove_abandoned(cache);
  do {
    if (lock_ >= 0) ::close(lock_);
    std::string name = cache / "new-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) refuse(cache, reason(errno));
    folder_ = name;
    lock_ = open_folder(folder_);
    if (lock_ < 0 && errno != ENOENT) refuse(cache, reason(errno));
    // Until the new folder is locked, another process may consider it abandoned and remove it.
  } while (lock_ < 0 || is_locked_elsewhere(lock_) || !fs::exists(folder_));
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  ::close(lock_);
}

void Scratch::keep(const fs::path& made, const fs::path& kept) const {
  // Sets the mode independently of the umask: a group must not be able to write to files that are
  // loaded as code.
  if (::chmod(made.c_str(), S_IRWXU) != 0 || ::rename(made.c_str(), kept.c_str()) != 0)
    refuse(cache_, reason(errno));
}

}  // namespace cohort::program
