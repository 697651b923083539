// The paper's own resizing barriers, for comparison: plain and query (section 4.2) and modelled
// (section 3.1). They consist of the same primitives as a kernel's code: offer_kill, request_fork,
// arrivals.
// Invariant: within an interval all groups work with one M, which the master publishes when it
// releases them (`settled`).
#pragma once

#include "cohort/protocol/barrier.hpp"
#include "cohort/protocol/fork.hpp"
#include "cohort/protocol/kill.hpp"

namespace cohort::protocol {

/// Leaves unconditionally when this group's turn comes. In the query barrier, the groups that the
/// scheduler wants back call this.
template <class P, Traits traits, class State>
COHORT_FN Verdict leave_in_turn(Member<P, State>& member) {
  auto& shared = member.shared;
  for (;;) {
    Roster now;
    P::await(shared.offer_event, [&] {
      now = shared.look(Order::acquire);  // pairs with the leaver above this group
      return now.active() == member.id + 1 || now.faulted();
    });
    if (now.faulted()) {
      abandon(member);
      return Verdict::leave;
    }
    if (!leave<P, traits>(member, now)) continue;
    // Pairs with growth(): no group may join above this one.
    shared.departing.fetch_sub(1, Order::release);
    return Verdict::leave;
  }
}

/// Called after the master's release. The group continues with the M that the master published, or
/// leaves.
template <class P, Traits traits, class State>
COHORT_FN Verdict settle(Member<P, State>& member, Roster now) {
  if (now.faulted()) {
    abandon(member);
    return Verdict::gone;
  }
  if (now.kind(member.gen) != Kind::resizing)
    return break_contract(member, Fault::divergent_barrier);
  const bool last_step = !goes_on(member, member.gen);
  member.gen = (member.gen + 1) & Roster::gen_mask;
  // Relaxed: ordered by the release, and stable until this group arrives again.
  member.active = member.shared.settled.load(Order::relaxed);
  member.trace(Trace::pass, member.gen);
  if (member.id >= member.active) return leave_in_turn<P, traits>(member);
  return last_step ? Verdict::halt : Verdict::stay;
}

/// The part of a slave in the master/slave barrier: signals, then waits until it is released.
template <class P, Traits traits, class State>
COHORT_FN Verdict slave(Member<P, State>& member) {
  member.trace(Trace::arrive, member.gen);
  const Place<P> place{member, Kind::resizing};
  const Roster now = arrive(member, place);
  if (now.draining()) return break_contract(member, Fault::barrier_after_return);
  // The master never counts itself. A full count means that it stands at another barrier.
  if (now.arrived() == now.active()) return break_contract(member, Fault::divergent_barrier);
  return settle<P, traits>(member, await_release(place));
}

/// The part of the master: waits for the slaves, forks, decides how many groups continue, and
/// releases them.
template <class P, Traits traits, class State>
COHORT_FN Verdict master(Member<P, State>& member, const State& state) {
  auto& shared = member.shared;
  member.trace(Trace::arrive, member.gen);
  Roster now;
  P::await(shared.offer_event, [&] {
    now = shared.look(Order::acquire);  // pairs with the slaves' arrivals
    return now.arrived() + 1 == now.active() || now.draining() || now.faulted();
  });
  if (now.faulted()) {
    abandon(member);
    return Verdict::gone;
  }
  if (now.draining()) return break_contract(member, Fault::barrier_after_return);

  std::uint32_t settled = now.active();
  if (goes_on(member, member.gen)) {
    if (request_fork<P, traits>(member, state, Entry::slave) == fork_gone) return Verdict::gone;
    now = shared.look();  // relaxed: the slaves wait, so only this group's fork has changed M
    settled = now.active();
    const std::uint32_t target = shared.target();
    if (traits.barrier == ResizingBarrier::query && target < settled)
      settled = target != 0 ? target : 1;
    // A suspend removes all groups. If its flag is not visible yet, it does so at the next barrier.
    if (shared.suspending()) {
      written<P>(member.states.kept) = state;
      shared.kept.store(1, Order::relaxed);  // read by the host after all groups are out
      settled = 0;
    }
  }
  shared.settled.store(settled, Order::relaxed);  // published by the release, like the next line
  shared.departing.fetch_add(now.active() - settled, Order::relaxed);
  member.active = settled;
  member.trace(Trace::resize, now.active());  // before another group can act on it
  const Place<P> place{member, Kind::resizing};
  clear_next_vote(place);
  member.kinds = place.kinds;
  const std::uint64_t announced = place.arrival - Roster::one_arrival;
  const Roster released{now.released(now.active()).word + announced};
  shared.roster.fetch_add(released.word - now.word,
                          Order::release);  // pairs with the slaves' acquire
  P::notify(shared.barrier_event);
  return settle<P, traits>(member, released);
}

/// The second half of the modelled barrier: barrier, kill, barrier. Groups that the first half
/// forked start here.
template <class P, Traits traits, class State>
COHORT_FN Verdict modelled_second_half(Member<P, State>& member, const State* state, bool goes_on) {
  Verdict verdict = global_barrier<P, traits>(member, Place<P>{member, Kind::resizing});
  if (verdict != Verdict::stay) return verdict;
  if (goes_on) {  // group 0 stays, unless it is the last group and may leave
    verdict = offer_kill_slowly<P, traits>(member, state, 0);
    if (verdict != Verdict::stay) return verdict;
  }
  verdict = global_barrier<P, traits>(member, Place<P>{member, Kind::resizing});
  return verdict == Verdict::stay && !goes_on ? Verdict::halt : verdict;
}

/// The resizing barrier as section 3.1 models it: barrier, fork, barrier, kill, barrier.
template <class P, Traits traits, class State>
COHORT_FN Verdict modelled_barrier(Member<P, State>& member, const State& state) {
  const std::uint32_t gen = member.gen;
  const Verdict verdict = global_barrier<P, traits>(member, Place<P>{member, Kind::resizing});
  if (verdict != Verdict::stay) return verdict;
  const bool another = goes_on(member, gen);
  if (another && member.id == 0 &&
      request_fork<P, traits>(member, state, Entry::modelled) == fork_gone) {
    return Verdict::gone;
  }
  return modelled_second_half<P, traits>(member, &state, another);
}

/// The resizing barrier that the kernel's traits select.
template <class P, Traits traits, class State>
COHORT_FN Verdict resizing_barrier(Member<P, State>& member, const Place<P>& place,
                                   const State& state) {
  if constexpr (traits.barrier == ResizingBarrier::one_pass) {
    return one_pass_barrier<P, traits>(member, place, state);
  } else {
    if (member.left) return break_contract(member, Fault::used_after_leaving);
    if constexpr (traits.barrier == ResizingBarrier::modelled) {
      return modelled_barrier<P, traits>(member, state);
    } else {
      if (member.id == 0) return master<P, traits>(member, state);
      if constexpr (traits.barrier == ResizingBarrier::plain) {
        const Verdict verdict =
            offer_kill_slowly<P, traits>(member, static_cast<const State*>(nullptr), 0);
        if (verdict != Verdict::stay) return verdict;
      }
      return slave<P, traits>(member);
    }
  }
}

/// Takes a joining group from the place where it was forked to the start of run().
template <class P, Traits traits, class State>
COHORT_FN Verdict enter(Member<P, State>& member) {
  if constexpr (traits.barrier != ResizingBarrier::one_pass) {
    if (member.entry == Entry::slave)
      return settle<P, traits>(member, await_release(Place<P>{member, Kind::resizing}));
    if (member.entry == Entry::modelled)
      return modelled_second_half<P, traits>(member, &member.state, true);
  }
  return Verdict::stay;
}

}  // namespace cohort::protocol
