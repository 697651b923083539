// Graph colouring by priorities, as in the paper (after Pannotia, Che et al. 2013): two resizing
// barriers a round.
// Invariant: a node takes its colour in the round in which it has the highest priority among those
// uncoloured. So colour(u) = 1 + the highest colour of a neighbour of higher priority, or 0.
#pragma once

#include "apps/priority.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

inline constexpr std::uint32_t uncoloured = ~0U;

struct PaperColor {
  static constexpr bool paper_barriers = true;
  enum class Phase : std::uint32_t { look, colour };
  struct State {
    std::uint32_t turn = 0;  // the round; its parity chooses the flag
    Phase phase = Phase::look;
    std::uint64_t at = 0;  // progress within the phase, if steps are short
  };                       // all that a joining group receives

  CsrView graph;
  Ranking ranking;
  std::uint32_t* colour_of;
  Node* rival;      // uncoloured neighbour of highest priority; the node itself if there is none
  TurnFlags flags;  // some node has a rival
  std::uint64_t chunk;  // nodes per group and step; 0: all

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    return state.phase == Phase::look ? look(group, state) : colour(group, state);
  }

 private:
  template <class Group>
  COHORT_FN Next look(Group& group, State& state) const {
    const Portion now = portion(group, state.at, graph.num_nodes(), chunk);
    const auto colours = group.view(static_cast<const std::uint32_t*>(colour_of));
    const auto rivals = group.view(rival);
    bool any = false;
    for_items(group, now.begin, now.end,
              [graph = graph, ranking = ranking, colours, rivals, &any](std::size_t i) {
                const auto node = static_cast<Node>(i);
                if (colours[node] != uncoloured) return;
                Node highest = node;
                std::uint64_t top = ranking.of(node);
                for (const Node other : graph.neighbours(node)) {
                  if (other == node || colours[other] != uncoloured) continue;
                  any = true;
                  const std::uint64_t its = ranking.of(other);
                  highest = top < its ? other : highest;
                  top = top < its ? its : top;
                }
                rivals[node] = highest;
              });
    if (any) group.atomic(flags.of(state.turn)).store(1);
    state.at = now.last ? 0 : now.end;
    if (now.last) state.phase = Phase::colour;
    return Next::again;
  }

  template <class Group>
  COHORT_FN Next colour(Group& group, State& state) const {
    const Portion now = portion(group, state.at, graph.num_nodes(), chunk);
    const auto colours = group.view(colour_of);
    const auto rivals = group.view(static_cast<const Node*>(rival));
    for_items(group, now.begin, now.end, [=, turn = state.turn](std::size_t i) {
      if (colours[i] == uncoloured && rivals[i] == i) colours[i] = turn;
    });
    state.at = now.last ? 0 : now.end;
    if (!now.last) return Next::again;
    const bool rivals_left = group.atomic(flags.of(state.turn)).load() != 0;
    if (group.global_id() == 0) group.atomic(flags.of(state.turn + 1)).store(0);
    state.phase = Phase::look;
    ++state.turn;
    return rivals_left ? Next::again : Next::halt;
  }
};

}  // namespace cohort::apps
