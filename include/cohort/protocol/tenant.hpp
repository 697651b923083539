// The words by which a process asks the engine of another process for units, and by which the
// engine answers. The code is written once for two platforms: shared memory and the explorer.
// Invariant: each page has one writer, and no reader trusts it. A tenant may write anything into
// its page, and an engine may die between any two of its stores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "cohort/kernel.hpp"

namespace cohort::protocol {

/// `serial:32 | units:32`: the units that a tenant wants. The serial number changes with each
/// demand, so that an answer to an earlier one is not taken for an answer to this one. The units
/// are the low half, which a GPU's stream can write alone.
struct Demand {
  std::uint32_t units = 0;
  std::uint32_t serial = 0;

  [[nodiscard]] constexpr std::uint64_t word() const {
    return std::uint64_t{serial} << 32U | units;
  }
  [[nodiscard]] static constexpr Demand of(std::uint64_t word) {
    return {.units = static_cast<std::uint32_t>(word),
            .serial = static_cast<std::uint32_t>(word >> 32U)};
  }
};

/// An engine's answer. `cpu_words` words are a bitmap of CPUs.
template <std::uint32_t cpu_words>
struct Grant {
  std::uint32_t serial = 0;  ///< serial number of the demand that this answers
  std::uint32_t limit = 0;   ///< the part of that demand that the scheduler is willing to lend
  std::uint32_t units = 0;   ///< how many of these are free for the tenant now
  std::array<std::uint64_t, cpu_words> cpus{};  ///< the CPUs that the engine's workers have left

  /// Whether this answers the demand with that serial number, or a later demand.
  [[nodiscard]] bool answers(std::uint32_t asked) const {
    return static_cast<std::int32_t>(serial - asked) >= 0;
  }
  /// Whether the answer is complete: no more units will come unless something changes.
  [[nodiscard]] bool settled() const { return units >= limit; }

  friend bool operator==(const Grant&, const Grant&) = default;
};

/// The page that the tenant writes.
template <class P>
struct DemandPage {
  typename P::template Atomic<std::uint64_t> word;
};

/// The page that the engine writes.
template <class P, std::uint32_t cpu_words>
struct GrantPage {
  typename P::template Atomic<std::uint32_t> version;  // odd while the engine is changing the page
  typename P::template Atomic<std::uint32_t> serial;
  typename P::template Atomic<std::uint32_t> limit;
  typename P::template Atomic<std::uint32_t> units;
  std::array<typename P::template Atomic<std::uint64_t>, cpu_words> cpus{};
};

/// Tenant: publishes a demand, and rings the engine's bell.
template <class P, class Bell>
void ask(DemandPage<P>& page, Demand demand, Bell& bell) {
  // Pairs with look(): the tenant's last use of units that it gives back happens before their next
  // use.
  page.word.store(demand.word(), Order::release);
  P::notify(bell);
}

/// Engine: the demand of a tenant, at most `most` units.
template <class P>
Demand look(const DemandPage<P>& page, std::uint32_t most) {
  Demand demand = Demand::of(page.word.load(Order::acquire));  // pairs with ask()
  demand.units = std::min(demand.units, most);
  return demand;
}

/// Engine: publishes an answer, and wakes the tenant's threads.
template <class P, std::uint32_t cpu_words, class Event>
void publish(GrantPage<P, cpu_words>& page, const Grant<cpu_words>& grant, Event& event) {
  // Relaxed: only the engine writes it.
  const std::uint32_t version = page.version.load(Order::relaxed);
  page.version.store(version + 1, Order::relaxed);  // published by each of the following stores
  // Release: a reader that gets one of these values sees that the version has changed.
  page.serial.store(grant.serial, Order::release);
  page.limit.store(grant.limit, Order::release);
  page.units.store(grant.units, Order::release);
  for (std::uint32_t i = 0; i < cpu_words; ++i) page.cpus[i].store(grant.cpus[i], Order::release);
  // Pairs with read(). It also orders the departure of the groups before the tenant's use of their
  // units.
  page.version.store(version + 2, Order::release);
  P::notify(event);
}

/// Tenant: the engine's latest answer. Empty while the engine is changing it. If the engine died
/// during a change, it stays empty.
template <class P, std::uint32_t cpu_words>
std::optional<Grant<cpu_words>> read(const GrantPage<P, cpu_words>& page) {
  const std::uint32_t version = page.version.load(Order::acquire);  // pairs with publish()
  if (version % 2 != 0) return {};
  Grant<cpu_words> grant;
  // Acquire: the last load of the version must not come before these loads. Pairs with the stores
  // of a later publish().
  grant.serial = page.serial.load(Order::acquire);
  grant.limit = page.limit.load(Order::acquire);
  grant.units = page.units.load(Order::acquire);
  for (std::uint32_t i = 0; i < cpu_words; ++i) grant.cpus[i] = page.cpus[i].load(Order::acquire);
  if (page.version.load(Order::relaxed) != version) return {};
  return grant;
}

}  // namespace cohort::protocol
