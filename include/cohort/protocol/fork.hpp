// request_fork: an active group admits waiting ones.
// Invariant: the swap that makes the new groups active also fixes their ids, so no id is given
// twice.
#pragma once

#include "cohort/protocol/ids.hpp"
#include "cohort/protocol/lobby.hpp"

namespace cohort::protocol {

/// How many groups may be added now. None in three cases. After a group has returned, an added
/// group would wait for it in vain. While a removed group has not noticed its removal, it would see
/// the larger M and believe that it is still in. During a suspend, the target is 0.
template <class P>
COHORT_FN std::uint32_t growth(const Shared<P>& shared, Roster roster) {
  const std::uint32_t target = shared.target();
  const bool may_grow =
      !roster.draining() && roster.active() < target &&
      shared.departing.load(Order::acquire) == 0;  // pairs with the groups that leave
  return may_grow ? target - roster.active() : 0;
}

/// Gives ids to the claimed groups (KillOrder::any). If the id that a group needs is still held by
/// a group that is leaving, the claimed group goes back to waiting.
template <class P>
COHORT_FN std::uint32_t name_claimed(Shared<P>& shared) {
  std::uint32_t named = 0;
  for_each_claimed(shared, [&](Box<P>& box, std::uint32_t) {
    written<P>(box.id) = take_id(shared);
    if (box.id == no_id) {
      unclaim(shared, box);
    } else {
      ++named;
    }
  });
  return named;
}

/// The fork itself, under fork_lock. Returns how many groups were added.
template <class P, Traits traits, class State>
COHORT_FN std::uint32_t fork_locked(Member<P, State>& member, const State& state, std::uint32_t gen,
                                    Entry entry) {
  constexpr bool any = traits.kill_order == KillOrder::any;
  auto& shared = member.shared;
  // Acquire pairs with a kill of several groups, whose `departing` growth() reads. It also pairs
  // with the groups that have left: the new holders of their ids come after them.
  Roster old = shared.look(Order::acquire);
  std::uint32_t claimed = claim(shared, growth(shared, old));
  if constexpr (any) claimed = name_claimed(shared);
  if (claimed == 0) return 0;
  Roster next;
  for (;;) {
    if (growth(shared, old) < claimed) {
      for_each_claimed(shared, [&](Box<P>& box, std::uint32_t) {
        if constexpr (any) free_id(shared, box.id);
        unclaim(shared, box);
      });
      return 0;
    }
    next = old.with_active(old.active() + claimed);
    // M only falls while this group holds the lock, so the swap succeeds only on the word that was
    // loaded. Release pairs with a leaver's acquire: it frees its id after this fork has taken one,
    // see ids.hpp.
    if (shared.roster.compare_exchange(old.word, next.word, Order::release)) break;
    old = shared.look(Order::acquire);  // acquire, for the same reasons as above
  }
  member.active = next.active();
  // Recorded at once, so before any later record of a group that returns.
  member.trace(Trace::fork, claimed);
  if constexpr (counts_staying<P, traits>) shared.staying.fetch_add(claimed, Order::relaxed);
  std::uint32_t id = old.active();
  admit(member, state, gen, entry, [&](const Box<P>& box) { return any ? box.id : id++; });
  return claimed;
}

/// Returned instead of a count if the job has ended for this group.
inline constexpr std::uint32_t fork_gone = ~0U;

/// Slow path of request_fork: a group may be waiting.
template <class P, Traits traits, class State>
COHORT_DETAIL_APART COHORT_FN std::uint32_t request_fork_slowly(Member<P, State>& member,
                                                                const State& state, Entry entry) {
  auto& shared = member.shared;
  const Roster now = shared.look();
  if (member.left) break_contract(member, Fault::used_after_leaving);
  if (member.left || now.faulted()) {
    abandon(member);
    return fork_gone;
  }
  if (growth(shared, now) == 0) return 0;
  if (shared.fork_lock.exchange(1, Order::acquire) != 0) return 0;  // pairs with the unlock
  const std::uint32_t forked = fork_locked<P, traits>(member, state, now.gen(), entry);
  // Pairs with the next holder's acquire: boxes and ids are settled.
  shared.fork_lock.store(0, Order::release);
  return forked;
}

/// Quick check of the lobby. True if no group waits and the job has no fault: a fork would then
/// change nothing.
template <class P>
COHORT_DETAIL_INLINE COHORT_FN bool nobody_waits(const Shared<P>& shared) {
  return shared.waiting.load(Order::relaxed) == 0;
}

/// Lets the scheduler add groups, which start with `state`. Costs one load when no group waits.
template <class P, Traits traits, class State>
COHORT_FN std::uint32_t request_fork(Member<P, State>& member, const State& state,
                                     Entry entry = Entry::run) {
  if (nobody_waits(member.shared)) return 0;
  return request_fork_slowly<P, traits>(member, state, entry);
}

}  // namespace cohort::protocol
