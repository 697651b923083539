// How an engine frees units for tenants: the interface that each engine implements. Invariant: a
// unit counts as held only while no group of the engine uses it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "tenant/wire.hpp"

namespace cohort::tenant {

/// Data that workers on loan share with the server. It outlives the server.
struct Loans {
  std::mutex mutex;  ///< guards the data of the server and of the lender
  /// Called with the mutex held when a unit of that slot has become free. Empty once the server
  /// ends.
  std::function<void(std::uint32_t slot)> came;
};

/// All calls come from one thread.
class Lender {
 public:
  explicit Lender(std::shared_ptr<Loans> its_loans) : loans(std::move(its_loans)) {}
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;
  virtual ~Lender() = default;

  [[nodiscard]] virtual EngineType type() const = 0;
  /// Sets the number of units of a slot. Called without the mutex. Surplus units go back to the
  /// engine at once. Additional units come as groups leave, and `came` is called for each.
  virtual void lend(std::uint32_t slot, std::uint32_t units, int priority) = 0;

  struct Held {
    std::uint32_t units = 0;
    std::array<std::uint64_t, cpu_words> cpus{};
  };
  /// The free units of a slot. Called with the mutex held.
  [[nodiscard]] virtual Held held(std::uint32_t slot) const = 0;

  const std::shared_ptr<Loans> loans;
};

}  // namespace cohort::tenant
