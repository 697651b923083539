// A process for the tests of tenants:
//   tenant_child engine NAME CAPACITY      shares an engine with a job; prints "ready"; until
//   killed tenant_child hold NAME UNITS           prints "held N" and keeps a lease until killed or
//   told tenant_child leases NAME COUNT UNITS   takes and gives back COUNT leases; prints "leases
//   N" tenant_child fork NAME UNITS           the same as hold, with a child that outlives it
//   tenant_child connect NAME COUNT [status]   opens connections that may ask for the status;
//   prints "connected N"; until killed or told tenant_child intrude USER SOCKET       connects as
//   another user; prints "refused" or "served" tenant_child folder USER               opens the
//   rendezvous folder as another user
// A lease that does not come within a minute ends it with status 3.
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "cohort/error.hpp"
#include "cohort/tenant.hpp"
#include "tenant/rendezvous.hpp"
#include "tenant/wire.hpp"
#include "tenants/endless.hpp"

namespace {

using namespace std::chrono_literals;

void say(const std::string& line) { std::cout << line << std::endl; }  // NOLINT: must get out now

/// Waits until the parent closes the pipe, or until this time is over.
void stay(std::chrono::milliseconds time = 1min) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  ::poll(&input, 1, static_cast<int>(time.count()));
}

void become(const std::string& user) {
  const auto id = static_cast<uid_t>(std::stoul(user));
  if (::setgroups(0, nullptr) != 0 || ::setgid(id) != 0 || ::setuid(id) != 0) std::exit(4);
}

cohort::TenantLease lease_of(const cohort::Tenant& tenant, std::uint32_t units) {
  auto lease = tenant.lease_for(1min, {.units = units});
  if (!lease) std::exit(3);
  return lease;
}

int intrude(const std::string& path) {
  const cohort::Descriptor socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    say(std::string{"refused: "} + std::strerror(errno));
    return 0;
  }
  const cohort::tenant::Hello hello;
  cohort::tenant::send(socket, &hello, sizeof hello);
  char reply = 0;
  say(::recv(socket.get(), &reply, 1, 0) > 0 ? "served" : "refused");
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  const std::string& what = arguments.at(0);
  if (what == "engine") {
    cohort::cpu::Engine engine{{.capacity = static_cast<std::uint32_t>(std::stoul(arguments.at(2))),
                                .share = arguments.at(1)}};
    const cohort::test::EndlessJob job{engine};
    say("ready");
    stay();
    return 0;
  }
  if (what == "intrude") {
    become(arguments.at(1));
    return intrude(arguments.at(2));
  }
  if (what == "connect") {
    const auto count = std::stoul(arguments.at(2));
    std::vector<cohort::Descriptor> sockets;
    while (sockets.size() < count) {
      auto peer = cohort::tenant::connect(cohort::tenant::open_folder(), arguments.at(1));
      if (!peer) {  // the engine's backlog is full, so try again
        std::this_thread::sleep_for(1ms);
        continue;
      }
      cohort::tenant::Hello hello;
      hello.kind = cohort::tenant::Kind::status;
      if (arguments.size() > 3) cohort::tenant::send(peer->socket, &hello, sizeof hello);
      sockets.push_back(std::move(peer->socket));
    }
    say("connected " + std::to_string(count));
    stay(3min);  // longer than other processes wait for a lease
    return 0;
  }
  if (what == "folder") {
    become(arguments.at(1));
    static_cast<void>(cohort::tenant::open_folder());
    say("opened " + cohort::tenant::folder_path());
    return 0;
  }
  const cohort::Tenant tenant{{.engine = arguments.at(1)}};
  if (!tenant.wait_connected(1min)) return 3;
  if (what == "hold" || what == "fork") {
    const auto lease = lease_of(tenant, static_cast<std::uint32_t>(std::stoul(arguments.at(2))));
    if (what == "fork" && ::fork() == 0) {
      stay();  // the child process keeps a copy of the connection
      ::_exit(0);
    }
    say("held " + std::to_string(lease.units()));
    stay();
    return 0;
  }
  const auto units = static_cast<std::uint32_t>(std::stoul(arguments.at(3)));
  const auto count = std::stoul(arguments.at(2));
  for (std::size_t i = 0; i < count; ++i) lease_of(tenant, units);
  say("leases " + std::to_string(count));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    say(std::string{"error: "} + error.what());
    return 2;
  }
}
