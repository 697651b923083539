// The global barrier and our one-pass resizing barrier.
// Invariant: a generation ends once, when all active groups have arrived; M changes only in the
// step that ends it.
#pragma once

#include "cohort/protocol/lobby.hpp"

namespace cohort::protocol {

/// Whether M is constant between resizing barriers. If so, the arrivals themselves can end a
/// generation (Roster::self_flip).
template <Traits traits>
inline constexpr bool steady =
    traits.resizes == Resizes::at_barriers&& traits.barrier == ResizingBarrier::one_pass;

/// Whether a group has to read the target before it arrives at a resizing barrier. A platform that
/// has read it recently enough may answer no.
template <class P, class State>
COHORT_FN bool looks(const Member<P, State>& member) {
  if constexpr (requires { P::looks(member); }) {
    return P::looks(member);
  } else {
    return true;
  }
}

/// What a barrier needs to know about the arriving group. Computed before the threads of the group
/// meet.
template <class P>
struct Place {
  Shared<P>& shared;
  std::uint32_t id;
  std::uint32_t active;
  std::uint32_t gen;
  std::uint32_t kinds;  // the kinds, for even and odd generations, after group 0's announcement
  Kind kind;
  bool votes;
  bool looks;
  mutable bool again = false;  // this group has voted for another step, or has seen such a vote
  std::uint64_t arrival;       // added to the roster on arrival

  /// Constructor for a barrier during which M may change.
  template <class State>
  COHORT_FN Place(const Member<P, State>& member, Kind its_kind)
      : Place(member.shared, member, its_kind, member.votes, false) {}
  /// Constructor for a barrier of a steady kernel. `flips`: M does not change, so group 0 may let
  /// the last arrival end the generation.
  template <class State>
  COHORT_FN Place(Shared<P>& its_shared, const Member<P, State>& member, Kind its_kind,
                  bool its_votes, bool flips)
      : shared(its_shared),
        id(member.id),
        active(member.active),
        gen(member.gen),
        kinds(member.kinds),
        kind(its_kind),
        votes(its_votes),
        looks(its_kind == Kind::resizing && protocol::looks(member)),
        arrival(Roster::one_arrival) {
    if (id != 0) return;
    if (flips) arrival = Roster::self_flip(active);
    // Group 0 also announces the kind of this barrier.
    const std::uint32_t bit = gen & 1U;
    const auto now = static_cast<std::uint64_t>(kind);
    arrival += (now - ((kinds >> bit) & 1U)) << (Roster::kind_shift + bit);
    kinds = (kinds & ~(1U << bit)) | (static_cast<std::uint32_t>(now) << bit);
  }
};

/// Part of group 0's arrival: clears the slot of the next vote.
template <class P>
COHORT_FN void clear_next_vote(const Place<P>& place) {
  // Relaxed: published by the arrival. This slot was last read before the arrivals of generation
  // gen - 2.
  if (place.id == 0 && place.votes) {
    place.shared.vote[(place.gen + 1) & 3U].store(0, Order::relaxed);
  }
}

/// Records whether this group wants another step. Call it before the group arrives at the barrier
/// that ends this step.
template <class P>
COHORT_FN void vote(const Place<P>& place, bool again) {
  place.again = again;
  if (!again) return;
  auto& slot = place.shared.vote[place.gen & 3U];
  // Loading first leaves the cache line shared among the groups. Where a load is a round trip, a
  // plain store costs less.
  if (Fenced<P> || slot.load(Order::relaxed) == 0) slot.store(1, Order::relaxed);
}

/// Whether a group voted for another step at generation `gen`. True for kernels that do not vote.
template <class P, class State>
COHORT_FN bool goes_on(const Member<P, State>& member, std::uint32_t gen) {
  return !member.votes ||
         member.shared.vote[gen & 3U].load(Order::relaxed) != 0;  // ordered by arrivals or release
}
/// Like goes_on() above, but after the release.
template <class P>
COHORT_FN bool goes_on(const Place<P>& place) {
  return !place.votes || place.again ||
         place.shared.vote[place.gen & 3U].load(Order::relaxed) != 0;  // ordered by the release
}

/// Called when the release has removed this group.
template <class P, class State>
COHORT_DETAIL_COLD COHORT_FN Verdict shed(Member<P, State>& member, Roster now) {
  auto& shared = member.shared;
  member.active = now.active();
  member.trace(Trace::shed, shared.kept.load(Order::relaxed));  // published by the release
  member.left = true;
  member.id = no_id;
  shared.departing.fetch_sub(1, Order::release);  // pairs with growth(); see also resize()
  return Verdict::leave;
}

/// The complete check after a release: the group enters the next generation, leaves, or finds a
/// fault.
template <class P, Traits traits, class State>
COHORT_FN Verdict pass_closely(Member<P, State>& member, Kind kind, Roster now) {
  if (now.faulted()) {
    abandon(member);
    return Verdict::gone;
  }
  // Without dense ids (KillOrder::any, in setup) the roster does not tell which groups leave.
  if (traits.kill_order == KillOrder::highest_first && member.id >= now.active()) {
    return kind == Kind::resizing ? shed(member, now)
                                  : break_contract(member, Fault::divergent_barrier);
  }
  if (now.kind(member.gen) != kind) return break_contract(member, Fault::divergent_barrier);
  member.gen = (member.gen + 1) & Roster::gen_mask;
  // M as of the release. The roster may be ahead of it if a quick group has already been killed.
  // `settled` is not: the next release has to wait for this group.
  member.active = steady<traits> ? now.active() : member.shared.settled.load(Order::relaxed);
  member.trace(Trace::pass, member.gen);
  return Verdict::stay;
}

/// The check after a release. If M does not change, one comparison recognises the common case.
template <class P, Traits traits, class State>
COHORT_FN Verdict pass(Member<P, State>& member, const Place<P>& place, Roster now) {
  if constexpr (!steady<traits>) {
    return pass_closely<P, traits>(member, place.kind, now);
  } else {
    const unsigned kind_bit = Roster::kind_shift + (place.gen & 1U);
    const std::uint32_t usual = place.active | static_cast<std::uint32_t>(place.kind) << kind_bit;
    const std::uint32_t tells = Roster::fault | Roster::active_mask | 1U << kind_bit;
    if (((static_cast<std::uint32_t>(now.word) ^ usual) & tells) != 0) {
      return pass_closely<P, traits>(member, place.kind, now);
    }
    member.gen = (place.gen + 1) & Roster::gen_mask;
    member.trace(Trace::pass, member.gen);
    return Verdict::stay;
  }
}

/// Waits for the release of this group's generation. If the platform reads the target only rarely,
/// this calls `meanwhile` now and then.
template <class P, class Meanwhile>
COHORT_FN Roster await_release(const Place<P>& place, Meanwhile meanwhile) {
  auto& shared = place.shared;
  const std::uint32_t gen = place.gen;
  // A load after the release could be another round trip. There, a group reads the votes while it
  // waits: a vote stays until the arrivals of generation gen + 3.
  const bool asks = Fenced<P> && place.votes && place.kind == Kind::resizing;
  Roster now;
  const auto done = [&] {
    const bool voted = asks && !place.again && shared.vote[gen & 3U].load(Order::relaxed) != 0;
    // Pairs with the releaser's read-modify-write, and so with all arrivals.
    now = shared.look(Order::acquire);
    if (voted) place.again = true;
    return now.gen() != gen || now.faulted();
  };
  if constexpr (requires { P::await(shared.barrier_event, done, meanwhile); }) {
    P::await(shared.barrier_event, done, meanwhile);
  } else {
    P::await(shared.barrier_event, done);
  }
  return now;
}
template <class P>
COHORT_FN Roster await_release(const Place<P>& place) {
  return await_release(place, [] {});
}

/// The last group to arrive sets M and releases the barrier, in one read-modify-write. `now` is the
/// full, unbiased roster.
template <class P, Traits traits, class State>
COHORT_DETAIL_COLD COHORT_FN Roster resize(Member<P, State>& member, Roster now) {
  constexpr bool may_fork = traits.resizes == Resizes::anywhere;
  auto& shared = member.shared;
  auto& states = member.states;
  const std::uint32_t gen = member.gen;
  const std::uint32_t active = now.active();
  const bool deposited =
      shared.deposit_gen.load(Order::relaxed) == gen;  // ordered by group 0's arrival
  // A deposit serves one barrier only: its generation number comes again after 2^30 barriers.
  shared.deposit_gen.store(no_deposit, Order::relaxed);  // published by the release below
  const std::uint32_t target =
      shared.target(Order::acquire);  // pairs with the host's release: it writes the flags first
  const bool last_step =
      !goes_on(member, gen);  // in the last step no group may join: it would run one step too many
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
    // Relaxed: a leaving group reads the roster before it decrements `departing`, so it cannot see
    // the addition below. The addition cannot move before the load of `departing`: for shed()
    // because of its release, for taken_along() because of the fence in claim().
  } else if (!last_step && deposited && shared.departing.load(Order::relaxed) == 0) {
    next = active + claim(shared, target - active);
    // No group can fork while all are in the barrier. Hold the lock from the release until all
    // joining groups are admitted: a group that is released here and forks would take the boxes
    // claimed here for its own.
    if constexpr (may_fork) {
      if (next > active) shared.fork_lock.store(1, Order::relaxed);  // published by the release
    }
  }

  member.active = next;
  member.trace(Trace::resize, active);  // before another group can act on it
  const Roster released = now.released(next);
  // Published by the next line, as in release().
  if constexpr (!steady<traits>) shared.settled.store(next, Order::relaxed);
  shared.roster.fetch_add(released.word - now.word,
                          Order::release);  // pairs with the waiters' acquire
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

/// Group 0 deposits its state, for groups that may join at generation `gen` or for a suspend.
template <class P, class State>
COHORT_FN void deposit(Member<P, State>& member, std::uint32_t gen, const State& state) {
  written<P>(member.states.deposit[gen & 1U]) = state;
  member.shared.deposit_gen.store(gen,
                                  Order::relaxed);  // published by the arrival or veto after it
}

/// Reads the target again while group 0 waits at a resizing barrier that would flip by itself. If a
/// resize is wanted, requests it at this barrier.
template <class P, class State>
COHORT_DETAIL_COLD COHORT_FN void look_again(Member<P, State>& member, const State& state) {
  auto& shared = member.shared;
  Roster old = shared.look();  // after a flip, the roster has no bias until group 0 arrives again
  if (shared.target() == member.active || !old.biased()) return;
  deposit(member, member.gen, state);  // other groups do not read it if the barrier flips by itself
  while (old.biased()) {
    const Roster next{old.word - Roster::bias(member.active)};
    // Pairs with the last arrival's acquire: that group finds the deposit.
    if (shared.roster.compare_exchange(old.word, next.word, Order::release)) return;
  }
  // The barrier has flipped by itself. Relaxed: published by this group's next arrival.
  shared.deposit_gen.store(no_deposit, Order::relaxed);
}

/// Arrives by addition and returns the resulting roster. Release: publishes this group's writes.
/// Acquire: shows the writes of all earlier arrivals, in case this one is the last.
template <class P>
COHORT_FN Roster arrive_by(Shared<P>& shared, std::uint64_t add) {
  return {shared.roster.fetch_add(add, Order::acq_rel) + add};
}

/// Arrives and keeps the generation from flipping by itself.
template <class P, class State>
COHORT_DETAIL_COLD COHORT_FN Roster arrive_with_veto(Member<P, State>& member,
                                                     std::uint64_t arrival) {
  auto& shared = member.shared;
  const std::uint64_t bias = Roster::bias(member.active);
  if (member.id == 0) return arrive_by(shared, arrival - bias);
  // Several groups may want this. Once one of them has removed the bias, the others just arrive.
  for (Roster old = shared.look(); old.biased();) {
    const Roster next{old.word + arrival - bias};
    if (shared.roster.compare_exchange(old.word, next.word, Order::acq_rel)) return next;
  }
  return arrive_by(shared, arrival);
}

/// Arrives at a barrier during which M may change. The group that completes the count decides what
/// happens next.
template <class P, class State>
COHORT_FN Roster arrive(Member<P, State>& member, const Place<P>& place) {
  clear_next_vote(place);
  const Roster now = arrive_by(place.shared, place.arrival);
  member.kinds = place.kinds;
  if (now.arrived() != now.active())
    // Wakes groups that wait in offers, because this barrier needs them.
    P::notify(place.shared.offer_event);
  return now;
}

/// Releases a full barrier without touching M.
template <class P>
COHORT_FN Roster release(Shared<P>& shared, Roster now) {
  // All groups are in the barrier, so only FAULT can change the word. An addition leaves that bit
  // alone.
  const Roster released = now.released(now.active());
  shared.settled.store(now.active(), Order::relaxed);  // published by the next line
  shared.roster.fetch_add(released.word - now.word,
                          Order::release);  // pairs with the waiters' acquire
  P::notify(shared.barrier_event);
  return released;
}

/// Handles an arrival that does more than wait: it completes the count, or it is at a barrier that
/// a group which has returned can never reach.
template <class P, Traits traits, class State>
COHORT_FN Verdict complete(Member<P, State>& member, Kind kind, Roster now) {
  if (now.draining()) return break_contract(member, Fault::barrier_after_return);
  if (kind == Kind::plain || traits.barrier != ResizingBarrier::one_pass) {
    now = release(member.shared, now);
  } else {
    if (now.kind(member.gen) != Kind::resizing) {
      return break_contract(member, Fault::divergent_barrier);
    }
    now = resize<P, traits>(member, now);
  }
  return pass_closely<P, traits>(member, kind, now);
}

/// From the arrival, whose resulting roster is `now`, to the release.
template <class P, Traits traits, class State, class Meanwhile>
COHORT_FN Verdict await_others(Member<P, State>& member, const Place<P>& place, Roster now,
                               Meanwhile meanwhile) {
  const bool flipped = now.gen() != place.gen;
  if (now.draining() || now.arrived() == now.active()) {
    return complete<P, traits>(member, place.kind, now);
  }
  if (flipped) {
    P::notify(place.shared.barrier_event);
  } else {
    now = await_release(place, meanwhile);
  }
  return pass<P, traits>(member, place, now);
}

/// Whether this group, before it arrives, sees that a change of M is wanted. If so, group 0
/// deposits its state.
template <class P, class State>
COHORT_FN bool wants_resize(Member<P, State>& member, const State& state) {
  const std::uint32_t target = member.shared.target();
  if (member.id != 0) return target < member.active;
  if (target == member.active) return false;
  deposit(member, member.gen, state);
  return true;
}

/// A barrier of a kernel whose M is steady. `state` is null at a plain barrier.
template <class P, Traits traits, class State>
COHORT_FN Verdict steady_barrier(Member<P, State>& member, const Place<P>& place,
                                 const State* state) {
  const bool veto = place.looks && state != nullptr && wants_resize(member, *state);
  clear_next_vote(place);
  const Roster now =
      veto ? arrive_with_veto(member, place.arrival) : arrive_by(place.shared, place.arrival);
  member.kinds = place.kinds;
  return await_others<P, traits>(member, place, now, [&] {
    if (place.id == 0 && state != nullptr) look_again(member, *state);
  });
}

/// Either barrier of this file. With a state, M may change.
template <class P, Traits traits, class State>
COHORT_FN Verdict barrier(Member<P, State>& member, const Place<P>& place, const State* state) {
  if (place.id == no_id) return break_contract(member, Fault::used_after_leaving);
  member.trace(Trace::arrive, place.gen);
  if constexpr (!steady<traits>) {
    auto& shared = place.shared;
    if (state != nullptr && place.id == 0 && shared.target() != shared.look().active()) {
      deposit(member, place.gen, *state);
    }
    return await_others<P, traits>(member, place, arrive(member, place), [] {});
  } else {
    return steady_barrier<P, traits>(member, place, state);
  }
}

/// All active groups meet. Writes before the barrier are visible after it.
template <class P, Traits traits, class State>
COHORT_FN Verdict global_barrier(Member<P, State>& member, const Place<P>& place) {
  return barrier<P, traits>(member, place, static_cast<const State*>(nullptr));
}

/// Our resizing barrier: each group arrives once, and the last one sets M.
template <class P, Traits traits, class State>
COHORT_FN Verdict one_pass_barrier(Member<P, State>& member, const Place<P>& place,
                                   const State& state) {
  const Verdict verdict = barrier<P, traits>(member, place, &state);
  // In a step kernel, a group returns on leave and on halt.
  return goes_on(place) ? verdict : Verdict::halt;
}

}  // namespace cohort::protocol
