// Ids for KillOrder::any: unique but not dense, with a bitmap of the free ones.
// Relaxed: the roster orders successive holders of an id. A leaver updates the roster (acq_rel)
// before it frees its id, and a fork that has taken an id loads the roster and swaps it (acquire,
// release).
// Invariant: an id is in the bitmap from the moment its holder has left the roster until a fork
// takes it.
#pragma once

#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {

/// Whether many groups may leave in any order. If so, Shared::staying is maintained, see kill.hpp.
template <class P, Traits traits>
inline constexpr bool counts_staying = Fenced<P>&& traits.kill_order == KillOrder::any;

/// The number of words of a bitmap for `max_groups` ids.
COHORT_FN constexpr std::uint32_t id_words(std::uint32_t max_groups) {
  return (max_groups + 63) / 64;
}

/// Takes a free id. Returns no_id if there is none. Called under fork_lock.
template <class P>
COHORT_FN std::uint32_t take_id(Shared<P>& shared) {
  for (std::uint32_t word = 0; word < id_words(shared.max_groups); ++word) {
    const std::uint64_t free = shared.free_ids[word].load(Order::relaxed);
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      const std::uint64_t mask = std::uint64_t{1} << bit;
      if ((free & mask) == 0) continue;
      shared.free_ids[word].fetch_and(~mask, Order::relaxed);
      return word * 64 + bit;
    }
  }
  return no_id;
}

/// Gives an id back to the bitmap.
template <class P>
COHORT_FN void free_id(Shared<P>& shared, std::uint32_t id) {
  shared.free_ids[id / 64].fetch_or(std::uint64_t{1} << (id % 64), Order::relaxed);
}

}  // namespace cohort::protocol
