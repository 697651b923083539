// Shortest paths by pulling over incoming edges, as in the paper (after Pannotia, Che et al. 2013):
// three resizing barriers a round.
// Invariant: the one in kernel.hpp.
#pragma once

#include "apps/p_sssp/kernel.hpp"

namespace cohort::apps {

struct PaperPullSssp {
  static constexpr bool paper_barriers = true;
  enum class Phase : std::uint32_t { copy, relax, compare };
  struct State {
    Phase phase = Phase::copy;
    std::uint64_t at = 0;  // progress within the phase, if steps are short
  };                       // all that a joining group receives

  CsrView incoming;
  Distance* x;
  Distance* y;
  std::uint32_t* changed;  // set if an earlier portion of the comparison has found a change
  std::uint64_t chunk;     // nodes per group and step; 0: all

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Portion now = portion(group, state.at, incoming.num_nodes(), chunk);
    const Phase phase = state.phase;
    state.at = now.last ? 0 : now.end;
    if (now.last) {
      state.phase = phase == Phase::copy    ? Phase::relax
                    : phase == Phase::relax ? Phase::compare
                                            : Phase::copy;
    }
    switch (phase) {
      case Phase::copy: copy(group, now); break;
      case Phase::relax: relax(group, now); break;
      case Phase::compare: return compare(group, now);
    }
    return Next::again;
  }

 private:
  template <class Group>
  COHORT_FN void copy(Group& group, const Portion& now) const {
    const auto to = group.view(x);
    const auto from = group.view(static_cast<const Distance*>(y));
    for_items(group, now.begin, now.end, [&](std::size_t i) { to[i] = from[i]; });
    if (group.global_id() == 0) group.atomic(*changed).store(0);
  }

  template <class Group>
  COHORT_FN void relax(Group& group, const Portion& now) const {
    const auto old = group.view(static_cast<const Distance*>(x));
    const auto to = group.view(y);
    for_items(group, now.begin, now.end, [&](std::size_t i) {
      const auto node = static_cast<Node>(i);
      Distance least = old[i];
      const std::uint64_t end = incoming.first_edge(node + 1);
      for (std::uint64_t edge = incoming.first_edge(node); edge < end; ++edge)
        least = shorter(least, old[incoming.target(edge)], incoming.weight(edge));
      to[i] = least;
    });
  }

  template <class Group>
  COHORT_FN Next compare(Group& group, const Portion& now) const {
    const auto old = group.view(static_cast<const Distance*>(x));
    const auto fresh = group.view(static_cast<const Distance*>(y));
    bool differs = false;
    for_items(group, now.begin, now.end, [&](std::size_t i) { differs |= old[i] != fresh[i]; });
    if (!now.last) {
      if (differs) group.atomic(*changed).store(1);
      return Next::again;
    }
    return differs || group.atomic(*changed).load() != 0 ? Next::again : Next::halt;
  }
};

}  // namespace cohort::apps
