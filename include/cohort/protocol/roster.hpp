// The roster: one 64-bit word with the number of active groups and the progress of the current
// barrier.
// Invariant: after initialisation it changes only by read-modify-writes, so each change is one step
// of the protocol.
#pragma once

#include <cstdint>

#include "cohort/kernel.hpp"

namespace cohort::protocol {

/// The kind of barrier at which a group stands. Group 0 announces it; a mismatch is a broken
/// contract.
enum class Kind : std::uint32_t { plain = 0, resizing = 1 };

/// `gen:30 | arrived:16 | kind:2 | flags:3 (GATHER, DRAIN, FAULT) | active:13`.
///
/// `arrived` is right below `gen`, so that an arrival can carry into it: group 0 adds `1 + 2^16 -
/// M` instead of 1. Then the last arrival, of any group, advances the generation and zeroes the
/// count by itself. `kind` has one bit for even and one for odd generations. A slow waiter of
/// generation g may read it after group 0 has arrived at g + 1, but never after group 0 has arrived
/// at g + 2.
struct Roster {
  std::uint64_t word = 0;

  static constexpr unsigned kind_shift = 16;
  static constexpr unsigned arrived_shift = 18;
  static constexpr unsigned gen_shift = 34;

  static constexpr std::uint64_t active_mask = (1U << 13U) - 1U;
  static constexpr std::uint64_t gather = 1U << 13U;  ///< check-in is open
  static constexpr std::uint64_t drain =
      1U << 14U;  ///< a group has returned; from then on `arrived` counts returned groups
  static constexpr std::uint64_t fault = 1U << 15U;  ///< all groups leave
  static constexpr std::uint64_t one_arrival = std::uint64_t{1} << arrived_shift;
  static constexpr std::uint64_t one_gen = std::uint64_t{1} << gen_shift;
  static constexpr std::uint32_t gen_mask = (1U << 30U) - 1U;
  static constexpr std::uint32_t wrap = 1U << 16U;
  static constexpr std::uint32_t max_groups = 4096;

  [[nodiscard]] COHORT_FN constexpr std::uint32_t active() const {
    return static_cast<std::uint32_t>(word & active_mask);
  }
  [[nodiscard]] COHORT_FN constexpr std::uint32_t arrived() const {
    return static_cast<std::uint32_t>(word >> arrived_shift) & (wrap - 1U);
  }
  [[nodiscard]] COHORT_FN constexpr std::uint32_t gen() const {
    return static_cast<std::uint32_t>(word >> gen_shift);
  }
  [[nodiscard]] COHORT_FN constexpr Kind kind(std::uint32_t gen) const {
    return static_cast<Kind>(static_cast<std::uint32_t>(word >> (kind_shift + (gen & 1U))) & 1U);
  }
  [[nodiscard]] COHORT_FN constexpr bool gathering() const { return (word & gather) != 0; }
  [[nodiscard]] COHORT_FN constexpr bool draining() const { return (word & drain) != 0; }
  [[nodiscard]] COHORT_FN constexpr bool faulted() const { return (word & fault) != 0; }

  /// True from group 0's arrival with the self-flipping bias until a veto removes the bias.
  [[nodiscard]] COHORT_FN constexpr bool biased() const { return arrived() > wrap / 2; }
  /// The number of groups that are active and have not returned.
  [[nodiscard]] COHORT_FN constexpr std::uint32_t live() const {
    return draining() ? active() - arrived() : active();
  }
  /// Whether all groups that are still active have returned.
  [[nodiscard]] COHORT_FN constexpr bool finished() const {
    return draining() && arrived() == active();
  }

  /// The number that group 0 adds so that the last of `active` arrivals flips the generation.
  [[nodiscard]] static COHORT_FN constexpr std::uint64_t self_flip(std::uint32_t active) {
    return static_cast<std::uint64_t>(1U + wrap - active) << arrived_shift;
  }
  /// The part of self_flip that a veto removes.
  [[nodiscard]] static COHORT_FN constexpr std::uint64_t bias(std::uint32_t active) {
    return static_cast<std::uint64_t>(wrap - active) << arrived_shift;
  }
  [[nodiscard]] COHORT_FN constexpr Roster with_active(std::uint32_t active) const {
    return {(word & ~active_mask) | active};
  }
  /// The next generation: no group has arrived, `active` groups continue.
  [[nodiscard]] COHORT_FN constexpr Roster released(std::uint32_t active) const {
    const std::uint64_t arrivals = static_cast<std::uint64_t>(arrived()) << arrived_shift;
    return Roster{word - arrivals + one_gen}.with_active(active);
  }
};

}  // namespace cohort::protocol
