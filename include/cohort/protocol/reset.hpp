// Initial values of a run, for Shared and for words with the same layout. Invariant: no group of
// the previous run is inside any more.
#pragma once

#include "cohort/protocol/ids.hpp"

namespace cohort::protocol {

/// The initial value of a word of the bitmap of free ids. The check-in hands out the first `quorum`
/// ids, so they are not free.
constexpr std::uint64_t free_ids_at_start(std::uint32_t word, std::uint32_t quorum,
                                          std::uint32_t max_groups) {
  std::uint64_t free = 0;
  for (std::uint32_t bit = 0; bit < 64; ++bit) {
    const std::uint32_t id = word * 64 + bit;
    if (id >= quorum && id < max_groups) free |= std::uint64_t{1} << bit;
  }
  return free;
}

/// Resets the words. `restarted`: the first groups continue from the kept State. The memory order
/// `relaxed` is enough, because starting the groups publishes the words to them.
template <class Words, class Relaxed>
void reset_words(Words& words, std::uint32_t quorum, bool restarted, Relaxed relaxed) {
  words.quorum = quorum;
  words.restarted = restarted;
  for (auto& vote : words.vote) vote.store(0, relaxed);
  words.flags.store(0, relaxed);
  words.waiting.store(0, relaxed);
  words.closed.store(0, relaxed);
  words.serial.fetch_add(1, relaxed);
  words.fork_lock.store(0, relaxed);
  words.departing.store(0, relaxed);
  words.deposit_gen.store(no_deposit, relaxed);
  words.kept.store(0, relaxed);
  words.roster.store(Roster::gather, relaxed);
}

/// Resets the boxes and the free ids to which the words point.
template <class Words, class Relaxed>
void reset_lobby(Words& words, std::uint32_t quorum, Relaxed relaxed) {
  for (std::uint32_t i = 0; i < words.max_groups; ++i)
    words.boxes[i].seat.store({}, relaxed);  // Seat::empty
  for (std::uint32_t i = 0; i < id_words(words.max_groups); ++i)
    words.free_ids[i].store(free_ids_at_start(i, quorum, words.max_groups), relaxed);
}

}  // namespace cohort::protocol
