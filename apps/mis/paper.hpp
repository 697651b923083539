// Maximal independent set by priorities, as in the paper (after Pannotia, Che et al. 2013): three
// resizing barriers a round.
// Invariant: a node leaves `undecided` once, and no two neighbours are `in`. The set equals that of
// the sequential greedy algorithm in the order of priorities.
#pragma once

#include "apps/priority.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

enum Mark : std::uint32_t { undecided, in, out };

struct PaperMis {
  static constexpr bool paper_barriers = true;
  enum class Phase : std::uint32_t { look, join, apply };
  struct State {
    Phase phase = Phase::look;
    std::uint64_t at = 0;  // progress within the phase, if steps are short
  };                       // all that a joining group receives

  CsrView graph;
  Ranking ranking;
  std::uint32_t* mark;
  Node* rival;  // undecided neighbour of least priority; the node itself if there is none
  std::uint32_t* stopped;  // a neighbour joined the set in this round
  std::uint32_t* undecided_left;
  std::uint64_t chunk;  // nodes per group and step; 0: all

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Portion now = portion(group, state.at, graph.num_nodes(), chunk);
    const Phase phase = state.phase;
    state.at = now.last ? 0 : now.end;
    if (now.last) {
      state.phase = phase == Phase::look   ? Phase::join
                    : phase == Phase::join ? Phase::apply
                                           : Phase::look;
    }
    switch (phase) {
      case Phase::look: look(group, now); break;
      case Phase::join: return join(group, now);
      case Phase::apply: apply(group, now); break;
    }
    return Next::again;
  }

 private:
  template <class Group>
  COHORT_FN void look(Group& group, const Portion& now) const {
    const auto marks = group.view(static_cast<const std::uint32_t*>(mark));
    const auto rivals = group.view(rival);
    bool any = false;
    for_items(group, now.begin, now.end,
              [graph = graph, ranking = ranking, marks, rivals, &any](std::size_t i) {
                const auto node = static_cast<Node>(i);
                if (marks[node] != undecided) return;
                any = true;
                Node least = node;
                std::uint64_t bottom = ranking.of(node);
                for (const Node other : graph.neighbours(node)) {
                  if (marks[other] != undecided) continue;
                  const std::uint64_t its = ranking.of(other);
                  least = its < bottom ? other : least;
                  bottom = its < bottom ? its : bottom;
                }
                rivals[node] = least;
              });
    if (any) group.atomic(*undecided_left).store(1);
  }

  template <class Group>
  COHORT_FN Next join(Group& group, const Portion& now) const {
    const auto rivals = group.view(static_cast<const Node*>(rival));
    for_items(group, now.begin, now.end, [&](std::size_t i) {
      const auto node = static_cast<Node>(i);
      // Only this thread writes this mark in this phase, but its neighbours' threads read it.
      if (group.atomic(mark[node]).load() != undecided || rivals[node] != node) return;
      group.atomic(mark[node]).store(in);
      for (const Node other : graph.neighbours(node)) {
        if (other != node && group.atomic(mark[other]).load() == undecided)
          group.atomic(stopped[other]).store(1);
      }
    });
    return group.atomic(*undecided_left).load() != 0 ? Next::again : Next::halt;
  }

  template <class Group>
  COHORT_FN void apply(Group& group, const Portion& now) const {
    const auto marks = group.view(mark);
    const auto stops = group.view(stopped);
    for_items(group, now.begin, now.end, [&](std::size_t i) {
      if (marks[i] == undecided && stops[i] != 0) marks[i] = out;
    });
    if (group.global_id() == 0) group.atomic(*undecided_left).store(0);
  }
};

}  // namespace cohort::apps
