// The global barrier and our one-pass resizing barrier.
// Invariant: a generation ends once, when all active groups have arrived; M changes only in the
// step that ends it.
#pragma once

#include "cohort/protocol/lobby.hpp"

namespace cohort::protocol {

/// M stands still between resizing barriers, so that arrivals may count by themselves
/// (Roster::self_flip).
template <Traits traits>
inline constexpr bool steady =
    traits.resizes == Resizes::at_barriers&& traits.barrier == ResizingBarrier::one_pass;

/// What a barrier needs to know of its group, read once and together: a GPU pays for each look.
template <class P>
struct Place {
  Shared<P>& shared;
  std::uint32_t id;
  std::uint32_t active;
  std::uint32_t gen;
  bool votes;

  template <class State>
  COHORT_FN explicit Place(const Member<P, State>& member)
      : shared(member.shared),
        id(member.id),
        active(member.active),
        gen(member.gen),
        votes(member.votes) {}
};

/// Group 0's share of every arrival: it clears the next vote and announces the kind of barrier it
/// stands at, which is what it adds to the roster. Nothing for the others.
template <class P, class State>
COHORT_FN std::uint64_t announcement(Member<P, State>& member, Kind kind) {
  if (member.id != 0) return 0;
  // Relaxed: published by the arrival. This slot was last read before the arrivals of generation
  // gen - 2.
  if (member.votes) member.shared.vote[(member.gen + 1) & 3U].store(0, Order::relaxed);
  const std::uint32_t bit = member.gen & 1U;
  const std::uint64_t was = (member.kinds >> bit) & 1U;
  const auto now = static_cast<std::uint64_t>(kind);
  member.kinds = (member.kinds & ~(1U << bit)) | (static_cast<std::uint32_t>(now) << bit);
  return (now - was) << (Roster::kind_shift + bit);
}

/// Whether this group wants another step. Call before arriving at the barrier that ends this one.
template <class P, class State>
COHORT_FN void vote(Member<P, State>& member, bool again) {
  member.again = again;
  if (!again) return;
  auto& slot = member.shared.vote[member.gen & 3U];
  // A look spares the others the loss of their line; where it is a round trip it costs more.
  if (Fenced<P> || slot.load(Order::relaxed) == 0) slot.store(1, Order::relaxed);
}

/// Whether anybody voted for another step at generation `gen`; true for kernels that do not vote.
template <class P, class State>
COHORT_FN bool goes_on(const Member<P, State>& member, std::uint32_t gen) {
  return !member.votes || member.again ||
         member.shared.vote[gen & 3U].load(Order::relaxed) != 0;  // ordered by arrivals or release
}

/// Where an arrival found the roster, and what it made of it. `old` tells of faults and of groups
/// that have returned.
struct Arrival {
  Roster old;
  Roster now;

  [[nodiscard]] COHORT_FN constexpr bool good() const { return !old.faulted() && !old.draining(); }
};

/// An arrival that cannot be: after a fault, or at a barrier that a group which has returned can
/// never reach.
template <class P, class State>
COHORT_FN Verdict refuse(Member<P, State>& member, Arrival arrival) {
  if (!arrival.old.faulted()) return break_contract(member, Fault::barrier_after_return);
  abandon(member);
  return Verdict::gone;
}

/// After the release: the group goes on into the next generation, or finds that it is to leave.
template <class P, Traits traits, class State>
COHORT_FN Verdict pass(Member<P, State>& member, const Place<P>& place, Roster now, Kind kind) {
  auto& shared = place.shared;
  if (now.faulted()) {
    abandon(member);
    return Verdict::gone;
  }
  // Without dense ids (KillOrder::any, in setup) the roster says nothing about who is to leave.
  if (traits.kill_order == KillOrder::highest_first && place.id >= now.active()) {
    if (kind != Kind::resizing) return break_contract(member, Fault::divergent_barrier);
    member.active = now.active();
    // Relaxed: published by the release.
    member.trace(Trace::shed, place.id == 0 ? shared.kept.load(Order::relaxed) : 0);
    member.left = true;
    member.id = no_id;
    shared.departing.fetch_sub(
        1, Order::release);  // pairs with may_grow and resize: ids are free to be given again
    return Verdict::leave;
  }
  if (now.kind(place.gen) != kind) return break_contract(member, Fault::divergent_barrier);
  member.gen = (place.gen + 1) & Roster::gen_mask;
  // M as of the release. The roster may be ahead of it where a quick group has already been taken
  // again; `settled` is not: the next release has to wait for this group.
  member.active = steady<traits> ? now.active() : shared.settled.load(Order::relaxed);
  member.trace(Trace::pass, member.gen);
  return Verdict::stay;
}

/// Waits until somebody releases this group's generation.
template <class P, class State>
COHORT_FN Roster await_release(Member<P, State>& member, const Place<P>& place) {
  auto& shared = place.shared;
  const std::uint32_t gen = place.gen;
  // Where a look after the release would be another round trip, votes are looked for meanwhile: one
  // that is there stays until the arrivals of generation gen + 3.
  const bool asks = Fenced<P> && place.votes && !member.again;
  Roster now;
  P::await(shared.barrier_event, [&] {
    const bool voted = asks && shared.vote[gen & 3U].load(Order::relaxed) != 0;
    now = shared.look(
        Order::acquire);  // pairs with the releaser's read-modify-write, and so with all arrivals
    if (voted) member.again = true;
    return now.gen() != gen || now.faulted();
  });
  return now;
}

/// The last arriver sets M and releases, in one read-modify-write. `now` is the full, unbiased
/// roster.
template <class P, Traits traits, class State>
COHORT_FN Roster resize(Member<P, State>& member, Roster now) {
  constexpr bool may_fork = traits.resizes == Resizes::anywhere;
  auto& shared = member.shared;
  auto& states = member.states;
  const std::uint32_t gen = member.gen;
  const std::uint32_t active = now.active();
  const bool deposited =
      shared.deposit_gen.load(Order::relaxed) == gen;  // ordered by group 0's arrival
  const std::uint32_t target =
      shared.target(Order::acquire);  // pairs with the host: flags come first
  const bool last_step =
      !goes_on(member, gen);  // then nobody may join, or it would run a step too many
  std::uint32_t next = active;
  if (!last_step && target < active) {
    const bool keeps = target == 0 && shared.suspending() && deposited;
    const bool empties =
        keeps || (traits.survivors == Survivors::may_all_leave && !shared.suspending());
    next = target == 0 && !empties ? 1 : target;
    if (keeps) {
      written<P>(states.kept) = read<P>(states.deposit[gen & 1U]);
      shared.kept.store(1, Order::relaxed);  // read by the host after all groups are out
    }
    shared.departing.fetch_add(active - next, Order::relaxed);  // published by the release below
  } else if (!last_step && target > active && deposited &&
             shared.departing.load(Order::acquire) == 0) {  // pairs with the leavers' release
    // Free now, since everybody is inside. Held until all are admitted: a group that we release may
    // fork at once, and would take the boxes we have claimed for its own.
    if constexpr (may_fork) shared.fork_lock.exchange(1, Order::acq_rel);  // pairs with the unlock
    next = active + claim(shared, target - active);
    if constexpr (may_fork) {
      if (next == active) shared.fork_lock.store(0, Order::release);  // pairs with the next holder
    }
  }

  member.active = next;
  member.trace(Trace::resize, active);  // before anybody can act on it
  const Roster released = now.released(next);
  if constexpr (!steady<traits>) shared.settled.store(next, Order::relaxed);  // as in release()
  shared.roster.fetch_add(released.word - now.word, Order::acq_rel);
  if (next > active) {
    std::uint32_t id = active;
    admit(member, read<P>(states.deposit[gen & 1U]), released.gen(), Entry::run,
          [&](const Box<P>&) { return id++; });
    if constexpr (may_fork)
      shared.fork_lock.store(0, Order::release);  // pairs with the next holder
  }
  if (next == 0) close(shared);
  P::notify(shared.barrier_event);
  return released;
}

/// Group 0 leaves its state for groups that may join at this generation, or for a suspend.
template <class P, class State>
COHORT_FN void deposit(Member<P, State>& member, const State& state) {
  written<P>(member.states.deposit[member.gen & 1U]) = state;
  member.shared.deposit_gen.store(member.gen,
                                  Order::relaxed);  // published by the arrival that follows
}

/// Arrival by addition. Release: this group's writes; acquire: those of all before it, should this
/// arrival be the last.
template <class P>
COHORT_FN Arrival arrive_by(Shared<P>& shared, std::uint64_t add) {
  const Roster old{shared.roster.fetch_add(add, Order::acq_rel)};
  return {old, {old.word + add}};
}

/// Arrival where M stands still. `veto` keeps the generation from flipping by itself.
template <class P, class State>
COHORT_FN Arrival arrive_steadily(Member<P, State>& member, const Place<P>& place, Kind kind,
                                  bool veto) {
  auto& shared = place.shared;
  if (place.id == 0) {
    const std::uint64_t announced = announcement(member, kind);
    return arrive_by(shared,
                     (veto ? Roster::one_arrival : Roster::self_flip(place.active)) + announced);
  }
  if (veto) {
    // Once one of those who want it has taken the bias out the others just arrive.
    for (Roster old = shared.look(); old.biased();) {
      const Roster next{old.word + Roster::one_arrival - Roster::bias(place.active)};
      if (shared.roster.compare_exchange(old.word, next.word, Order::acq_rel)) return {old, next};
    }
  }
  return arrive_by(shared, Roster::one_arrival);
}

/// Arrival where M may change meanwhile: whoever makes the count full takes the next step.
template <class P, class State>
COHORT_FN Arrival arrive(Member<P, State>& member, Kind kind) {
  const Arrival arrival =
      arrive_by(member.shared, Roster::one_arrival + announcement(member, kind));
  if (arrival.now.arrived() != arrival.now.active())
    P::notify(member.shared.offer_event);  // who waits in an offer is waited for
  return arrival;
}

/// Releases a full barrier without touching M.
template <class P>
COHORT_FN Roster release(Shared<P>& shared, Roster now) {
  // Everybody is inside, so nothing but FAULT can change the word: an addition leaves that bit
  // alone.
  const Roster released = now.released(now.active());
  shared.settled.store(now.active(), Order::relaxed);  // published by the next line
  shared.roster.fetch_add(released.word - now.word,
                          Order::acq_rel);  // pairs with the waiters' acquire
  P::notify(shared.barrier_event);
  return released;
}

/// All active groups meet; everything written before is visible after.
template <class P, Traits traits, class State>
COHORT_FN Verdict global_barrier(Member<P, State>& member, Kind kind = Kind::plain) {
  const Place<P> place{member};
  if (place.id == no_id) return break_contract(member, Fault::used_after_leaving);
  member.trace(Trace::arrive, place.gen);
  Arrival arrival;
  if constexpr (steady<traits>) {
    arrival = arrive_steadily(member, place, kind, false);
  } else {
    arrival = arrive(member, kind);
  }
  if (!arrival.good()) return refuse(member, arrival);
  Roster now = arrival.now;
  if (now.gen() != place.gen) {
    P::notify(place.shared.barrier_event);
  } else if (now.arrived() == now.active()) {
    now = release(place.shared, now);
  } else {
    now = await_release(member, place);
  }
  return pass<P, traits>(member, place, now, kind);
}

/// The target as of a resizing barrier. A platform may know one that is recent enough without a
/// load that the arrival would have to wait for.
template <class P, class State>
COHORT_FN std::uint32_t target_at_barrier(const Member<P, State>& member) {
  if constexpr (requires { P::recent_target(member); }) {
    return P::recent_target(member);
  } else {
    return member.shared.target();
  }
}

/// Our resizing barrier: everybody arrives once, and the last one sets M.
template <class P, Traits traits, class State>
COHORT_FN Verdict one_pass_barrier(Member<P, State>& member, const State& state) {
  const Place<P> place{member};
  auto& shared = place.shared;
  const std::uint32_t gen = place.gen;
  const std::uint32_t target = target_at_barrier(member);
  if (place.id == no_id) return break_contract(member, Fault::used_after_leaving);
  member.trace(Trace::arrive, gen);
  Arrival arrival;
  if constexpr (steady<traits>) {
    const bool pending = place.id == 0 ? target != place.active : target < place.active;
    if (pending && place.id == 0) deposit(member, state);
    arrival = arrive_steadily(member, place, Kind::resizing, pending);
  } else {
    if (place.id == 0 && target != shared.look().active()) deposit(member, state);
    arrival = arrive(member, Kind::resizing);
  }
  if (!arrival.good()) return refuse(member, arrival);
  Roster now = arrival.now;
  if (now.gen() != gen) {
    P::notify(shared.barrier_event);
  } else if (now.arrived() == now.active()) {
    if (now.kind(gen) != Kind::resizing) return break_contract(member, Fault::divergent_barrier);
    now = resize<P, traits>(member, now);
  } else {
    now = await_release(member, place);
  }
  const Verdict verdict = pass<P, traits>(member, place, now, Kind::resizing);
  const bool last_step = place.votes && !goes_on(member, gen);
  return verdict == Verdict::stay && last_step ? Verdict::halt : verdict;
}

}  // namespace cohort::protocol
