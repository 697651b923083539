// Graph colouring by priorities with one resizing barrier a sweep. A node takes its colour as soon
// as its neighbours of higher priority have theirs (Jones and Plassmann 1993), so one sweep may do
// the work of many rounds. The colours are those of the paper's algorithm.
// Invariant: a colour is set once, and depends only on colours that are set.
#pragma once

#include "apps/color/paper.hpp"
#include "apps/neighbours.hpp"
#include "apps/sweep.hpp"

namespace cohort::apps {

struct EagerColor {
  using State = Sweep::State;

  CsrView graph;
  Ranking ranking;
  std::uint32_t* colour_of;
  Sweep sweep;

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    return sweep.step(group, state, [&](Node node) {
      const std::uint64_t own = ranking.of(node);
      std::uint32_t colour = 0;
      bool wait = false;
      // Relaxed: only the colour itself is read, and it never changes again. Neighbours of lower
      // priority are skipped, and so is the node itself in a self loop.
      for_neighbours(
          group, graph, node, colour_of,
          [&](Node other) COHORT_APPS_INLINE { return ranking.of(other) > own; },
          [&](Node, std::uint32_t its) COHORT_APPS_INLINE {
            wait = its == uncoloured;
            if (!wait && its >= colour) colour = its + 1;
            return !wait;
          });
      if (wait) return false;
      group.atomic(colour_of[node]).store(colour);
      return true;
    });
  }
};

}  // namespace cohort::apps
