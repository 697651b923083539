// offer_kill and return: the ways in which groups go outside barriers.
// Invariant: a kill is one step of the roster; if it takes away the last group a
// barrier waits for, the same swap releases the barrier.
#pragma once

#include "cohort/protocol/ids.hpp"
#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {

/// What is left to do for a group that the roster does not count any more.
template <class P, Traits traits, class State>
COHORT_FN void left_roster(Member<P, State>& member, Roster next, bool releases,
                           std::uint32_t others = 0) {
  auto& shared = member.shared;
  member.active = next.active();
  member.trace(Trace::kill, next.active() == 0 ? shared.kept.load(Order::relaxed) : 0);
  // In the name of those taken along: they may look late, when others below them have left.
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

/// Takes the group away for good, and the `others` right below it: one swap. False when the roster
/// has moved on; `old` is then fresh.
template <class P, Traits traits, class State>
COHORT_FN bool leave(Member<P, State>& member, Roster& old, std::uint32_t others = 0) {
  auto& shared = member.shared;
  const std::uint32_t active = old.active() - 1 - others;
  Roster next = old.with_active(active);
  const bool releases = !old.draining() && old.arrived() == active;
  if (releases) {
    next = old.released(active);
    // Published by the swap. Everybody else waits in the barrier, so nobody else writes these.
    shared.settled.store(active, Order::relaxed);
    shared.deposit_gen.store(no_deposit, Order::relaxed);  // no resize takes it
  }
  // Before the swap, as in leave_by_subtraction(): never larger than M.
  if constexpr (counts_staying<P, traits>) shared.staying.fetch_sub(1, Order::relaxed);
  // Release: what this group did is seen by those it releases and by the next holder of its id.
  // Acquire: the last group closes the job after what all others did; and as in
  // leave_by_subtraction().
  if (!shared.roster.compare_exchange(old.word, next.word, Order::acq_rel)) {
    if constexpr (counts_staying<P, traits>) shared.staying.fetch_add(1, Order::relaxed);
    return false;
  }
  left_roster<P, traits>(member, next.with_active(active + others), releases, others);
  return true;
}

/// Waits in the offer for this group's turn, but not while anybody waits for this one.
template <class P, class State>
COHORT_FN void wait_for_turn(const Member<P, State>& member, std::uint64_t patience) {
  auto& shared = member.shared;
  const std::uint32_t id = member.id;
  P::await_for(shared.offer_event, patience, [&] {
    // Where a look is a round trip this one is under way with the next; where groups sleep, events
    // ask for acquire. The target is looked at again before the group goes.
    const std::uint32_t target = shared.target(Fenced<P> ? Order::relaxed : Order::acquire);
    // Pairs with those who leave before this group.
    const Roster now = shared.look(Order::acquire);
    return now.active() <= id + 1 || now.arrived() != 0 || now.faulted() || id < target;
  });
}

// ---- resting, on platforms with many groups: highest first would be one by one, each link of the
// chain a few round trips. So who waits in its offer for its turn says so, and the one whose turn
// it is takes along all who rest right below it.

template <class P>
COHORT_FN auto& rests_in(Shared<P>& shared, std::uint32_t id) {
  return shared.resting[id / 64];
}
COHORT_FN constexpr std::uint64_t rest_bit(std::uint32_t id) {
  return std::uint64_t{1} << (id % 64);
}

/// Those of the ids from `lowest` to `highest`, all in one word.
COHORT_FN constexpr std::uint64_t bits_between(std::uint32_t lowest, std::uint32_t highest) {
  return ~std::uint64_t{0} >> (63 - highest % 64) & ~std::uint64_t{0} << (lowest % 64);
}
static_assert(bits_between(64, 127) == ~std::uint64_t{0} && bits_between(63, 63) == 1ULL << 63U &&
              bits_between(65, 66) == 6);

/// Of the ids in `set`, those from `highest` down to the first that is missing, or to `lowest`. All
/// in one word.
COHORT_FN constexpr std::uint64_t run_down(std::uint64_t set, std::uint32_t highest,
                                           std::uint32_t lowest) {
  std::uint64_t run = 0;
  for (std::uint32_t id = highest; (set & rest_bit(id)) != 0; --id) {
    run |= rest_bit(id);
    if (id == lowest) break;
  }
  return run;
}

/// Claims those who rest right below `id`, down to `least`. Returns how many. They stay claimed
/// until the roster or let_rest() tells them.
template <class P>
COHORT_FN std::uint32_t claim_resting(Shared<P>& shared, std::uint32_t id, std::uint32_t least) {
  std::uint32_t top = id;
  while (top > least) {
    const std::uint32_t highest = top - 1;
    const std::uint32_t first = highest / 64 * 64;  // of its word
    const std::uint32_t lowest = first > least ? first : least;
    auto& word = rests_in(shared, highest);
    // All of them, without a look at who rests first: that would be a round trip more.
    const std::uint64_t wanted = bits_between(lowest, highest);
    // Pairs with rest(): what they did comes before the swap that takes them away.
    const std::uint64_t got = word.fetch_and(~wanted, Order::acquire) & wanted;
    const std::uint64_t run = run_down(got, highest, lowest);
    // Somebody in between does not rest. Relaxed: carries on what rest() has released.
    if (got != run) word.fetch_or(got & ~run, Order::relaxed);
    while (top > lowest && (run & rest_bit(top - 1)) != 0) --top;
    if (top > lowest) break;
  }
  return id - top;
}

/// Those who were claimed rest on.
template <class P>
COHORT_FN void let_rest(Shared<P>& shared, std::uint32_t id, std::uint32_t claimed) {
  for (std::uint32_t i = 1; i <= claimed; ++i) {
    // Relaxed: carries on what rest() has released.
    rests_in(shared, id - i).fetch_or(rest_bit(id - i), Order::relaxed);
  }
}

/// Takes the group away whose turn it is, and those who rest below it. False when the roster has
/// moved on; `old` is then fresh.
template <class P, Traits traits, class State>
COHORT_FN bool leave_with_resting(Member<P, State>& member, Roster& old, std::uint32_t target) {
  auto& shared = member.shared;
  const std::uint32_t id = member.id;
  const std::uint32_t least = target == 0 ? 1 : target;  // group 0 has a state to leave behind
  const std::uint32_t others = old.draining() ? 0 : claim_resting(shared, id, least);
  // Before the swap: nobody may join above those who have yet to find out.
  if (others != 0) shared.departing.fetch_add(others, Order::relaxed);
  while (!leave<P, traits>(member, old, others)) {
    // Also after a fault: those who were claimed wait for the swap.
    if (!old.draining() && old.active() == id + 1) continue;
    if (others != 0) shared.departing.fetch_sub(others, Order::relaxed);
    let_rest(shared, id, others);
    return false;
  }
  return true;
}

/// As wait_for_turn(), but another leaver may claim this group and remove it together with itself.
/// Returns true if one has.
template <class P, class State>
COHORT_FN bool rest(Member<P, State>& member, std::uint64_t patience) {
  auto& shared = member.shared;
  const std::uint32_t id = member.id;
  auto& word = rests_in(shared, id);
  word.fetch_or(rest_bit(id), Order::release);  // pairs with claim_resting
  wait_for_turn(member, patience);
  // Whoever clears the bit decides: this group goes on only if it cleared the bit itself. A claim
  // that was given back can be followed by the next claim before this group looks.
  while ((word.fetch_and(~rest_bit(id), Order::relaxed) & rest_bit(id)) == 0) {
    bool taken = false;
    P::await(shared.offer_event, [&] {
      taken = shared.look().active() <= id;  // relaxed: all that is left to do is to go
      return taken || (word.load(Order::relaxed) & rest_bit(id)) != 0;
    });
    if (taken) return true;
  }
  return false;
}

/// Another group has taken this one along.
template <class P, class State>
COHORT_FN Verdict taken_along(Member<P, State>& member) {
  auto& shared = member.shared;
  member.active = member.id;  // as if it had left in its turn, which is also what was recorded
  member.left = true;
  member.id = no_id;
  shared.departing.fetch_sub(1, Order::release);  // pairs with growth(): its id is free again
  return Verdict::leave;
}

// ---- any order

/// Leaves by one subtraction, where a swap would fail again and again while many leave. Those who
/// may are counted beside the roster first, in `staying`, which nobody else looks at: it may be too
/// small for a moment, M never is. False: others go, or this is the last group.
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
    // The others have returned, so nobody has seen this. Relaxed: carries on what they released.
    shared.roster.fetch_add(1, Order::relaxed);
  }
  shared.staying.fetch_add(1, Order::relaxed);
  return false;
}

/// An offer that the first comparison did not settle.
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
        shared.target(Order::acquire);  // pairs with the host's release: flags come first
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
      bool gone = false;
      if constexpr (!any && Fenced<P>) {
        gone = leave_with_resting<P, traits>(member, old, target);
      } else {
        gone = leave<P, traits>(member, old);
      }
      if (gone) return Verdict::leave;
      continue;
    }

    // Waiting in the offer: never for long, for the group whose turn it is may be waiting for
    // something this one has yet to do.
    if (waited || patience == 0) return Verdict::stay;
    waited = true;
    if constexpr (Fenced<P>) {
      if (rest(member, patience)) return taken_along(member);
    } else {
      wait_for_turn(member, patience);
    }
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
  bool counted = false;
  while (!counted && !old.draining() && !old.faulted()) {
    if (old.arrived() != 0) {  // they wait for a group that will never come
      break_contract(member, Fault::returned_in_barrier);
      return;
    }
    // The first to return starts the count, in one step with having found nobody in a barrier.
    // Release pairs with the last finisher's acquire, which closes the job after everybody's work.
    const std::uint64_t first = (old.word | Roster::drain) + Roster::one_arrival;
    counted = shared.roster.compare_exchange(old.word, first, Order::acq_rel);
  }
  // The others need not swap: many at once would do so one by one. Who comes to a barrier now ends
  // the job by a fault, so all that count are finishers. Release and acquire as above.
  if (!counted) old = Roster{shared.roster.fetch_add(Roster::one_arrival, Order::acq_rel)};
  if (old.faulted()) {
    abandon(member);
    return;
  }
  member.trace(Trace::finish);
  P::notify(shared.offer_event);
  P::notify(shared.lobby_event);  // nobody can join any more
  if (Roster{(old.word | Roster::drain) + Roster::one_arrival}.finished()) close(shared);
}

}  // namespace cohort::protocol
