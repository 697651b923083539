// How an engine frees units for tenants: what differs between engines.
// Invariant: a unit counts as held only while no group of the engine uses it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "tenant/wire.hpp"

namespace cohort::tenant {

/// What workers on loan share with the server. It outlives the server.
struct Loans {
  std::mutex mutex;  ///< guards the server's books and the lender's
  /// Called with the mutex when a unit of that slot is free. Empty once the server ends.
  std::function<void(std::uint32_t slot)> came;
};

/// Called by one thread.
class Lender {
 public:
  explicit Lender(std::shared_ptr<Loans> its_loans) : loans(std::move(its_loans)) {}
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;
  virtual ~Lender() = default;

  [[nodiscard]] virtual EngineType type() const = 0;
  /// Called without the mutex: the slot is to have this many units. Surplus units go back to the
  /// engine at once. More units come as groups leave: then `came` is called for each.
  virtual void lend(std::uint32_t slot, std::uint32_t units, int priority) = 0;

  struct Held {
    std::uint32_t units = 0;
    std::array<std::uint64_t, cpu_words> cpus{};
  };
  /// Called with the mutex: the slot's free units.
  [[nodiscard]] virtual Held held(std::uint32_t slot) const = 0;

  const std::shared_ptr<Loans> loans;
};

}  // namespace cohort::tenant
