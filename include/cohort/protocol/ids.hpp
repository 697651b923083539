// Ids that are unique but not dense, for KillOrder::any: a bitmap of the free ones. Relaxed: a
// leaver updates the roster (acq_rel) before it frees its id, and a fork that has taken an id looks
// at the roster and swaps it (acquire, release). So the roster orders successive holders.
// Invariant: an id is in the bitmap from the moment its holder has left the roster until a fork
// takes it.
#pragma once

#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {

/// Where many groups leave in any order: Shared::staying is kept, see kill.hpp.
template <class P, Traits traits>
inline constexpr bool counts_staying = Fenced<P>&& traits.kill_order == KillOrder::any;

/// Words of a bitmap for `max_groups` ids.
COHORT_FN constexpr std::uint32_t id_words(std::uint32_t max_groups) {
  return (max_groups + 63) / 64;
}

/// Takes a free id; no_id when there is none. Under fork_lock.
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

/// Gives an id back for reuse.
template <class P>
COHORT_FN void free_id(Shared<P>& shared, std::uint32_t id) {
  shared.free_ids[id / 64].fetch_or(std::uint64_t{1} << (id % 64), Order::relaxed);
}

}  // namespace cohort::protocol
