// Maximal independent set by priorities with one resizing barrier a sweep: a node is decided as
// soon as its neighbours of lower priority are (Blelloch, Fineman and Shun 2012). The set is that
// of the paper's algorithm. Invariant: a mark is set once, and depends only on marks that are set.
#pragma once

#include "apps/ends.hpp"
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
      bool neighbour_in = false;
      // Relaxed: the mark itself is all that is looked at, and it never changes again.
      for_ends(
          group, graph, node, mark, [](Node) { return true; },
          [&](std::uint64_t, Node other, std::uint32_t its) {
            if (its == out || !ranking.less(other, node)) return true;
            wait = true;
            neighbour_in = its == in;
            return !neighbour_in;
          });
      if (wait && !neighbour_in) return false;
      group.atomic(mark[node]).store(neighbour_in ? out : in);
      return true;
    });
  }
};

}  // namespace cohort::apps
