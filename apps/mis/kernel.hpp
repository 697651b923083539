// Maximal independent set by priorities with one resizing barrier a sweep: a node is decided as
// soon as its neighbours of lower priority are (Blelloch, Fineman and Shun 2012). The set is that
// of the paper's algorithm. Invariant: a mark is set once, and depends only on marks that are set.
#pragma once

#include "apps/mis/paper.hpp"
#include "apps/neighbours.hpp"
#include "apps/sweep.hpp"

namespace cohort::apps {

struct EagerMis {
  using State = Sweep::State;

  CsrView graph;
  Ranking ranking;
  std::uint32_t* mark;
  Sweep sweep;

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    return sweep.step(group, state, [&](Node node) {
      std::uint32_t becomes = in;
      // Relaxed: only the mark itself is read, and it never changes again.
      for_neighbours(
          group, graph, node, mark, [](Node) COHORT_APPS_INLINE { return true; },
          [&](Node other, std::uint32_t its) COHORT_APPS_INLINE {
            if (its == out || !ranking.less(other, node)) return true;
            becomes = its == in ? out : undecided;
            return its != in;
          });
      if (becomes == undecided) return false;
      group.atomic(mark[node]).store(becomes);
      return true;
    });
  }
};

}  // namespace cohort::apps
