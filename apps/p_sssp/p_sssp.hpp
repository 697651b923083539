// Shortest paths by pulling over incoming edges, as in the paper (after Pannotia, Che et al. 2013):
// three resizing barriers a round.
// Invariant: a distance never grows, and is that of a path or infinite; sums never wrap.
#pragma once

#include "apps/distance.hpp"
#include "apps/share.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// The lesser of a distance and a path by way of a node, whose distance is `from`. Nobody can guess
/// which: so nothing to guess.
COHORT_FN constexpr Distance shorter(Distance least, Distance from, Weight weight) {
  const Distance through = from + weight;
  const Distance sum = through < from ? infinite : through;
  return sum < least ? sum : least;
}

struct PaperPullSssp {
  static constexpr bool paper_barriers = true;
  enum class Phase : std::uint32_t { copy, relax, compare };
  struct State {
    Phase phase = Phase::copy;
    std::uint64_t at = 0;  // how much of the phase is done, where steps are short
  };                       // all that a joining group receives

  CsrView incoming;
  Distance* x;
  Distance* y;
  std::uint32_t* changed;  // in a portion of the comparison before the last
  std::uint64_t chunk;     // nodes for each group in a step; 0: all

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

/// The same in place, with one resizing barrier a round: a round sees what it has just found, and
/// every other one goes backwards (Yen 1970), so there are fewer of them.
struct PullSssp {
  struct State {
    std::uint32_t turn = 0;
    std::uint64_t at = 0;  // how much of the round is done, where steps are short
  };                       // all that a joining group receives

  CsrView incoming;
  Distance* distance;
  std::uint32_t* flags;  // two, a line apart: a portion before the last has changed something
  std::uint64_t chunk;   // nodes for each group in a step; 0: all

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const std::size_t nodes = incoming.num_nodes();
    const Portion now = portion(group, state.at, nodes, chunk);
    const bool backwards = state.turn % 2 != 0;
    bool changed = false;
    // Stretches rather than blocks: what a path needs next is then mostly this group's too.
    const std::size_t count = now.end - now.begin;
    const std::size_t groups = group.num_groups();
    const std::size_t id = group.group_id();
    const std::size_t first = now.begin + count * id / groups;
    const std::size_t last = now.begin + count * (id + 1) / groups;
    const auto begin = static_cast<Node>(backwards ? last - 1 : first);
    const Node towards = backwards ? ~Node{0} : 1;
    for (const std::size_t i : group.local_stride(last - first))
      changed |= relax(group, begin + towards * static_cast<Node>(i));
    state.at = now.last ? 0 : now.end;
    if (!now.last) {
      if (changed) group.atomic(flag(state.turn)).store(1);
      return Next::again;
    }
    changed |= group.atomic(flag(state.turn)).load() != 0;
    if (group.global_id() == 0) group.atomic(flag(state.turn + 1)).store(0);
    ++state.turn;
    return changed ? Next::again : Next::halt;
  }

 private:
  COHORT_FN std::uint32_t& flag(std::uint32_t turn) const {
    return flags[std::size_t{turn % 2} * 16];
  }

  template <class Group>
  COHORT_FN bool relax(Group& group, Node node) const {
    // Relaxed: any distance that is read is that of a path, and the last round reads the final
    // ones.
    const Distance old = group.atomic(distance[node]).load();
    const std::uint64_t first = incoming.first_edge(node);
    const std::uint64_t end = incoming.first_edge(node + 1);
    // Threads of a GPU wait for what they read, so they ask for several at a time. Whether there
    // are weights is asked here, and not between these.
    const Distance least = group.alone()                   ? pull<1, true>(group, old, first, end)
                           : incoming.weights() != nullptr ? pull<4, true>(group, old, first, end)
                                                           : pull<4, false>(group, old, first, end);
    if (least == old) return false;
    group.atomic(distance[node]).store(least);
    return true;
  }

  /// The least of a distance and the paths by way of some edges, of which `at_once` are asked for
  /// together. Not `weighted`: there are no weights. As for_neighbours() does it, but without a
  /// branch: what is not there is infinitely far.
  template <std::uint32_t at_once, bool weighted, class Group>
  COHORT_FN Distance pull(Group& group, Distance least, std::uint64_t edge,
                          std::uint64_t end) const {
    for (; edge < end; edge += at_once) {
      const auto left = static_cast<std::uint32_t>(apps::least(end - edge, at_once));
      Node from[at_once];
      Weight weight[at_once];
      Distance reached[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k)
        from[k] = k < left ? incoming.target(edge + k) : 0;
      for (std::uint32_t k = 0; k < at_once; ++k)
        reached[k] = k < left ? group.atomic(distance[from[k]]).load() : infinite;
      for (std::uint32_t k = 0; k < at_once; ++k)
        weight[k] = weighted && k < left ? incoming.weight(edge + k) : 1;
      for (std::uint32_t k = 0; k < at_once; ++k) least = shorter(least, reached[k], weight[k]);
    }
    return least;
  }
};

}  // namespace cohort::apps
