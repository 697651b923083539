// The data that the groups of one job share, and each group's own view of the job. Invariant: no
// group waits for one that has not started. M counts only groups that have checked in or been
// admitted.
#pragma once

#include <cstdint>

#include "cohort/protocol/roster.hpp"
#include "cohort/trace.hpp"

namespace cohort::protocol {

using cohort::Order;

/// Why a job was ended early. Only the first reason is stored.
enum class Fault : std::uint32_t {
  none,
  cancelled,             ///< the host asked for it
  exception,             ///< a kernel function threw; the engine keeps the exception
  returned_in_barrier,   ///< a group returned while others waited for it in a barrier
  barrier_after_return,  ///< a group arrived at a barrier after another group, which can never
                         ///< reach it, had returned
  divergent_barrier,     ///< some groups stood at global_barrier, others at resizing_global_barrier
  divergent_group,       ///< the threads of one group called different group-level functions
  used_after_leaving,    ///< a group continued after a primitive had told it to leave
  lost_group,            ///< all groups are out, but the roster still counts some: a bug in cohort
};

/// The id of a group that has left. No active group has it, so an offer or an arrival by a group
/// that has left fails its first comparison and is caught.
inline constexpr std::uint32_t no_id = ~0U;

/// `gen:32 | group + 1:24 | fault:8`. One word, so that the first fault wins together with the
/// group that raised it and the number of barriers that group had passed.
struct FaultRecord {
  std::uint64_t word = 0;

  FaultRecord() = default;
  COHORT_FN constexpr explicit FaultRecord(std::uint64_t stored) : word(stored) {}
  /// `group`: no_id for the host and for a group that has left.
  COHORT_FN constexpr explicit FaultRecord(Fault fault, std::uint32_t group = no_id,
                                           std::uint32_t gen = 0)
      : word(std::uint64_t{gen} << 32U | std::uint64_t{(group + 1U) & 0xFF'FFFFU} << 8U |
             static_cast<std::uint64_t>(fault)) {}

  [[nodiscard]] COHORT_FN constexpr Fault fault() const { return static_cast<Fault>(word & 0xFFU); }
  [[nodiscard]] COHORT_FN constexpr std::uint32_t group() const {
    return (static_cast<std::uint32_t>(word) >> 8U) - 1U;  // 0 is no_id
  }
  [[nodiscard]] COHORT_FN constexpr std::uint32_t gen() const {
    return static_cast<std::uint32_t>(word >> 32U);
  }
};

/// A platform on which every ordered access is a round trip. One fence, both acquire and release,
/// replaces many of them.
template <class P>
concept Fenced = requires {
  P::fence();
};

/// On a platform that watches plain memory (the explorer): reports an access to data that one group
/// hands over to another. Elsewhere a no-op.
template <class P, class T>
COHORT_FN T& watched(T& item, bool writes) {
  if constexpr (requires { P::watch(&item, writes); }) P::watch(&item, writes);
  return item;
}
template <class P, class T>
COHORT_FN T& written(T& item) {
  return watched<P>(item, true);
}
template <class P, class T>
COHORT_FN const T& read(const T& item) {
  return watched<P>(item, false);
}

/// States of a lobby box.
enum class Seat : std::uint32_t { empty, waiting, claimed, admitted };

/// Where a joining group continues: in run(), or inside the paper's barrier that forked it.
enum class Entry : std::uint32_t { run, slave, modelled };

/// One place in the lobby. The seat's `id` and `entry`, and the State of the same index, are
/// written between claimed and admitted.
template <class P>
struct Box {
  typename P::template Atomic<Seat> seat{Seat::empty};
  std::uint32_t id = 0;
  std::uint32_t gen = 0;
  Entry entry = Entry::run;
};

/// Stored instead of a generation: group 0 has not deposited a State.
inline constexpr std::uint32_t no_deposit = ~0U;

/// Bits of Shared::flags.
inline constexpr std::uint32_t suspend_flag = 1;

/// The shared half of a job. Members that are written by different groups, or at different rates,
/// are on different cache lines.
template <class P>
struct Shared {
  template <class T>
  using Atomic = typename P::template Atomic<T>;

  // Written at every barrier. Votes share the roster's cache line, because an arriving group owns
  // that line anyway. On platforms where groups poll both at once they have different lines: two
  // loads of one line would wait for each other. There are four vote slots, so that the slots
  // follow the generation through its wrap. A slot is as wide as the roster: a GPU reads narrower
  // words as if the host wrote them.
  alignas(128) Atomic<std::uint64_t> roster{0};
  alignas(Fenced<P> ? 128 : alignof(Atomic<std::uint64_t>)) Atomic<std::uint64_t> vote[4] = {};

  // Written by the host and by joining groups, polled at every offer.
  alignas(128) Atomic<std::uint32_t> share{0};  // the target, before P::less_demands
  Atomic<std::uint32_t> flags{0};               // suspend_flag
  // Number of boxes in Seat::waiting, so that a fork need not look at each box.
  Atomic<std::uint32_t> waiting{0};
  Atomic<std::uint32_t> closed{0};  // no more groups will be admitted
  // Number of the run; groups of older runs must not touch the other members.
  Atomic<std::uint32_t> serial{0};

  // Written by the check-in and by resizes.
  alignas(128) Atomic<std::uint32_t> tickets{0};  // number of tickets handed out at the check-in
  Atomic<std::uint32_t> fork_lock{0};
  // Number of groups removed by another group that have not yet noticed.
  Atomic<std::uint32_t> departing{0};
  Atomic<std::uint32_t> deposit_gen{no_deposit};  // generation of group 0's deposit
  Atomic<std::uint32_t> settled{0};               // M as of the check-in or of the last release
  // Number of active groups that are not about to leave, see kill.hpp.
  Atomic<std::uint32_t> staying{0};
  Atomic<std::uint32_t> kept{0};   // States::kept is set: the last group left for a suspend
  Atomic<std::uint64_t> fault{0};  // FaultRecord::word

  alignas(128)
      typename P::Event barrier_event;  // its waiters watch the generation, GATHER and FAULT
  typename P::Event offer_event;        // its waiters watch falling M, arrivals and the target
  typename P::Event lobby_event;        // its waiters watch boxes, `closed` and the target

  // Set before the first group starts, constant afterwards.
  std::uint32_t max_groups = 0;
  std::uint32_t quorum = 0;  // the check-in closes by itself at this many groups
  // Nanoseconds for which the starter waits for the quorum; 0: for ever.
  std::uint64_t start_deadline = 0;
  // Nanoseconds for which a surplus group waits in its offer for its turn.
  std::uint64_t offer_wait = 0;
  bool restarted = false;                     // resumed: the first groups continue from `kept`
  Box<P>* boxes = nullptr;                    // array of max_groups boxes
  Atomic<std::uint64_t>* free_ids = nullptr;  // bitmap; only with KillOrder::any
  Atomic<std::uint64_t>* resting = nullptr;   // bitmap of the ids of resting groups, see kill.hpp
  typename P::Recorder recorder{};

  /// How many groups the scheduler wants. Level-triggered: a reader needs only the latest value.
  [[nodiscard]] COHORT_FN std::uint32_t target(Order order = Order::relaxed) const {
    return P::less_demands(*this, share.load(order));
  }
  [[nodiscard]] COHORT_FN bool suspending() const {
    return (flags.load(Order::relaxed) & suspend_flag) != 0;
  }
  [[nodiscard]] COHORT_FN Roster look(Order order = Order::relaxed) const {
    return {roster.load(order)};
  }
};

/// The transmitted States of a job. This is the part of the shared data that depends on the State's
/// type.
template <class State>
struct States {
  State deposit[2];  // by parity of the generation: group 0 may be one barrier ahead of the group
                     // that copies one
  State kept;        // the first groups start with it; a suspend leaves the job's state here
  State* boxes = nullptr;  // indices as in Shared::boxes
};

/// One group's own view of the job. Its threads share it; only its leader changes it, inside a
/// primitive.
template <class P, class JobState>
struct alignas(alignof(JobState) > 16 ? alignof(JobState) : 16) Member {
  using State = JobState;

  Shared<P>& shared;
  States<State>& states;
  std::uint32_t max_groups = shared.max_groups;  // a local copy
  std::uint32_t id = 0;
  std::uint32_t active = 0;  // M at this group's last primitive; 0: read it from the roster
  std::uint32_t gen = 0;     // barriers passed
  std::uint32_t kinds = 0;   // the kinds that group 0 last announced for even and odd generations
  bool votes = false;        // whether barriers carry votes: true in a step kernel
  bool joined = false;
  bool left = false;  // a primitive has returned "leave"
  Entry entry = Entry::run;
  State state{};  // the State with which run() starts
  typename P::Sampler sampler{};

  COHORT_FN void trace(Trace what, std::uint64_t value = 0) {
    shared.recorder.record(what, id, active, value);
  }
};

/// A bit next to the count in Shared::waiting: the job has a fault.
inline constexpr std::uint32_t fault_waiting = 1U << 31U;

/// Closes the job: it admits no more groups, and groups that wait in the lobby leave.
template <class P>
COHORT_FN void close(Shared<P>& shared) {
  shared.closed.store(1, Order::release);  // pairs with the acquire load in the lobby
  P::notify(shared.lobby_event);
}

/// Ends the job for all groups: waiting groups wake and leave, the others leave at their next
/// primitive. Returns true if this fault is the one that is reported.
template <class P>
COHORT_DETAIL_COLD COHORT_FN bool raise(Shared<P>& shared, FaultRecord fault) {
  std::uint64_t none = 0;
  const bool first = shared.fault.compare_exchange(none, fault.word, Order::relaxed);
  shared.roster.fetch_or(Roster::fault, Order::release);  // before P::notify checks for sleepers
  // Makes forks take their slow path, which checks for faults. Added only once: the count may be
  // below 0 for a moment, see claim().
  if (first) shared.waiting.fetch_add(fault_waiting, Order::relaxed);
  P::notify(shared.barrier_event);
  P::notify(shared.offer_event);
  close(shared);
  return first;
}

template <class P>
COHORT_DETAIL_COLD COHORT_FN bool raise(Shared<P>& shared, Fault fault) {
  return raise(shared, FaultRecord{fault});
}

/// The answer of a primitive to the group.
enum class Verdict : std::uint8_t {
  stay,   ///< continue
  leave,  ///< this group has left: return from the kernel
  halt,   ///< continue to the kernel's end: no group voted for another step
  gone,   ///< the job has ended in a primitive that cannot return "leave": abandon the kernel's
          ///< frame
};

/// This group leaves because of a fault that was raised by any group or by the host.
template <class P, class State>
COHORT_DETAIL_COLD COHORT_FN void abandon(Member<P, State>& member) {
  if (member.left) return;
  const FaultRecord fault{member.shared.fault.load(Order::relaxed)};
  member.trace(Trace::fault, static_cast<std::uint64_t>(fault.fault()));
  member.left = true;
  member.id = no_id;
}

/// Called when this group broke a rule, or noticed that one was broken. Ends the job.
template <class P, class State>
COHORT_DETAIL_COLD COHORT_FN Verdict break_contract(Member<P, State>& member, Fault fault) {
  raise(member.shared, FaultRecord{fault, member.id, member.gen});
  abandon(member);
  return Verdict::gone;
}

}  // namespace cohort::protocol
