// Maximal independent set by priorities with one resizing barrier a sweep: a node is decided as
// soon as its neighbours of lower priority are (Blelloch, Fineman and Shun 2012). The set is that
// of the paper's algorithm. Invariant: a mark is set once, and depends only on marks that are set.
#pragma once

#include "apps/mis/mis.hpp"
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
      bool wait = false;
      for (const Node other : graph.neighbours(node)) {
        // Relaxed: the mark itself is all that is looked at, and it never changes again.
        const std::uint32_t its = group.atomic(mark[other]).load();
        if (its == out) continue;
        if (!ranking.less(other, node)) continue;
        if (its == in) {
          group.atomic(mark[node]).store(out);
          return true;
        }
        wait = true;
      }
      if (!wait) group.atomic(mark[node]).store(in);
      return !wait;
    });
  }
};

}  // namespace cohort::apps
