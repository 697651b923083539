// The lobby, where groups that have started wait to be admitted, and the check-in of the first
// groups.
// Invariant: only one side writes a box at a time: its waiter while the box is empty or waiting,
// the admitting group once it is claimed.
#pragma once

#include "cohort/protocol/ids.hpp"
#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {

/// A bit in the word of tickets: later tickets do not count.
inline constexpr std::uint32_t no_more_tickets = 1U << 31U;

/// Ends the check-in with the holders of the first `count` tickets. Only one group calls this: the
/// holder of the last ticket or, if there is a deadline, the starter.
template <class P>
COHORT_FN void close_check_in(Shared<P>& shared, std::uint32_t count) {
  shared.settled.store(count, Order::relaxed);  // published by the addition, like the next line
  shared.staying.store(count, Order::relaxed);
  // Until now only FAULT could change the word: an addition leaves that bit alone. Release pairs
  // with the acquire of the groups that wait to start.
  shared.roster.fetch_add(count - Roster::gather, Order::release);
  // Ids of groups that did not come are free for joining groups (KillOrder::any).
  if (shared.free_ids != nullptr) {
    for (std::uint32_t id = count; id < shared.quorum; ++id) free_id(shared, id);
  }
  P::notify(shared.barrier_event);
}

/// Check-in: a ticket is an id of the first set. Returns false if no ticket is left; the group then
/// tries the lobby.
template <class P, class State>
COHORT_FN bool check_in(Member<P, State>& member) {
  auto& shared = member.shared;
  // A ticket carries nothing but its number, and the roster tells when to start, so relaxed would
  // do. But on platforms where groups sleep, Event requires release: the last ticket wakes the
  // starter.
  const std::uint32_t ticket =
      shared.tickets.fetch_add(1, Fenced<P> ? Order::relaxed : Order::release);
  if (ticket >= shared.quorum) return false;
  member.id = ticket;

  const bool last = ticket + 1 == shared.quorum;
  const bool starter_closes = shared.start_deadline != 0;
  if (starter_closes && ticket == 0) {
    P::await_for(shared.barrier_event, shared.start_deadline, [&shared] {
      // Pairs with the release of the last ticket, and of raise().
      return shared.tickets.load(Order::acquire) >= shared.quorum ||
             shared.look(Order::acquire).faulted();
    });
    const std::uint32_t taken = shared.tickets.fetch_or(no_more_tickets, Order::relaxed);
    close_check_in(shared, taken < shared.quorum ? taken : shared.quorum);
  } else if (last && !starter_closes) {
    close_check_in(shared, shared.quorum);
  } else {
    if (last) P::notify(shared.barrier_event);
    P::await(shared.barrier_event, [&shared] {
      const Roster now = shared.look(Order::acquire);  // pairs with the closer's addition
      return !now.gathering() || now.faulted();
    });
  }

  if (shared.look().faulted()) {
    abandon(member);
    return false;
  }
  // M is not read from the roster: a quick group may have left again, and all first groups must
  // work with the same M.
  member.active = shared.settled.load(Order::relaxed);
  member.joined = shared.restarted;
  member.state = read<P>(member.states.kept);
  member.trace(Trace::start, member.active);
  return true;
}

/// Whether a group in the lobby should leave, because no group will admit it, or because its unit
/// is wanted elsewhere.
template <class P>
COHORT_FN bool unwanted(const Shared<P>& shared, std::uint32_t serial) {
  // Acquire, here and below: pairs with the writes that precede a notification of the lobby. The
  // serial changes only between runs.
  const bool over = shared.closed.load(Order::acquire) != 0;
  if (over || shared.serial.load(Order::relaxed) != serial) return true;
  const Roster now = shared.look(Order::acquire);
  // Count the groups that have yet to check in: their check-in would not wake this group.
  const std::uint32_t active = now.gathering() ? shared.quorum : now.active();
  return now.draining() ||
         active + shared.waiting.load(Order::acquire) > shared.target(Order::acquire);
}

/// Waits in the lobby. Returns true if admitted, with `member` filled in. Returns false if not
/// wanted; then nothing was changed.
template <class P, class State>
COHORT_FN bool wait_in_lobby(Member<P, State>& member, std::uint32_t serial, std::uint32_t hint) {
  auto& shared = member.shared;
  std::uint32_t seat = hint % shared.max_groups;
  for (std::uint32_t tried = 0;; ++tried) {  // at most max_groups are inside, so one box is free
    if (unwanted(shared, serial) || tried == shared.max_groups) return false;
    Seat empty = Seat::empty;
    // Relaxed: continues the release sequence of the last waiter, for the claimer.
    if (shared.boxes[seat].seat.compare_exchange(empty, Seat::waiting, Order::relaxed)) break;
    seat = seat + 1 == shared.max_groups ? 0 : seat + 1;
  }
  // Relaxed: a fork that sees the count but not yet the box leaves the box for the next fork.
  shared.waiting.fetch_add(1, Order::relaxed);

  Box<P>& box = shared.boxes[seat];
  for (;;) {
    Seat now = Seat::waiting;
    P::await(shared.lobby_event, [&] {
      now = box.seat.load(Order::acquire);  // pairs with the release in admit()
      return now == Seat::admitted || (now == Seat::waiting && unwanted(shared, serial));
    });
    if (now == Seat::admitted) break;
    if (box.seat.compare_exchange(now, Seat::empty, Order::relaxed)) {
      shared.waiting.fetch_sub(1, Order::relaxed);
      return false;
    }
  }
  member.id = read<P>(box.id);
  member.entry = box.entry;
  member.gen = box.gen;
  member.state = read<P>(member.states.boxes[seat]);
  // Pairs with the next claimer's acquire: this group has read the box.
  box.seat.store(Seat::empty, Order::release);

  member.joined = true;
  member.active = shared.look().active();
  member.trace(Trace::join, member.gen);
  return true;
}

/// The number of boxes that are loaded together.
inline constexpr std::uint32_t batch = 8;

template <class P>
COHORT_FN void look_at_seats(const Shared<P>& shared, std::uint32_t first, Seat (&seats)[batch]) {
  for (std::uint32_t i = 0; i < batch; ++i) {
    const std::uint32_t at = first + i;
    seats[i] = at < shared.max_groups ? shared.boxes[at].seat.load(Order::relaxed) : Seat::empty;
  }
}

/// Claims up to `wanted` waiting groups. One claimer at a time: the holder of fork_lock or, in a
/// kernel that does not fork, the group that completed the barrier.
template <class P>
COHORT_FN std::uint32_t claim(Shared<P>& shared, std::uint32_t wanted) {
  std::uint32_t claimed = 0;
  if constexpr (Fenced<P>) {
    if (shared.waiting.load(Order::relaxed) == 0) return 0;
    // A batch of loads costs the latency of one.
    for (std::uint32_t first = 0; first < shared.max_groups && claimed < wanted; first += batch) {
      Seat seats[batch];
      look_at_seats(shared, first, seats);
      for (std::uint32_t i = 0; i < batch && claimed < wanted; ++i) {
        Seat waiting = Seat::waiting;
        if (seats[i] == waiting &&
            shared.boxes[first + i].seat.compare_exchange(waiting, Seat::claimed, Order::relaxed)) {
          ++claimed;
        }
      }
    }
    // Orders the writes to the boxes after the reads of the boxes' last joiners.
    P::fence();
    shared.waiting.fetch_sub(claimed, Order::relaxed);
  } else {
    for (std::uint32_t i = 0; i < shared.max_groups && claimed < wanted; ++i) {
      if (shared.waiting.load(Order::relaxed) == 0) break;
      Seat waiting = Seat::waiting;
      if (shared.boxes[i].seat.load(Order::relaxed) == waiting &&
          // Pairs with the last joiner's release: it has read what this group is about to
          // overwrite.
          shared.boxes[i].seat.compare_exchange(waiting, Seat::claimed, Order::acquire)) {
        shared.waiting.fetch_sub(1, Order::relaxed);
        ++claimed;
      }
    }
  }
  return claimed;
}

/// Gives a claimed box back: its group keeps waiting.
template <class P>
COHORT_FN void unclaim(Shared<P>& shared, Box<P>& box) {
  box.seat.store(Seat::waiting, Order::relaxed);
  shared.waiting.fetch_add(1, Order::release);  // both before P::notify checks for sleepers
  P::notify(shared.lobby_event);
}

/// Calls `visit(box, index)` for each claimed box. Only the group that claimed them may call it.
template <class P, class Visit>
COHORT_FN void for_each_claimed(Shared<P>& shared, Visit visit) {
  if constexpr (Fenced<P>) {
    for (std::uint32_t first = 0; first < shared.max_groups; first += batch) {
      Seat seats[batch];
      look_at_seats(shared, first, seats);
      for (std::uint32_t i = 0; i < batch; ++i) {
        if (seats[i] == Seat::claimed) visit(shared.boxes[first + i], first + i);
      }
    }
  } else {
    for (std::uint32_t i = 0; i < shared.max_groups; ++i) {
      if (shared.boxes[i].seat.load(Order::relaxed) == Seat::claimed) visit(shared.boxes[i], i);
    }
  }
}

/// Admits every claimed group. `id_for(box)` returns its id.
template <class P, class State, class IdFor>
COHORT_FN void admit(Member<P, State>& member, const State& state, std::uint32_t gen, Entry entry,
                     IdFor id_for) {
  auto& shared = member.shared;
  const auto fill_in = [&](Box<P>& box, std::uint32_t i) {
    written<P>(box.id) = id_for(box);
    box.gen = gen;
    box.entry = entry;
    written<P>(member.states.boxes[i]) = state;
  };
  if constexpr (Fenced<P>) {
    for_each_claimed(shared, fill_in);
    P::fence();  // pairs with the joiners' acquire: each sees id and State
    for_each_claimed(
        shared, [](Box<P>& box, std::uint32_t) { box.seat.store(Seat::admitted, Order::relaxed); });
  } else {
    for_each_claimed(shared, [&](Box<P>& box, std::uint32_t i) {
      fill_in(box, i);
      box.seat.store(Seat::admitted,
                     Order::release);  // pairs with the joiner's acquire: it sees id and State
    });
  }
  P::notify(shared.lobby_event);
}

}  // namespace cohort::protocol
