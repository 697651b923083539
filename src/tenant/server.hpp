// The thread by which an engine serves its tenants: slots, grants, and the status.
// Invariant: nothing that another process sends or writes makes this thread wait, throw or trust
// it.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "cohort/samples.hpp"
#include "engine/dispatcher.hpp"
#include "engine/process.hpp"
#include "tenant/lender.hpp"
#include "tenant/rendezvous.hpp"
#include "tenant/wire.hpp"

namespace cohort::tenant {

/// Tenants that can have units at a time. More of them wait in a queue.
inline constexpr std::uint32_t slots = 32;

class Server final : public engine::Lending {
 public:
  /// Throws Error{bad_options} if the name cannot be used or is taken, Error{unsupported} if the
  /// system refuses.
  Server(engine::Dispatcher& dispatcher, std::unique_ptr<Lender> lender, const std::string& name);
  ~Server() override;

  void lendable_changed() noexcept override;

 private:
  struct Connection;
  struct Guest;
  using Id = std::uint64_t;

  void serve();
  void serve_once();
  void accept();
  bool drop_callers(int count);
  void hear(Connection& caller);
  void welcome(Connection& caller, const Hello& hello);
  void set_capacity(Connection& caller, std::uint32_t units);
  void seat(Connection& caller);
  void seat_next();
  [[nodiscard]] bool has_free_slot() const;
  void refuse(Connection& caller, const std::string& why);
  void close(Id id);
  void arrange();
  void publish(Guest& guest);
  [[nodiscard]] std::string status();
  [[nodiscard]] int patience() const;
  void watch(int descriptor, std::uint64_t tag, std::uint32_t trigger = 0);

  engine::Dispatcher& dispatcher_;
  const std::unique_ptr<Lender> lender_;
  const std::shared_ptr<Loans> loans_;
  const Claim claim_;
  const std::uint64_t started_at_;
  Descriptor poll_;
  Descriptor bell_;  // rung when lendable() has changed, and at the end

  std::map<Id, std::unique_ptr<Connection>> connections_;  // in the order in which they came
  Id last_id_ = 0;
  std::array<Guest*, slots> guests_{};  // changed and, by other threads, read with the mutex
  bool full_ = false;     // no descriptors left: no connection is accepted for a while
  bool short_ = false;    // tenants take turns with a unit
  bool changed_ = false;  // arrange() is to run
  std::uint64_t arranged_at_ = 0;
  std::uint64_t leases_ = 0;  // guarded by the mutex, as is all_gather_
  Samples all_gather_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace cohort::tenant
