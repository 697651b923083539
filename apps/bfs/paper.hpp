// Breadth-first search, level by level, as in the paper: two worklists, two resizing barriers a
// level. Invariant: a node enters a list once, by the thread that sets its level.
#pragma once

#include "apps/rounds.hpp"

namespace cohort::apps {

/// Written by every bfs: the distance from the source.
struct Levels {
  static constexpr std::uint32_t unreached = ~0U;

  std::uint32_t* of;

  /// Test and set: true for the one thread that reaches the node first. Relaxed: other threads read
  /// that thread's writes only after the barrier. `rarely`: few nodes have been reached yet, so
  /// testing first does not pay.
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
