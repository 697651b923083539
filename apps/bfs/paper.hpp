// Breadth-first search, level by level, as in the paper: two worklists, two resizing barriers a
// level. Invariant: a node enters a list once, by the thread that sets its level.
#pragma once

#include "apps/rounds.hpp"

namespace cohort::apps {

/// What every bfs writes: the distance from the source.
struct Levels {
  static constexpr std::uint32_t unreached = ~0U;

  std::uint32_t* of;

  /// Test and set. Relaxed: of several threads that reach a node in one step one wins, and what it
  /// writes is read only after the barrier. `rarely`: most nodes are not reached yet, so that a
  /// look before would be in vain.
  template <class Group>
  COHORT_FN bool reach(const Group& group, Node node, std::uint32_t level,
                       bool rarely = false) const {
    const auto mine = group.atomic(of[node]);
    std::uint32_t seen = rarely ? unreached : mine.load();
    return seen == unreached && mine.compare_exchange(seen, level);
  }
};

struct PaperBfs {
  static constexpr bool paper_barriers = true;
  using State = Rounds::State;
  using Local = Rounds::Local;

  Rounds rounds;  // a round is a level
  Levels levels;

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const std::uint32_t next = state.round + 1;
    return rounds.step(
        group, state, [of = levels.of](Node target) { prefetch(of + target); },
        [&group, levels = levels, next](Node, std::uint64_t, Node target) {
          return levels.reach(group, target, next);
        });
  }
};

}  // namespace cohort::apps
