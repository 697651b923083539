// offer_kill and finish: how groups leave outside a barrier.
// Invariant: a kill is one atomic update of the roster. If it removes the last group that a barrier
// is waiting for, the same swap releases the barrier.
#pragma once

#include "cohort/protocol/ids.hpp"
#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {

/// Completes the departure of a group that the roster no longer counts. `next` is the roster
/// without it. `others` is the number of groups right below it that the same swap removed.
template <class P, Traits traits, class State>
COHORT_FN void left_roster(Member<P, State>& member, Roster next, bool releases,
                           std::uint32_t others = 0) {
  auto& shared = member.shared;
  member.active = next.active();
  member.trace(Trace::kill, next.active() == 0 ? shared.kept.load(Order::relaxed) : 0);
  // Record the kills of the groups removed together with this one. They may notice late, when
  // groups below them have left as well.
  for (std::uint32_t i = 1; i <= others; ++i) {
    shared.recorder.record(Trace::kill, member.id - i, member.id - i, 0);
  }
  if constexpr (traits.kill_order == KillOrder::any) free_id(shared, member.id);
  member.left = true;
  member.id = no_id;
  if (releases) P::notify(shared.barrier_event);
  P::notify(shared.offer_event);
  if (next.active() == 0 || next.finished()) close(shared);
}

/// Removes this group and the `others` groups right below it from the roster, in one swap. Returns
/// false if the roster has changed; `old` then holds its current value.
template <class P, Traits traits, class State>
COHORT_FN bool leave(Member<P, State>& member, Roster& old, std::uint32_t others = 0) {
  auto& shared = member.shared;
  const std::uint32_t active = old.active() - 1 - others;
  Roster next = old.with_active(active);
  const bool releases = !old.draining() && old.arrived() == active;
  if (releases) {
    next = old.released(active);
    // Published by the swap. Every other group is waiting in the barrier, so this is the only
    // writer.
    shared.settled.store(active, Order::relaxed);
    // Marks the deposit as used, so that no resize takes it.
    shared.deposit_gen.store(no_deposit, Order::relaxed);
  }
  // Before the swap, as in leave_by_subtraction(), because `staying` must never be larger than M.
  if constexpr (counts_staying<P, traits>) shared.staying.fetch_sub(1, Order::relaxed);
  // Release: the groups that this swap releases, and the next holder of this id, see what this
  // group did. Acquire: the last group closes the job after the work of all others; the other
  // reason is in leave_by_subtraction().
  if (!shared.roster.compare_exchange(old.word, next.word, Order::acq_rel)) {
    if constexpr (counts_staying<P, traits>) shared.staying.fetch_add(1, Order::relaxed);
    return false;
  }
  left_roster<P, traits>(member, next.with_active(active + others), releases, others);
  return true;
}

/// Waits inside the offer until it is this group's turn to leave. Stops early when another group
/// waits for this one.
template <class P, class State>
COHORT_FN void wait_for_turn(const Member<P, State>& member, std::uint64_t patience) {
  auto& shared = member.shared;
  const std::uint32_t id = member.id;
  P::await_for(shared.offer_event, patience, [&] {
    // Relaxed on a Fenced platform, where a load is a round trip: this one overlaps the next.
    // Acquire where groups sleep: Event requires it of a wait condition. The target is read again
    // before the group leaves.
    const std::uint32_t target = shared.target(Fenced<P> ? Order::relaxed : Order::acquire);
    // Pairs with the release of the groups that leave before this one.
    const Roster now = shared.look(Order::acquire);
    return now.active() <= id + 1 || now.arrived() != 0 || now.faulted() || id < target;
  });
}

// ---- Resting, on platforms with many groups. Leaving one by one, highest id first, would cost a
// few round trips per group. So a group that waits in its offer for its turn sets its bit in
// `resting`, and the group whose turn it is removes all groups that rest right below it, in one
// swap.

template <class P>
COHORT_FN auto& rests_in(Shared<P>& shared, std::uint32_t id) {
  return shared.resting[id / 64];
}
COHORT_FN constexpr std::uint64_t rest_bit(std::uint32_t id) {
  return std::uint64_t{1} << (id % 64);
}

/// Bit mask of the ids `lowest` to `highest`. Both must be in the same word of `resting`.
COHORT_FN constexpr std::uint64_t bits_between(std::uint32_t lowest, std::uint32_t highest) {
  return ~std::uint64_t{0} >> (63 - highest % 64) & ~std::uint64_t{0} << (lowest % 64);
}
static_assert(bits_between(64, 127) == ~std::uint64_t{0} && bits_between(63, 63) == 1ULL << 63U &&
              bits_between(65, 66) == 6);

/// The contiguous run of ids in `set` from `highest` down to the first gap, at most to `lowest`.
/// Both must be in the same word.
COHORT_FN constexpr std::uint64_t run_down(std::uint64_t set, std::uint32_t highest,
                                           std::uint32_t lowest) {
  std::uint64_t run = 0;
  for (std::uint32_t id = highest; (set & rest_bit(id)) != 0; --id) {
    run |= rest_bit(id);
    if (id == lowest) break;
  }
  return run;
}

/// Claims the groups that rest right below `id`, down to id `least`. Returns how many. A claimed
/// group waits for the outcome: the roster no longer counts it, or let_rest() sets its bit again.
template <class P>
COHORT_FN std::uint32_t claim_resting(Shared<P>& shared, std::uint32_t id, std::uint32_t least) {
  std::uint32_t top = id;
  while (top > least) {
    const std::uint32_t highest = top - 1;
    const std::uint32_t first = highest / 64 * 64;  // lowest id in this word
    const std::uint32_t lowest = first > least ? first : least;
    auto& word = rests_in(shared, highest);
    // Clear the whole range without loading the word first: the load would be another round trip.
    const std::uint64_t wanted = bits_between(lowest, highest);
    // Pairs with rest(): what the claimed groups did happens before the swap that removes them.
    const std::uint64_t got = word.fetch_and(~wanted, Order::acquire) & wanted;
    const std::uint64_t run = run_down(got, highest, lowest);
    // A group in between does not rest, so give the bits below it back. Relaxed: this
    // read-modify-write continues the release sequence of rest().
    if (got != run) word.fetch_or(got & ~run, Order::relaxed);
    while (top > lowest && (run & rest_bit(top - 1)) != 0) --top;
    if (top > lowest) break;
  }
  return id - top;
}

/// Undoes claim_resting(): the `claimed` groups right below `id` keep resting.
template <class P>
COHORT_FN void let_rest(Shared<P>& shared, std::uint32_t id, std::uint32_t claimed) {
  for (std::uint32_t i = 1; i <= claimed; ++i) {
    // Relaxed: continues the release sequence of rest().
    rests_in(shared, id - i).fetch_or(rest_bit(id - i), Order::relaxed);
  }
}

/// Removes this group, whose turn it is, and the groups that rest right below it. Returns false if
/// the roster has changed; `old` then holds its current value.
template <class P, Traits traits, class State>
COHORT_FN bool leave_with_resting(Member<P, State>& member, Roster& old, std::uint32_t target) {
  auto& shared = member.shared;
  const std::uint32_t id = member.id;
  const std::uint32_t least = target == 0 ? 1 : target;  // group 0 has a state to leave behind
  const std::uint32_t others = old.draining() ? 0 : claim_resting(shared, id, least);
  // Before the swap: `departing` keeps groups from joining above a removed group that has not
  // noticed yet.
  if (others != 0) shared.departing.fetch_add(others, Order::relaxed);
  while (!leave<P, traits>(member, old, others)) {
    // Retry even after a fault: the claimed groups wait for the swap.
    if (!old.draining() && old.active() == id + 1) continue;
    if (others != 0) shared.departing.fetch_sub(others, Order::relaxed);
    let_rest(shared, id, others);
    return false;
  }
  return true;
}

/// Like wait_for_turn(), but the group whose turn it is may claim this one and remove it together
/// with itself. Returns true if it has.
template <class P, class State>
COHORT_FN bool rest(Member<P, State>& member, std::uint64_t patience) {
  auto& shared = member.shared;
  const std::uint32_t id = member.id;
  auto& word = rests_in(shared, id);
  word.fetch_or(rest_bit(id), Order::release);  // pairs with claim_resting
  wait_for_turn(member, patience);
  // The group that clears the bit decides: this one continues only if it cleared the bit itself. A
  // claim that was given back can be followed by the next claim before this group looks.
  while ((word.fetch_and(~rest_bit(id), Order::relaxed) & rest_bit(id)) == 0) {
    bool taken = false;
    P::await(shared.offer_event, [&] {
      taken = shared.look().active() <= id;  // relaxed: nothing is left to do but leave
      return taken || (word.load(Order::relaxed) & rest_bit(id)) != 0;
    });
    if (taken) return true;
  }
  return false;
}

/// Leaves after another group's swap has removed this one.
template <class P, class State>
COHORT_FN Verdict taken_along(Member<P, State>& member) {
  auto& shared = member.shared;
  member.active = member.id;  // as if the group had left in its own turn; its kill was recorded so
  member.left = true;
  member.id = no_id;
  shared.departing.fetch_sub(1, Order::release);  // pairs with growth(): its id is free again
  return Verdict::leave;
}

// ---- KillOrder::any

/// Leaves by one subtraction: a swap would fail again and again while many groups leave. `staying`,
/// a count next to the roster, first decides whether this group may leave. No other function
/// decides by it. It may be too small for a moment; M never is. Returns false if enough other
/// groups are leaving, or if this is the last group.
template <class P, Traits traits, class State>
COHORT_FN bool leave_by_subtraction(Member<P, State>& member, std::uint32_t target) {
  auto& shared = member.shared;
  if (shared.staying.fetch_sub(1, Order::relaxed) > target) {
    // Release as in leave(). Acquire: before the id is freed, see ids.hpp.
    const Roster old{shared.roster.fetch_sub(1, Order::acq_rel)};
    if (old.live() > 1) {
      left_roster<P, traits>(member, {old.word - 1}, false);
      return true;
    }
    // Undo. All other groups have returned, so none of them has seen the smaller M. Relaxed:
    // continues the release sequence of their arrivals.
    shared.roster.fetch_add(1, Order::relaxed);
  }
  shared.staying.fetch_add(1, Order::relaxed);
  return false;
}

/// Slow path of offer_kill: the first comparison did not settle the offer.
template <class P, Traits traits, class State>
COHORT_DETAIL_APART COHORT_FN Verdict offer_kill_slowly(Member<P, State>& member,
                                                        const State* state,
                                                        std::uint64_t patience) {
  auto& shared = member.shared;
  if (member.left) return break_contract(member, Fault::used_after_leaving);
  bool waited = false;
  for (;;) {
    Roster old = shared.look();
    if (old.faulted()) {
      abandon(member);
      return Verdict::leave;
    }
    member.active = old.active();
    const std::uint32_t target =
        shared.target(Order::acquire);  // pairs with the host's release: it writes the flags first
    constexpr bool any = traits.kill_order == KillOrder::any;
    const bool surplus = any ? old.active() > target : member.id >= target;
    if (!surplus) return Verdict::stay;

    const bool turn = any || old.active() == member.id + 1;
    if (turn) {
      if constexpr (counts_staying<P, traits>) {
        if (target != 0) {
          return leave_by_subtraction<P, traits>(member, target) ? Verdict::leave : Verdict::stay;
        }
      }
      if (old.live() == 1) {
        // The last group saves its state for a resume. Not under DRAIN: a group that has returned
        // cannot be resumed.
        if (shared.suspending() && !old.draining() && state != nullptr) {
          // Acquire pairs with the release of the groups that have left: at their start they read
          // the previous value of `kept`, which is overwritten here.
          static_cast<void>(shared.look(Order::acquire));
          written<P>(member.states.kept) = *state;
          shared.kept.store(1, Order::relaxed);  // read by the host after this group is out
        } else if (traits.survivors == Survivors::keep_one) {
          return Verdict::stay;
        }
      }
      bool gone = false;
      if constexpr (!any && Fenced<P>) {
        gone = leave_with_resting<P, traits>(member, old, target);
      } else {
        gone = leave<P, traits>(member, old);
      }
      if (gone) return Verdict::leave;
      continue;
    }

    // Wait in the offer for this group's turn, but never for long: the group whose turn it is may
    // itself be waiting for something that this one has yet to do.
    if (waited || patience == 0) return Verdict::stay;
    waited = true;
    if constexpr (Fenced<P>) {
      if (rest(member, patience)) return taken_along(member);
    } else {
      wait_for_turn(member, patience);
    }
  }
}

/// Quick check of the target. True: this group stays, and the offer is over. Only for groups of one
/// thread. With dense ids it does not read M: Member::active = 0 makes num_groups() read it on
/// demand. It does not detect faults: the offers that take the longer path do.
template <class P, Traits traits, class State>
COHORT_DETAIL_INLINE COHORT_FN bool calm(const Shared<P>& shared, Member<P, State>& member) {
  const std::uint32_t target = shared.target();
  if constexpr (traits.kill_order == KillOrder::any) {
    member.active = shared.look().active();
    return member.active <= target && !member.left;
  } else {
    member.active = 0;
    return member.id < target;  // no_id, of a group that has left, fails this
  }
}

/// Lets the scheduler remove the calling group. Costs two loads when nothing is wanted.
template <class P, Traits traits, class State>
COHORT_FN Verdict offer_kill(Member<P, State>& member, const State* state) {
  const auto& shared = member.shared;
  const Roster now = shared.look();
  const std::uint32_t target = shared.target();
  bool stays = !now.faulted();
  if constexpr (traits.kill_order == KillOrder::any) {
    stays = stays && now.active() <= target && !member.left;
  } else {
    stays = stays && member.id < target;  // no_id, of a group that has left, fails this
  }
  if (!stays) return offer_kill_slowly<P, traits>(member, state, shared.offer_wait);
  member.active = now.active();
  return Verdict::stay;
}

/// Called when the group has returned from the kernel. The job is finished when all groups have.
template <class P, class State>
COHORT_FN void finish(Member<P, State>& member) {
  auto& shared = member.shared;
  Roster old = shared.look();
  bool counted = false;
  while (!counted && !old.draining() && !old.faulted()) {
    if (old.arrived() != 0) {  // groups in a barrier wait for this one, which will never arrive
      break_contract(member, Fault::returned_in_barrier);
      return;
    }
    // The first group to return sets DRAIN and starts the count. The same swap confirms that no
    // group is in a barrier. Release pairs with the acquire of the last group to return: it closes
    // the job after the work of all groups.
    const std::uint64_t first = (old.word | Roster::drain) + Roster::one_arrival;
    counted = shared.roster.compare_exchange(old.word, first, Order::acq_rel);
  }
  // Later groups add instead: if many return at once, their swaps would succeed one at a time. A
  // group that arrives at a barrier now ends the job with a fault, so `arrived` counts only groups
  // that have returned. Release and acquire as above.
  if (!counted) old = Roster{shared.roster.fetch_add(Roster::one_arrival, Order::acq_rel)};
  if (old.faulted()) {
    abandon(member);
    return;
  }
  member.trace(Trace::finish);
  P::notify(shared.offer_event);
  P::notify(shared.lobby_event);  // no group can join any more
  if (Roster{(old.word | Roster::drain) + Roster::one_arrival}.finished()) close(shared);
}

}  // namespace cohort::protocol
