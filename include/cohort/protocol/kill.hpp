// offer_kill and return: the two ways in which a single group goes.
// Invariant: a kill is one compare-and-swap of the roster; if it takes away the last group a
// barrier waits for, the same swap releases the barrier.
#pragma once

#include "cohort/protocol/ids.hpp"
#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {

/// Takes the group away for good: one swap. False when the roster has moved on; `old` is then
/// fresh.
template <class P, Traits traits, class State>
COHORT_FN bool leave(Member<P, State>& member, Roster& old) {
  auto& shared = member.shared;
  const std::uint32_t active = old.active() - 1;
  Roster next = old.with_active(active);
  const bool releases = !old.draining() && active > 0 && old.arrived() == active;
  if (releases) {
    next = old.released(active);
    // Published by the swap. Everybody else waits in the barrier, so nobody else writes it.
    shared.settled.store(active, Order::relaxed);
  }
  // Release: what this group did is seen by those it releases and by the next holder of its id.
  // Acquire: it is the last touch of the roster, and pairs with the arrivals it may complete.
  if (!shared.roster.compare_exchange(old.word, next.word, Order::acq_rel)) return false;

  member.active = active;
  member.trace(Trace::kill, active == 0 ? shared.kept.load(Order::relaxed) : 0);
  if constexpr (traits.kill_order == KillOrder::any) free_id(shared, member.id);
  member.left = true;
  member.id = no_id;
  if (releases) P::notify(shared.barrier_event);
  P::notify(shared.offer_event);
  if (active == 0 || next.finished()) close(shared);
  return true;
}

/// An offer that the first comparison did not settle.
template <class P, Traits traits, class State>
COHORT_DETAIL_COLD COHORT_FN Verdict offer_kill_slowly(Member<P, State>& member, const State* state,
                                                       std::uint64_t patience) {
  auto& shared = member.shared;
  if (member.left) return break_contract(member, Fault::used_after_leaving);
  bool waited = false;
  Roster old = shared.look();
  for (;;) {
    if (old.faulted()) {
      abandon(member);
      return Verdict::leave;
    }
    member.active = old.active();
    const std::uint32_t target =
        shared.target(Order::acquire);  // pairs with the host's release: flags come first
    constexpr bool any = traits.kill_order == KillOrder::any;
    const bool surplus = any ? old.active() > target : member.id >= target;
    if (!surplus) return Verdict::stay;

    const bool turn = any || old.active() == member.id + 1;
    if (turn) {
      if (old.live() == 1) {
        // The last group leaves its state behind for a resume. Not under DRAIN: what has returned
        // cannot be resumed.
        if (shared.suspending() && !old.draining() && state != nullptr) {
          // Pairs with the leavers' release: at their start they read what was kept before.
          static_cast<void>(shared.look(Order::acquire));
          written<P>(member.states.kept) = *state;
          shared.kept.store(1, Order::relaxed);  // read by the host after this group is out
        } else if (traits.survivors == Survivors::keep_one) {
          return Verdict::stay;
        }
      }
      if (leave<P, traits>(member, old)) return Verdict::leave;
      continue;
    }

    // Waiting in the offer: not when somebody waits for us in a barrier or has returned, and never
    // for long: the group whose turn it is may be waiting for something this one has yet to do.
    if (waited || patience == 0 || old.arrived() != 0) return Verdict::stay;
    waited = true;
    P::await_for(shared.offer_event, patience, [&] {
      const Roster now = shared.look(Order::acquire);
      return now.active() == member.id + 1 || now.arrived() != 0 || now.faulted() ||
             member.id < shared.target(Order::acquire);
    });
    old = shared.look();
  }
}

/// A glance at what is wanted. True: not this group, and the offer is over. For a group of one
/// thread, which leaves M to whoever asks for it (Member::active = 0); faults show at the offers in
/// between that are not just glances.
template <class P, Traits traits, class State>
COHORT_DETAIL_INLINE COHORT_FN bool calm(const Shared<P>& shared, Member<P, State>& member) {
  const std::uint32_t target = shared.target();
  if constexpr (traits.kill_order == KillOrder::any) {
    member.active = shared.look().active();
    return member.active <= target && !member.left;
  } else {
    member.active = 0;
    return member.id < target;  // a group that has left has no_id
  }
}

/// The scheduler may take the calling group away. Costs two loads when nothing is wanted.
template <class P, Traits traits, class State>
COHORT_FN Verdict offer_kill(Member<P, State>& member, const State* state) {
  const auto& shared = member.shared;
  const Roster now = shared.look();
  const std::uint32_t target = shared.target();
  bool stays = !now.faulted();
  if constexpr (traits.kill_order == KillOrder::any) {
    stays = stays && now.active() <= target && !member.left;
  } else {
    stays = stays && member.id < target;  // a group that has left has no_id
  }
  if (!stays) return offer_kill_slowly<P, traits>(member, state, shared.offer_wait);
  member.active = now.active();
  return Verdict::stay;
}

/// The group has returned from the kernel. When all have, the job is finished.
template <class P, class State>
COHORT_FN void finish(Member<P, State>& member) {
  auto& shared = member.shared;
  Roster old = shared.look();
  Roster next;
  do {
    if (old.faulted()) {
      abandon(member);
      return;
    }
    if (!old.draining() && old.arrived() != 0) {  // they wait for a group that will never come
      raise(shared, Fault::returned_in_barrier);
      abandon(member);
      return;
    }
    next = Roster{(old.word | Roster::drain) + Roster::one_arrival};
    // Release pairs with the last finisher's acquire, which closes the job after everybody's work.
  } while (!shared.roster.compare_exchange(old.word, next.word, Order::acq_rel));
  member.trace(Trace::finish);
  P::notify(shared.offer_event);
  P::notify(shared.lobby_event);  // nobody can join any more
  if (next.finished()) close(shared);
}

}  // namespace cohort::protocol
