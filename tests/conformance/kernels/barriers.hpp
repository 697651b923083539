// Kernels of barriers_test: the global barrier, the resizing barrier in each of its forms, votes,
// and a mix of everything. Plain data crosses every barrier here.
#pragma once

#include "conformance/kernels/jobs.hpp"

namespace cohort::test {

/// In every round each thread writes its cell, and after the barrier reads all cells.
struct Exchange {
  std::uint32_t rounds;
  std::uint32_t* cells;
  std::uint32_t* wrong;

  auto twin() const { return twin_of("barriers/exchange", rounds, cells, wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      group.view(cells)[group.global_id()] = round;
      group.global_barrier();
      for (std::size_t i = 0; i < group.global_size(); ++i)
        expect(group, wrong, group.view(cells)[i] == round);
      group.global_barrier();
    }
  }
};
struct ExchangeAtBarriers : Exchange {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
};

/// Groups leave and join between barriers. When a barrier is released, every group that was active
/// then has written its cell.
struct ExchangeOnTheMove {
  enum : std::uint32_t {
    wrong,
    last,
    arrivals = last + 2,
    cells = arrivals + 4,
    size = cells + 64
  };
  struct State {
    std::uint32_t round = 0;
  };
  std::uint32_t* stop;
  std::uint32_t* words;
  Ids ids;

  auto twin() const { return twin_of("barriers/exchange_on_the_move", stop, words, ids.words); }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    const auto plain = group.view(words);
    for (;; ++state.round) {
      ids.enter(group, group.group_id());
      const std::uint32_t slot = arrivals + state.round % 4;
      if (leader(group)) {
        plain[cells + group.group_id()] = state.round;
        add(group, words + slot);
        if (group.group_id() == 0) {
          group.atomic(words[arrivals + (state.round + 1) % 4]).store(0);
          plain[last + state.round % 2] = load(group, stop);
        }
      }
      group.global_barrier();
      expect(group, words + wrong, plain[cells] == state.round);
      expect(group, words + wrong, plain[cells + group.group_id()] == state.round);
      expect(group, words + wrong, load(group, words + slot) <= group.max_groups());
      ids.exit(group, group.group_id());
      if (plain[last + state.round % 2] != 0) return;
      group.global_barrier();  // so that no group forks or leaves before all have read
      if (group.offer(State{state.round + 1})) return;
    }
  }
};

/// The march in steps with global barriers inside, at which no resize may happen.
struct StepsWithBarriers {
  using State = MarchState;
  Board board;
  std::uint32_t* stop;

  auto twin() const { return twin_of("barriers/steps_with_barriers", board.words, stop); }
  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    march(group, state, board, stop);
    const auto words = group.view(board.words);
    const std::uint32_t groups = group.num_groups();
    for (int i = 0; i < 3; ++i) {
      group.global_barrier();
      expect(group, board.words + Board::wrong, group.num_groups() == groups);
      for (std::uint32_t j = 0; j < groups; ++j) {
        expect(group, board.words + Board::wrong,
               words[Board::cell(state.step, j) + Board::Cell::step] == state.step + 1);
      }
    }
    const bool last = words[Board::last + state.step % 2] != 0;
    state = state.next(groups);
    return last ? Next::halt : Next::again;
  }
};

/// The march in direct style, in which the kernel contains the loop. Group 0 announces one step
/// ahead which step is the last.
struct Direct {
  using State = MarchState;
  Board board;
  std::uint32_t* stop;

  auto twin() const { return twin_of("jobs/steps", board.words, stop); }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    for (;;) {
      march(group, state, board, stop);
      const std::uint32_t groups = group.num_groups();
      group.global_barrier();
      expect(group, board.words + Board::wrong, group.num_groups() == groups);
      if (group.view(board.words)[Board::last + state.step % 2] != 0) return;
      const State next = state.next(groups);
      if (group.resizing_global_barrier(next)) return;
      state = next;
    }
  }
};
struct DirectAtBarriers : Direct {
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
};

/// Each step divides all items among the active groups: every item is done exactly once.
struct Strided {
  struct State {
    std::uint32_t step = 0;
  };
  std::uint32_t* items;
  std::uint32_t count;
  std::uint32_t steps;
  std::uint32_t* wrong;

  auto twin() const { return twin_of("barriers/strided", items, count, steps, wrong); }
  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    for (const std::size_t i : group.stride(count))
      expect(group, wrong, group.view(items)[i]++ == state.step);
    return ++state.step < steps ? Next::again : Next::halt;
  }
};

/// One thread of one group votes for another step, `steps` times. All other threads always vote to
/// halt.
struct OneWantsMore {
  static constexpr const char* no_twin = "the dialect has no steps, and so no votes";
  struct State {
    std::uint32_t step = 0;
  };
  std::uint32_t steps;
  std::uint32_t group_wanting;  // a group id; counted from the highest id if `from_top`
  bool from_top;
  std::uint32_t thread_wanting;
  std::uint32_t* visits;  // number of visits in each step, and in the one after the last

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const std::uint32_t rank =
        from_top ? group.num_groups() - 1 - group.group_id() : group.group_id();
    count(group, visits + (state.step < steps    ? state.step
                           : state.step == steps ? steps
                                                 : steps + 1));
    const bool wants = rank == group_wanting && group.local_id() == thread_wanting;
    return state.step++ < steps && wants ? Next::again : Next::halt;
  }
};

/// The groups below the highest wait in a barrier of some kind. The highest leaves instead of
/// arriving.
struct TopLeaves {
  bool resizing;
  std::uint32_t* go;
  std::uint32_t* started;
  std::uint32_t* passed;

  auto twin() const { return twin_of("barriers/top_leaves", resizing, go, started, passed); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const bool top = group.group_id() + 1 == group.num_groups();
    count(group, started);
    if (top) {
      hold(group, go);
      for (int i = 0; i < 5; ++i) pause(group);  // most others have arrived by now
      if (group.offer_kill(state)) return;
    }
    if (resizing) {
      if (group.resizing_global_barrier(state)) return;
    } else {
      group.global_barrier();
    }
    count(group, passed);
  }
};

/// Group 0 forks while the others wait in a barrier, which must wait for the joiners too.
struct ForkUnderABarrier {
  struct State {
    bool forked = false;
  };
  std::uint32_t wanted;
  std::uint32_t* arrived;
  std::uint32_t* wrong;

  auto twin() const { return twin_of("barriers/fork_under_a_barrier", wanted, arrived, wrong); }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    if (group.group_id() == 0 && !state.forked) {
      for (int i = 0; i < 5; ++i) pause(group);  // most of the first groups have arrived by now
      for (;;) {
        group.request_fork(State{true});
        if (group.broadcast(group.num_groups()) == wanted) break;
        pause(group);
      }
    }
    count(group, arrived);
    group.global_barrier();
    expect(group, wrong, load(group, arrived) == wanted);
    expect(group, wrong, group.num_groups() == wanted);
  }
};

/// Groups join and leave at offers. Between two global barriers, the active groups divide the
/// items.
struct DividedBetweenBarriers {
  enum : std::uint32_t { wrong, rounds, last, items = last + 2, count = 97, size = items + count };
  struct State {
    std::uint32_t round = 0;
  };
  std::uint32_t* words;
  std::uint32_t* stop;

  auto twin() const { return twin_of("barriers/divided_between_barriers", words, stop); }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    const auto plain = group.view(words);
    for (;;) {
      if (group.offer(state)) return;
      if (group.group_id() == 0 && leader(group)) {
        plain[last + state.round % 2] = load(group, stop);
        add(group, words + rounds);
      }
      group.global_barrier();
      for (const std::size_t i : group.stride(count))
        expect(group, words + wrong, plain[items + i]++ == state.round);
      group.global_barrier();
      if (plain[last + state.round % 2] != 0) return;
      ++state.round;
    }
  }
};

/// Forks right after a resizing barrier that admits groups. The State has the largest allowed size,
/// so that copying it takes long. Group 0 arrives first, so that it forks soon afterwards.
template <std::uint32_t state_words>
struct ForkingAfterABarrier {
  enum : std::uint32_t { rounds, last, size = last + 2 };
  struct State {
    std::uint32_t round = 0;
    std::uint32_t filler[state_words] = {};
  };
  std::uint32_t* stop;
  std::uint32_t* words;
  Ids ids;

  auto twin() const { return twin_of("barriers/forking_after_a_barrier", stop, words, ids.words); }
  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    const auto plain = group.view(words);
    for (;;) {
      // Joining groups must see it too.
      if (state.round > 0 && plain[last + (state.round + 1) % 2] != 0) return;
      const std::uint32_t id = group.group_id();
      for (int i = 0; i < 60 && id == 0; ++i) {
        // The other groups in the lobby are left for the barrier.
        if (i < 4) group.request_fork(state);
        pause(group);
      }
      ids.enter(group, id);
      if (id == 0 && leader(group)) {
        plain[last + state.round % 2] = load(group, stop);
        group.atomic(words[rounds]).store(state.round + 1);
      }
      ids.exit(group, id);
      ++state.round;
      if (id != 0) {
        hold_until(group, [&] { return load(group, words + rounds) >= state.round; });
        for (std::uint32_t i = state.round * 7919 % 20; i > 0; --i) pause(group);
      }
      if (group.resizing_global_barrier(state)) return;
    }
  }
};

using barriers_kernels =
    KernelList<Exchange, ExchangeAtBarriers, ExchangeOnTheMove, EachBarrier<StepsWithBarriers>,
               EachBarrier<Direct>, DirectAtBarriers, EachBarrier<Strided>,
               EachBarrier<OneWantsMore>, EachBarrier<TopLeaves>, ForkUnderABarrier,
               DividedBetweenBarriers, EachBarrier<ForkingAfterABarrier<1U << 16U>>,
               ForkingAfterABarrier<16>>;

}  // namespace cohort::test
