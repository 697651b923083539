// Breadth-first search, level by level, as in the paper (after LonestarGPU, Burtscher et al. 2012):
// two worklists, two resizing barriers a level.
// Invariant: a node enters a list once, by the thread that sets its level, so no list exceeds n.
#pragma once

#include "apps/worklist.hpp"

namespace cohort::apps {

/// What every bfs writes: the distance from the source.
struct Levels {
  static constexpr std::uint32_t unreached = ~0U;

  std::uint32_t* of;

  /// Test and set. Relaxed: of several threads that reach a node in one step one wins, and what it
  /// writes is read only after the barrier.
  template <class Group>
  COHORT_FN bool reach(const Group& group, Node node, std::uint32_t level) const {
    const auto mine = group.atomic(of[node]);
    std::uint32_t seen = mine.load();
    return seen == unreached && mine.compare_exchange(seen, level);
  }
};

struct PaperBfs {
  static constexpr bool paper_barriers = true;
  enum class Phase : std::uint32_t { expand, swap };
  struct State {
    std::uint32_t level = 0;
    Phase phase = Phase::expand;
    std::uint64_t at = 0;  // how much of the level is done, where steps are short
  };                       // all that a joining group receives
  using Local = ChunkOfNodes;

  CsrView graph;
  Worklist lists[2];  // by level modulo 2: one is read, the other filled
  Levels levels;
  std::uint64_t chunk;  // nodes for each group in a step; 0: all

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    return state.phase == Phase::expand ? visit(group, state) : swap(group, state);
  }

 private:
  template <class Group>
  COHORT_FN Next visit(Group& group, State& state) const {
    const Worklist& in = lists[state.level % 2];
    const Portion now = portion(group, state.at, in.size(group), chunk);
    const std::uint32_t next = state.level + 1;
    Sink sink{group, lists[next % 2]};
    in.for_part(group, now.begin, now.end, [&](const Node* nodes, std::size_t count) {
      expand(
          group, graph, group.local(), nodes, count, sink, [](Node) { return 0U; },
          [&](Node target) { prefetch(levels.of + target); },
          [&](std::uint32_t, std::uint64_t, Node target) {
            return levels.reach(group, target, next);
          });
    });
    sink.close();
    state.at = now.last ? 0 : now.end;
    if (now.last) state.phase = Phase::swap;
    return Next::again;
  }

  template <class Group>
  COHORT_FN Next swap(Group& group, State& state) const {
    if (group.global_id() == 0) lists[state.level % 2].clear(group);
    state.phase = Phase::expand;
    ++state.level;
    return lists[state.level % 2].size(group) > 0 ? Next::again : Next::halt;
  }
};

}  // namespace cohort::apps
