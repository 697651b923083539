// A tenant's connection: the thread that maintains it, the demand, and the open leases. Invariant:
// the demand word is the sum of the open leases. In a child of fork() nothing here touches the
// connection.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cohort/tenant.hpp"
#include "engine/process.hpp"
#include "tenant/rendezvous.hpp"
#include "tenant/wire.hpp"

namespace cohort::tenant {

class Client : public std::enable_shared_from_this<Client> {
 public:
  using Deadline = Tenant::Deadline;

  explicit Client(TenantOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// Starts the thread. If an engine is running, waits for its answer.
  void open();
  /// Ends the connection and all leases.
  void close() noexcept;

  /// Opens a lease. `tries`: waits at most 2 ms and takes the units that have come by then.
  [[nodiscard]] TenantLease lease(Deadline deadline, std::uint32_t units, bool tries);

  /// The two halves of lease(). A lease that was asked for stays open until it is given back.
  /// Returns 0 if there is no engine.
  [[nodiscard]] std::uint64_t ask_for(std::uint32_t units);
  enum class Waited : std::uint8_t {
    granted,  ///< it has units; the engine lends no more now
    timed_out,
    over,  ///< nothing to wait for: no engine, given back, or the thread's own leases have it all
  };
  Waited wait(std::uint64_t ticket, Deadline deadline, bool tries);
  [[nodiscard]] std::uint32_t units(std::uint64_t ticket) noexcept;
  [[nodiscard]] std::vector<std::uint32_t> cpus(std::uint64_t ticket);
  void give_back(std::uint64_t ticket) noexcept;

  [[nodiscard]] bool connected() const noexcept;
  bool wait_connected(Deadline deadline);
  [[nodiscard]] std::string engine();

 private:
  /// A connection to one engine. A thread that waits for this engine keeps the object alive.
  struct Link {
    Peer peer;
    std::string engine;
    Descriptor doorbell;
    Mapping demand_memory;  // empty while the tenant is in the queue for a slot
    Mapping grant_memory;
    std::atomic<bool> gone{false};
    std::atomic<std::uint32_t> sleepers{0};

    [[nodiscard]] bool seated() const { return grant_memory.data() != nullptr; }
    [[nodiscard]] DemandPage& demand_page() const {
      return *static_cast<DemandPage*>(demand_memory.data());
    }
    [[nodiscard]] const GrantPage& grant_page() const {
      return *static_cast<const GrantPage*>(grant_memory.data());
    }
  };
  /// An open lease.
  struct Open {
    std::uint64_t ticket;
    std::uint32_t units;   // number of units that the lease wants
    std::uint32_t serial;  // number of the demand in which this lease was first counted
    std::thread::id thread;
  };
  /// One lease's part of the grant.
  struct Part {
    Grant grant;
    const Open* open = nullptr;
    std::uint32_t before = 0;  // number of units that earlier leases want
    std::uint32_t units = 0;
  };
  enum class State : std::uint8_t {
    alone,
    queued,  ///< waiting for a slot
    seated,
  };
  using Lock = std::unique_lock<std::mutex>;

  void keep();
  void rest(const Descriptor& inbox, int timeout_ms);
  void attend(const std::shared_ptr<Link>& link);
  bool hear(const std::shared_ptr<Link>& link);
  void lose(const std::shared_ptr<Link>& link);
  void ask();
  [[nodiscard]] Grant grant();
  [[nodiscard]] Part part_of(std::uint64_t ticket);
  [[nodiscard]] bool holds_another(std::uint64_t ticket) const;
  void forget(std::uint64_t ticket);

  const TenantOptions options_;
  const engine::HomeProcess process_{};
  Descriptor over_event_;
  std::atomic<State> state_{State::alone};
  std::atomic<bool> over_{false};
  std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  std::shared_ptr<Link> link_;
  std::vector<Open> open_;
  std::uint64_t tickets_ = 0;
  std::uint32_t serial_ = 0;  // number of the latest demand
  Grant latest_;              // the last grant that could be read
  bool looked_ = false;       // has looked for an engine, and has got its answer if there was one
  std::unique_ptr<std::thread> thread_;
};

}  // namespace cohort::tenant
