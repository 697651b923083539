#include "tenant/rendezvous.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "cohort/error.hpp"

namespace cohort::tenant {
namespace {

constexpr std::string_view socket_suffix = ".sock";
constexpr std::string_view lock_suffix = ".lock";
[[noreturn]] void distrust(const std::string& path, const std::string& why) {
  throw Error{Errc::unsupported, "tenants: " + path + " " + why};
}

[[noreturn]] void fail(const std::string& what) {
  throw Error{Errc::unsupported, "tenants: " + what + ": " + std::strerror(errno)};
}

/// $XDG_RUNTIME_DIR, if it is an absolute path and exists.
std::optional<std::string> runtime_folder() {
  const char* const text = std::getenv("XDG_RUNTIME_DIR");
  if (text == nullptr || *text != '/' || ::access(text, F_OK) != 0) return {};
  return text;
}

std::string private_name() { return "cohort-" + std::to_string(::geteuid()); }

Descriptor open_parent(const std::string& path, bool own) {
  Descriptor parent{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  struct stat status {};
  if (!parent.open() || ::fstat(parent.get(), &status) != 0) fail("cannot open " + path);
  if (own && status.st_uid != ::geteuid()) {
    distrust(path, "belongs to user " + std::to_string(status.st_uid) +
                       ", not to you; unset XDG_RUNTIME_DIR or set it to a folder of your own");
  }
  const bool open_to_others = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (open_to_others && (own || (status.st_mode & S_ISVTX) == 0))
    distrust(path, "can be changed by other users; run chmod go-w on it");
  return parent;
}

Descriptor make_folder(const Descriptor& parent, const std::string& name, const std::string& path) {
  if (::mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST)
    fail("cannot create " + path);
  struct stat found {};
  if (::fstatat(parent.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISDIR(found.st_mode))
    distrust(path, "is not a folder, but a link or a file that was put there; remove it");
  Descriptor folder{
      ::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  struct stat status {};
  if (!folder.open() || ::fstat(folder.get(), &status) != 0) {
    if (found.st_uid != ::geteuid())
      distrust(path, "belongs to user " + std::to_string(found.st_uid) + ", not to you; remove it");
    fail("cannot open " + path);
  }
  if (status.st_uid != ::geteuid())
    distrust(path, "belongs to user " + std::to_string(status.st_uid) + ", not to you; remove it");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    distrust(path, "is open to other users; run chmod 700 on it, or remove it");
  return folder;
}

/// The address of a socket, by way of the folder's descriptor. The folder's path may be too long
/// for an address, and it could be replaced after it was checked.
sockaddr_un address_in(const Descriptor& folder, const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder.get()) + "/" + file;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

Descriptor make_socket() {
  Descriptor made{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!made.open()) fail("cannot make a socket");
  return made;
}

/// The names that engines of this process have claimed. A process must not open such a lock file
/// again, because closing it would drop the lock.
class OwnNames {
 public:
  bool add(const std::string& key) {
    const std::lock_guard lock{mutex_};
    return names_.insert(key).second;
  }
  void remove(const std::string& key) {
    const std::lock_guard lock{mutex_};
    names_.erase(key);
  }
  bool has(const std::string& key) {
    const std::lock_guard lock{mutex_};
    return names_.contains(key);
  }
  /// Held while this process tests the locks of other engines. Record locks do not exclude threads
  /// of the same process, so an engine that this process starts meanwhile would seem dead.
  std::mutex claiming;
  static OwnNames& get() {
    // Leaked, because it must outlive engines with static lifetime.
    static OwnNames* const names = new OwnNames;
    return *names;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};

std::string key_of(const Descriptor& folder, const std::string& name) {
  struct stat status {};
  if (::fstat(folder.get(), &status) != 0) fail("cannot read " + folder_path());
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + "/" + name;
}

enum class Locked : std::uint8_t { yes, no, replaced };

/// Locks the file against other processes. It is a record lock, because a child of fork() that
/// outlives this process must not keep the lock.
Locked lock_file(const Descriptor& folder, const std::string& file, const Descriptor& open) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  if (::fcntl(open.get(), F_SETLK, &range) != 0) return Locked::no;
  struct stat held {};
  struct stat there {};
  const bool same = ::fstat(open.get(), &held) == 0 &&
                    ::fstatat(folder.get(), file.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                    held.st_ino == there.st_ino && held.st_dev == there.st_dev;
  return same ? Locked::yes : Locked::replaced;
}

/// The process that holds the lock. Empty if no process does, 0 if it is in another container.
std::optional<pid_t> holder_of(const Descriptor& open) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  if (::fcntl(open.get(), F_GETLK, &range) != 0 || range.l_type == F_UNLCK) return {};
  return range.l_pid;
}

std::vector<std::string> files_in(const Descriptor& folder, std::string_view suffix) {
  std::vector<std::string> names;
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = copy >= 0 ? ::fdopendir(copy) : nullptr;
  if (listing == nullptr) {
    if (copy >= 0) ::close(copy);
    return names;
  }
  while (const dirent* const entry = ::readdir(listing)) {
    const std::string_view file = entry->d_name;
    if (file.starts_with('.') || !file.ends_with(suffix)) continue;
    names.emplace_back(file.substr(0, file.size() - suffix.size()));
  }
  ::closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

void remove_files(const Descriptor& folder, const std::string& name) {
  for (const std::string& file :
       {name + std::string{socket_suffix}, "." + name, name + std::string{lock_suffix}})
    ::unlinkat(folder.get(), file.c_str(), 0);
}

/// Removes the files of dead engines. An engine that starts meanwhile notices that its lock file
/// was replaced.
void sweep(const Descriptor& folder) {
  for (const std::string& name : files_in(folder, lock_suffix)) {
    if (OwnNames::get().has(key_of(folder, name))) continue;
    const std::string file = name + std::string{lock_suffix};
    const Descriptor open{
        ::openat(folder.get(), file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (open.open() && lock_file(folder, file, open) == Locked::yes) remove_files(folder, name);
  }
}

}  // namespace

void check_name(const std::string& what, const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= 64 && name.front() != '.' &&
      std::all_of(name.begin(), name.end(), fits))
    return;
  std::string shown = name.substr(0, 80);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c == '\x7f'; }, '?');
  throw Error{Errc::bad_options, what + " '" + shown +
                                     "': a name has 1 to 64 letters, digits, dots, dashes or "
                                     "underscores, and does not start with a dot"};
}

std::string folder_path() {
  const auto runtime = runtime_folder();
  return runtime ? *runtime + "/cohort" : "/tmp/" + private_name();
}

Descriptor open_folder() {
  const auto runtime = runtime_folder();
  const Descriptor parent = open_parent(runtime.value_or("/tmp"), runtime.has_value());
  return make_folder(parent, runtime ? "cohort" : private_name(), folder_path());
}

Claim::Claim(std::string name)
    : name_(std::move(name)),
      folder_((check_name("engine: share =", name_), open_folder())),
      key_(key_of(folder_, name_)) {
  if (!OwnNames::get().add(key_)) {
    throw Error{Errc::bad_options, "engine: share = '" + name_ +
                                       "': another engine of this process has that name; choose "
                                       "another one"};
  }
  try {
    {
      const std::lock_guard claiming{OwnNames::get().claiming};
      sweep(folder_);
      lock();
    }
    listen();
  } catch (...) {
    if (lock_.open()) remove_files(folder_, name_);
    lock_ = Descriptor{};
    OwnNames::get().remove(key_);
    throw;
  }
}

Claim::~Claim() {
  remove_files(folder_, name_);
  lock_ = Descriptor{};  // last: once the files are gone, another engine may take the name
  OwnNames::get().remove(key_);
}

void Claim::lock() {
  constexpr std::uint32_t most_tries = 1000;  // one try takes a millisecond
  const std::string file = name_ + std::string{lock_suffix};
  for (std::uint32_t tries = 1;; ++tries) {
    Descriptor open{::openat(folder_.get(), file.c_str(),
                             O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)};
    if (!open.open()) fail("cannot create " + folder_path() + "/" + file);
    switch (lock_file(folder_, file, open)) {
      case Locked::yes: lock_ = std::move(open); return;
      case Locked::replaced:
      case Locked::no: break;
    }
    const auto holder = holder_of(open);
    // The holder may be starting, may be removing the files of a dead engine, or may just have
    // ended.
    if (tries < most_tries && (!holder || !connect(folder_, name_))) {
      ::poll(nullptr, 0, 1);
      continue;
    }
    if (!holder) {
      distrust(folder_path() + "/" + file,
               "cannot be locked; set XDG_RUNTIME_DIR to a folder of a file system with locks");
    }
    throw Error{Errc::bad_options, "engine: share = '" + name_ + "': process " +
                                       std::to_string(*holder) +
                                       " shares an engine under that name; choose another one"};
  }
}

/// Binds the socket under a draft name, and renames it once clients can connect to it.
void Claim::listen() {
  const std::string unfinished = "." + name_;
  const std::string file = name_ + std::string{socket_suffix};
  ::unlinkat(folder_.get(), unfinished.c_str(), 0);
  socket_ = make_socket();
  const sockaddr_un address = address_in(folder_, unfinished);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0 ||
      ::renameat(folder_.get(), unfinished.c_str(), folder_.get(), file.c_str()) != 0)
    fail("cannot listen on " + folder_path() + "/" + file);
}

std::optional<Peer> identify(Descriptor socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0 ||
      credentials.uid != ::geteuid())
    return {};
  Peer peer{.socket = std::move(socket), .pid = credentials.pid, .process = Descriptor{}};
  // The process is 0 if it is in another container. Then only its socket tells when it ends.
  if (peer.pid > 0)
    peer.process = Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0))};
  return peer;
}

std::optional<Peer> connect(const Descriptor& folder, const std::string& name) {
  Descriptor socket = make_socket();
  const sockaddr_un address = address_in(folder, name + std::string{socket_suffix});
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
         0) {
    if (errno != EINTR) return {};
  }
  errno = 0;
  auto peer = identify(std::move(socket));
  // The engine is dead, but a child of it may still have its socket.
  if (peer && !peer->process.open() && errno == ESRCH) return {};
  return peer;
}

std::vector<std::string> names_in(const Descriptor& folder) {
  return files_in(folder, socket_suffix);
}

}  // namespace cohort::tenant
