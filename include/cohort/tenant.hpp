// Tenants: other processes of this user that borrow units from the engine of a running job.
// Invariant: without an engine, or in a child of fork(), every lease is empty and costs one load.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cohort/job.hpp"

namespace cohort {

namespace tenant {
class Client;
}

/// How to connect. Every member has a default.
struct TenantOptions {
  /// The name under which the engine is shared. Default: $COHORT_ENGINE, or the only shared engine
  /// of this user.
  std::string engine = {};
  /// Shown in the engine's status, at most 63 characters. Default: the name of the program.
  std::string name = {};
  /// The tenant's share relative to the engine's other tenants: 1 to 1000.
  std::uint32_t weight = 1;
  /// Among tenants with equal claims, a higher priority is served first: -100 to 100.
  int priority = 0;
};

/// Options of a lease.
struct TenantLeaseOptions {
  /// The number of units wanted. The engine may lend fewer.
  std::uint32_t units = 1;
};

/// Units borrowed from an engine until the object is destroyed. A lease without units is valid and
/// empty. Each lease is used by one thread at a time; it must not outlive a fork().
class TenantLease {
 public:
  TenantLease() noexcept = default;
  TenantLease(TenantLease&& other) noexcept;
  TenantLease& operator=(TenantLease&& other) noexcept;
  ~TenantLease();

  /// The number of units that the lease holds now. The engine may take units back, for its job or
  /// for another tenant, and lend them again later, up to the number that was wanted.
  [[nodiscard]] std::uint32_t units() const noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return units() != 0; }
  /// The CPUs that the engine's workers have left. If the engine pins its workers, one CPU for each
  /// unit; otherwise all CPUs that its workers use.
  [[nodiscard]] std::vector<std::uint32_t> cpus() const;
  /// Gives the units back at once. The destructor does the same.
  void give_back() noexcept;

 private:
  friend class tenant::Client;
  TenantLease(std::shared_ptr<tenant::Client> client, std::uint64_t ticket) noexcept
      : client_(std::move(client)), ticket_(ticket) {}

  std::shared_ptr<tenant::Client> client_;
  std::uint64_t ticket_ = 0;
};

/// A connection to an engine. It connects when an engine of that name appears, and again after that
/// engine has ended. Thread-safe. A child of fork() is not connected, but may make a Tenant of its
/// own.
class Tenant {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Returns at once if there is no engine. Throws Error{bad_options} for invalid options, and if
  /// several engines are shared and `engine` names none of them. Throws Error{unsupported} if the
  /// folder of the sockets cannot be trusted.
  explicit Tenant(TenantOptions options = {});
  Tenant(const Tenant&) = delete;
  Tenant& operator=(const Tenant&) = delete;
  /// Gives back all units that its leases still hold. These leases are empty from then on.
  ~Tenant();

  /// Waits until the engine has lent what it can: at least one unit, at most the units wanted.
  /// Returns an empty lease at once if no engine is connected, and as soon as the engine ends. Also
  /// returns an empty lease if this thread's own open leases hold all units that the engine lends
  /// to this tenant.
  [[nodiscard]] TenantLease lease(TenantLeaseOptions options = {}) const {
    return lease_until(Deadline::max(), options);
  }
  /// Like lease(), for a limited time. Returns an empty lease if the engine has not lent the units
  /// by then.
  template <class Rep, class Period>
  [[nodiscard]] TenantLease lease_for(std::chrono::duration<Rep, Period> time,
                                      TenantLeaseOptions options = {}) const {
    return lease_until(detail::deadline_after(time), options);
  }
  [[nodiscard]] TenantLease lease_until(Deadline deadline, TenantLeaseOptions options = {}) const;
  /// Takes the units that the engine lends within 2 ms. These are usually idle ones; there may be
  /// none.
  [[nodiscard]] TenantLease try_lease(TenantLeaseOptions options = {}) const;

  /// Whether an engine answers. A tenant that waits for a free slot also counts as connected.
  [[nodiscard]] bool connected() const noexcept;
  /// Waits until it is connected. Returns false at the deadline.
  template <class Rep, class Period>
  bool wait_connected(std::chrono::duration<Rep, Period> time) const {
    return wait_connected_until(detail::deadline_after(time));
  }
  bool wait_connected_until(Deadline deadline) const;
  /// The name of the connected engine; empty if there is none.
  [[nodiscard]] std::string engine() const;

 private:
  std::shared_ptr<tenant::Client> client_;
};

/// The names of this user's shared engines that answer, in alphabetical order. Throws
/// Error{unsupported} if the folder of the sockets cannot be trusted.
[[nodiscard]] std::vector<std::string> shared_engines();

/// One JSON document about a shared engine, its jobs and its tenants; docs/tenants.md has its
/// shape. `engine` is chosen as in TenantOptions. Throws Error{engine_gone} if no such engine
/// answers.
[[nodiscard]] std::string engine_status(const std::string& engine = {});

/// Sets the capacity of a shared engine from another process while its jobs run, like the engine's
/// own set_capacity(). Throws Error{bad_options} for a capacity that the engine cannot have,
/// Error{engine_gone} if no such engine answers.
void set_engine_capacity(const std::string& engine, std::uint32_t units);

}  // namespace cohort
