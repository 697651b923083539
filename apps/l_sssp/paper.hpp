// Shortest paths with worklists, as in the paper: the nodes whose distance decreased form the list
// of the next round. Two resizing barriers per round.
// Invariant: a node enters a list at most once, because a stamp holds the round that pushed it.
#pragma once

#include "apps/distance.hpp"
#include "apps/rounds.hpp"

namespace cohort::apps {

struct PaperListSssp {
  static constexpr bool paper_barriers = true;
  using State = Rounds::State;
  using Local = Rounds::Local;

  Rounds rounds;
  Distance* distance;
  std::uint32_t* stamp;  // the last round that pushed the node; no valid round at the start

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const std::uint32_t round = state.round;
    return rounds.step(
        group, state, [distance = distance](Node target) { prefetch(distance + target); },
        [&group, graph = rounds.graph, distance = distance, stamp = stamp, round](
            Node node, std::uint64_t edge, Node target) {
          // Relaxed: a stale distance still belongs to a path, and the thread that lowers the
          // distance pushes its node.
          const Distance through =
              group.atomic(distance[node]).load() + graph.weight(edge);  // never infinite
          return through < group.atomic(distance[target]).load() &&
                 through < group.atomic(distance[target]).fetch_min(through) &&
                 group.atomic(stamp[target]).load() != round &&
                 group.atomic(stamp[target]).exchange(round) != round;
        });
  }
};

}  // namespace cohort::apps
