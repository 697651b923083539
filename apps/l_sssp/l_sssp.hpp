// Shortest paths with worklists, as in the paper (after LonestarGPU, Burtscher et al. 2012): the
// nodes whose distance has become less are the next round's list. Two resizing barriers a round.
// Invariant: a node enters a list at most once, because a stamp tells the round that pushed it, so
// no list exceeds n.
#pragma once

#include "apps/distance.hpp"
#include "apps/worklist.hpp"

namespace cohort::apps {

struct PaperListSssp {
  static constexpr bool paper_barriers = true;
  enum class Phase : std::uint32_t { expand, swap };
  struct State {
    std::uint32_t turn = 0;
    Phase phase = Phase::expand;
    std::uint64_t at = 0;  // how much of the list is done, where steps are short
  };                       // all that a joining group receives
  using Local = ChunkOfNodes;

  CsrView graph;
  Worklist lists[2];  // by turn modulo 2: one is read, the other filled
  Distance* distance;
  std::uint32_t* stamp;  // the last turn that pushed the node; never `turn + 1` at the start
  std::uint64_t chunk;   // nodes for each group in a step; 0: all

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    return state.phase == Phase::expand ? visit(group, state) : swap(group, state);
  }

 private:
  template <class Group>
  COHORT_FN Next visit(Group& group, State& state) const {
    const Worklist& in = lists[state.turn % 2];
    const Portion now = portion(group, state.at, in.size(group), chunk);
    Sink sink{group, lists[(state.turn + 1) % 2]};
    in.for_part(group, now.begin, now.end, [&](const Node* nodes, std::size_t count) {
      expand(
          group, graph, group.local(), nodes, count, sink, [](Node node) { return node; },
          [&](Node target) { prefetch(distance + target); },
          [&](Node node, std::uint64_t edge, Node target) {
            // Relaxed: a distance that is too old is that of a path all the same, and whoever
            // lowers it pushes its node.
            const Distance through =
                group.atomic(distance[node]).load() + graph.weight(edge);  // never infinite
            return through < group.atomic(distance[target]).load() &&
                   through < group.atomic(distance[target]).fetch_min(through) &&
                   group.atomic(stamp[target]).exchange(state.turn) != state.turn;
          });
    });
    sink.close();
    state.at = now.last ? 0 : now.end;
    if (now.last) state.phase = Phase::swap;
    return Next::again;
  }

  template <class Group>
  COHORT_FN Next swap(Group& group, State& state) const {
    if (group.global_id() == 0) lists[state.turn % 2].clear(group);
    state.phase = Phase::expand;
    ++state.turn;
    return lists[state.turn % 2].size(group) > 0 ? Next::again : Next::halt;
  }
};

}  // namespace cohort::apps
