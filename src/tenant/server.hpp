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

/// The number of tenants that can have units at the same time. Further tenants wait in a queue.
inline constexpr std::uint32_t slots = 32;

class Server final : public engine::Lending {
 public:
  /// Throws Error{bad_options} if the name is invalid or in use, Error{unsupported} if the system
  /// refuses the socket or the thread.
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
  Descriptor bell_;  // an eventfd; rung when lendable() has changed, and at the end

  // By number, so in the order in which they came.
  std::map<Id, std::unique_ptr<Connection>> connections_;
  Id last_id_ = 0;
  // Changed with the mutex held, because other threads read it.
  std::array<Guest*, slots> guests_{};
  bool full_ = false;     // no descriptors are left, so connections are not accepted for a while
  bool short_ = false;    // units are short, so tenants take turns
  bool changed_ = false;  // arrange() has to run
  std::uint64_t arranged_at_ = 0;
  std::uint64_t leases_ = 0;  // guarded by the mutex, as is all_gather_
  Samples all_gather_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace cohort::tenant
