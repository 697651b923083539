// Kernels that several files launch. The march checks in every step that all groups are there, at
// the same step, with the same M and the same State. So it finds a group that is lost, duplicated,
// late or has a wrong State, however the group joined.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// A kernel that returns at once.
struct Brief {
  auto twin() const { return twin_of("jobs/brief"); }
  template <class Group>
  COHORT_FN void run(Group& /*group*/, Nothing /*state*/) const {}
};

/// Runs until it is told to stop, cancelled or removed. Offers itself in every turn.
struct Offering {
  std::uint32_t* stop;
  std::uint32_t* present;   // number of groups now inside
  std::uint32_t* turns;     // number of turns of all groups
  std::uint32_t* returned;  // number of groups that were told to stop

  auto twin() const { return twin_of("jobs/offering", stop, present, turns, returned); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    if (leader(group)) add(group, present);
    while (!told(group, stop)) {
      if (leader(group)) {
        add(group, turns);
        group.atomic(*present).fetch_sub(1U);
      }
      if (group.offer(state)) return;
      if (leader(group)) add(group, present);
      pause(group);
    }
    if (leader(group)) group.atomic(*present).fetch_sub(1U);
    count(group, returned);
  }
};
struct OfferingInAnyOrder : Offering {
  static constexpr Traits traits{.kill_order = KillOrder::any};
};
struct OfferingMayAllLeave : Offering {
  static constexpr Traits traits{.survivors = Survivors::may_all_leave};
};
struct OfferingInAnyOrderMayAllLeave : Offering {
  static constexpr Traits traits{.kill_order = KillOrder::any,
                                 .survivors = Survivors::may_all_leave};
};

/// One group returns at once. The others offer themselves until they are told to stop.
struct OneReturnsEarly {
  std::uint32_t early;
  std::uint32_t* stop;
  std::uint32_t* started;

  auto twin() const { return twin_of("jobs/one_returns_early", early, stop, started); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const std::uint32_t groups = group.num_groups();
    count(group, started);
    hold_until(group, [&] { return load(group, started) >= groups; });
    if (group.group_id() == early) return;
    while (!told(group, stop)) {
      if (group.offer_kill(state)) return;
      pause(group);
    }
  }
};
using OneReturnsEarlyInAnyOrder = With<OneReturnsEarly, Traits{.kill_order = KillOrder::any}>;

/// Spends its time in setup, where all groups but group 0 wait in a barrier.
struct LongSetup {
  std::uint32_t* go;
  std::uint32_t* in_setup;
  std::uint32_t* stop;

  auto twin() const { return twin_of("jobs/long_setup", go, in_setup, stop); }
  template <class Group>
  COHORT_FN void setup(Group& group) const {
    count(group, in_setup);
    if (group.group_id() == 0) hold(group, go);
    group.global_barrier();
  }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    while (!told(group, stop)) {
      if (group.offer(state)) return;
      pause(group);
    }
  }
};

/// Transmits a State, but its offers do not pass the State, so it cannot be suspended.
struct NotSuspendable {
  static constexpr Traits traits{.suspendable = false};
  struct State {
    std::uint32_t number = 0;
  };
  std::uint32_t* stop;

  auto twin() const { return twin_of("jobs/not_suspendable", stop); }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    while (!told(group, stop)) {
      if (group.offer_kill()) return;
      group.request_fork(state);
      pause(group);
    }
  }
};

/// Each step touches each item once. The monitor counts the groups inside all such jobs.
struct Background {
  enum : std::uint32_t { inside, most, steps, size };
  struct State {
    std::uint32_t step = 0;
  };
  std::uint32_t* items;  // plain: only the barriers order the accesses
  std::uint32_t count;
  std::uint32_t* stop;
  std::uint32_t* monitor;  // shared by all jobs

  auto twin() const { return twin_of("jobs/background", items, count, stop, monitor); }
  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    if (leader(group)) {
      group.atomic(monitor[most]).fetch_max(group.atomic(monitor[inside]).fetch_add(1U) + 1);
      group.atomic(monitor[steps]).fetch_add(1U);  // counts all groups of all jobs
    }
    for (const std::size_t i : group.stride(count)) ++group.view(items)[i];
    pause(group);
    group.barrier();
    if (leader(group)) group.atomic(monitor[inside]).fetch_sub(1U);
    ++state.step;
    return group.global_id() == 0 && load(group, stop) == 0 ? Next::again : Next::halt;
  }
};

/// The record that the groups of a march keep. All words but the first three are plain: only the
/// barriers order the accesses.
struct Board {
  static constexpr std::uint32_t most_groups = 64;
  struct Cell {
    enum : std::uint32_t { step, groups, mark, size };
  };
  enum : std::uint32_t {
    wrong,
    steps,
    groups,  // M, which the host follows
    first,   // M of the first step; group 0 writes this word and the following ones
    least,   // the smallest M; then the largest
    most,
    ups,  // sum of all increases of M; then of all decreases
    downs,
    announced,             // the next step's number, by parity
    last = announced + 2,  // whether this step is the last one, by parity
    cells = last + 2,      // one per group, of the current step and of the previous one
    size = cells + 2 * most_groups * Cell::size,
  };
  std::uint32_t* words;

  static COHORT_FN std::uint32_t cell(std::uint32_t step, std::uint32_t group) {
    return cells + (step % 2 * most_groups + group) * Cell::size;
  }
};

/// The State that joining groups receive from group 0: its step, and a mark. A group knows the mark
/// only if it ran all steps or received it.
struct MarchState {
  std::uint32_t step = 0;
  std::uint32_t mark = 1;
  std::uint32_t before = 0;  // M in the previous step

  [[nodiscard]] COHORT_FN MarchState next(std::uint32_t groups) const {
    return {step + 1, mark * 1664525U + 1013904223U, groups};
  }
};

/// One step of the march. Every group checks its own position. It also checks that exactly the ids
/// 0 to M - 1 ran the previous step, all with the same M and State.
template <class Group>
COHORT_FN void march(Group& group, const MarchState& state, const Board& board,
                     std::uint32_t* stop) {
  using Cell = Board::Cell;
  const auto words = group.view(board.words);
  std::uint32_t* const wrong = board.words + Board::wrong;
  const std::uint32_t groups = group.num_groups();
  const std::uint32_t id = group.group_id();
  expect(group, wrong, groups >= 1 && groups <= group.max_groups() && id < groups);
  expect(group, wrong, group.global_size() == std::size_t{groups} * group.local_size());
  if (state.step > 0) {
    const std::uint32_t last = state.step - 1;
    expect(group, wrong, words[Board::announced + state.step % 2] == state.step);
    for (std::uint32_t i = 0; i < group.max_groups() && i < Board::most_groups; ++i) {
      const std::uint32_t cell = Board::cell(last, i);
      const bool was_there = words[cell + Cell::step] == last + 1;  // 0 if never written
      expect(group, wrong,
             i < state.before
                 ? was_there && words[cell + Cell::groups] == state.before &&
                       words[cell + Cell::mark] == words[Board::cell(last, 0) + Cell::mark]
                 : !was_there);
    }
  }
  if (!leader(group)) return;
  const std::uint32_t mine = Board::cell(state.step, id);
  words[mine + Cell::step] = state.step + 1;
  words[mine + Cell::groups] = groups;
  words[mine + Cell::mark] = state.mark;
  if (id != 0) return;
  words[Board::announced + (state.step + 1) % 2] = state.step + 1;
  words[Board::last + state.step % 2] = load(group, stop);
  if (state.step == 0) {
    words[Board::first] = words[Board::least] = words[Board::most] = groups;
  } else {
    if (groups < words[Board::least]) words[Board::least] = groups;
    if (groups > words[Board::most]) words[Board::most] = groups;
    if (groups > state.before) words[Board::ups] += groups - state.before;
    if (groups < state.before) words[Board::downs] += state.before - groups;
  }
  group.atomic(board.words[Board::groups]).store(groups);
  add(group, board.words + Board::steps);
}

/// The march in step style. Several files test its barriers, so every engine has it with each of
/// them.
struct Steps {
  static constexpr bool every_barrier = true;
  using State = MarchState;
  Board board;
  std::uint32_t* stop;

  auto twin() const { return twin_of("jobs/steps", board.words, stop); }
  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    march(group, state, board, stop);
    const bool halts = group.group_id() != 0 || !leader(group) ||
                       group.view(board.words)[Board::last + state.step % 2] != 0;
    state = state.next(group.num_groups());
    return halts ? Next::halt : Next::again;  // only group 0 decides
  }
};

/// Offers, forks, global and resizing barriers in one loop, after a prologue. All groups must be in
/// the round that group 0 transmits.
struct Everything {
  enum : std::uint32_t { wrong, rounds, round, last = round + 2, size = last + 2 };
  struct State {
    std::uint32_t round = 0;
  };
  std::uint32_t* words;
  std::uint32_t* stop;
  Ids ids;

  auto twin() const { return twin_of("jobs/everything", words, stop, ids.words); }
  template <class Group>
  COHORT_FN void setup(Group& group) const {
    group.global_barrier();
  }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    const auto plain = group.view(words);
    for (;;) {
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      ids.enter(group, group.group_id());
      if (group.group_id() == 0 && leader(group)) {
        plain[round + state.round % 2] = state.round;
        plain[last + state.round % 2] = load(group, stop);
        add(group, words + rounds);
      }
      ids.exit(group, group.group_id());
      const State next{state.round + 1};
      if (state.round % 2 == 0) {
        group.global_barrier();
        expect(group, words + wrong, plain[round] == state.round);
        expect(group, words + wrong, group.group_id() < group.num_groups());
        if (plain[last] != 0) return;
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      state = next;
      group.request_fork(state);
    }
  }
};

using jobs_kernels =
    KernelList<Brief, Offering, OfferingInAnyOrder, OfferingMayAllLeave,
               OfferingInAnyOrderMayAllLeave, OneReturnsEarly, OneReturnsEarlyInAnyOrder, LongSetup,
               NotSuspendable, Background, EachBarrier<Steps>, EachBarrier<Everything>>;

}  // namespace cohort::test
