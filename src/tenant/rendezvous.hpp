// Where the engines and tenants of one user find each other: a private folder with a socket for
// each shared engine. Invariant: the folder belongs to this user and is closed to all others. An
// engine owns its name from the moment it holds the lock on NAME.lock.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "files.hpp"

namespace cohort::tenant {

/// Throws Error{bad_options} unless an engine may have that name. `what` begins the message.
void check_name(const std::string& what, const std::string& name);

/// The path of the folder, for messages.
[[nodiscard]] std::string folder_path();
/// The folder, created if it is missing. Throws Error{unsupported} if it cannot be trusted.
[[nodiscard]] Descriptor open_folder();

/// An engine's name, owned by this process, and the socket on which the engine listens.
class Claim {
 public:
  /// Replaces the socket of a dead engine of that name. Throws Error{bad_options} if a living
  /// engine has the name.
  explicit Claim(std::string name);
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  /// Removes the socket. Must not run in a child of fork().
  ~Claim();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  void lock();
  void listen();

  const std::string name_;
  const Descriptor folder_;
  const std::string key_;  // key in the list of this process's names
  Descriptor lock_;
  Descriptor socket_;
};

/// A connection, and the process at its other end.
struct Peer {
  Descriptor socket;
  pid_t pid = 0;
  // Becomes readable when the process ends; not open if the system has no such descriptor.
  Descriptor process;
};

/// Connects to the engine of that name. Empty if there is none, or if its process has ended.
[[nodiscard]] std::optional<Peer> connect(const Descriptor& folder, const std::string& name);

/// The process at the other end of a connection. Empty if it belongs to another user.
[[nodiscard]] std::optional<Peer> identify(Descriptor socket);

/// The names of the sockets in the folder, sorted. Some of their engines may be dead.
[[nodiscard]] std::vector<std::string> names_in(const Descriptor& folder);

}  // namespace cohort::tenant
