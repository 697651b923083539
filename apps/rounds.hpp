// Rounds with two worklists, as in the paper (after LonestarGPU, Burtscher et al. 2012): visiting
// the edges of one list fills the other, then the lists are swapped. Two resizing barriers per
// round.
// Invariant: `visit` accepts a node at most once in a round, so that no list exceeds n.
#pragma once

#include "apps/worklist.hpp"

namespace cohort::apps {

struct Rounds {
  enum class Phase : std::uint32_t { expand, swap };
  struct State {
    std::uint32_t round = 0;
    Phase phase = Phase::expand;
    std::uint64_t at = 0;  // progress within the list, for short steps
  };                       // all that a joining group receives
  using Local = ChunkOfNodes;

  CsrView graph;
  Worklist lists[2];    // by round modulo 2: one is read, the other filled
  std::uint64_t chunk;  // nodes per group and step; 0: all

  /// `visit(node, edge, target)` returns whether to push the target. `ahead(target)` prefetches the
  /// memory that `visit` reads later.
  template <class Group, class Ahead, class Visit>
  COHORT_FN Next step(Group& group, State& state, Ahead ahead, Visit visit) const {
    const Worklist& in = lists[state.round % 2];
    const Worklist& out = lists[(state.round + 1) % 2];
    if (state.phase == Phase::swap) {
      if (group.global_id() == 0) in.clear(group);
      state.phase = Phase::expand;
      ++state.round;
      return out.size(group) > 0 ? Next::again : Next::halt;
    }
    const Portion now = portion(group, state.at, in.size(group), chunk);
    Sink sink{group, out};
    in.for_part(group, now.begin, now.end, [&](const Node* nodes, std::size_t count) {
      expand(
          group, graph, group.local(), nodes, count, sink, [](Node node) { return node; }, ahead,
          visit);
    });
    sink.close();
    state.at = now.last ? 0 : now.end;
    if (now.last) state.phase = Phase::swap;
    return Next::again;
  }
};

}  // namespace cohort::apps
