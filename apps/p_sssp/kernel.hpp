// Shortest paths by pulling over incoming edges, in place, with one resizing barrier a round.
// Invariant: a distance never grows; it is the length of a path, or infinite; sums never wrap.
#pragma once

#include <type_traits>

#include "apps/cuts.hpp"
#include "apps/distance.hpp"
#include "apps/share.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// The lesser of a distance and a path through a node at distance `from`. Without branches, which
/// would be unpredictable.
template <class Length>
COHORT_FN constexpr Length shorter(Length least, std::type_identity_t<Length> from, Weight weight) {
  const Length through = from + weight;
  const Length sum = through < from ? static_cast<Length>(infinite) : through;
  return sum < least ? sum : least;
}

/// A round reads distances that it has just written, and every other round goes backwards (Yen
/// 1970), so fewer rounds are needed. `Length` is the type of path lengths, with 32 bits if no path
/// is longer.
template <class Length>
struct PullSssp {
  struct State {
    std::uint32_t turn = 0;
    std::uint64_t at = 0;  // progress within the round, if steps are short
  };                       // all that a joining group receives

  CsrView incoming;
  Length* distance;
  TurnFlags flags;
  Cuts cuts;            // cuts of the incoming edges
  std::uint64_t chunk;  // nodes per group and step; 0: all

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    visit("distances", distance, incoming.num_nodes());
    flags.buffers(visit);
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Portion now = cuts.portion(group, state.at, chunk);
    const Portion after = cuts.after_pieces(now);
    const bool backwards = state.turn % 2 != 0;
    // Each group takes one stretch of nodes rather than blocks, because the next node of a path is
    // then usually in the same stretch.
    const std::size_t count = after.end - after.begin;
    const std::size_t groups = group.num_groups();
    const std::size_t id = group.group_id();
    const Node first = cuts.node(after.begin + count * id / groups);
    const Node last = cuts.node(after.begin + count * (id + 1) / groups);
    const Stretch mine{.begin = backwards ? last - 1 : first,
                       .towards = backwards ? ~Node{0} : 1,
                       .count = last - first};
    bool changed = incoming.weights() != nullptr ? relax_all<true>(group, mine)
                                                 : relax_all<false>(group, mine);
    cuts.for_pieces(group, now,
                    [&](const HubPiece& piece) { changed |= relax_piece(group, piece); });
    return flags.conclude(group, state, now, changed);
  }

 private:
  static constexpr Length far = static_cast<Length>(infinite);

  /// Consecutive nodes, visited upwards or downwards.
  struct Stretch {
    Node begin;
    Node towards;
    std::size_t count;

    COHORT_FN Node operator[](std::size_t i) const {
      return begin + towards * static_cast<Node>(i);
    }
  };
  /// A node's distance and the range of its edges. The default is an empty range: nothing to do.
  struct Row {
    Length old = 0;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  /// The first few edges of a node. If the node has fewer, the rest are arbitrary.
  struct Few {
    static constexpr std::uint32_t count = 4;
    Node from[count];
    Weight weight[count];
  };
  struct Reached {
    Length length[Few::count];
  };

  // Relaxed, here and below: every distance is the length of a path, and the last round reads the
  // final distances. Only this thread writes the node's own distance in this step, unless the node
  // is a hub.
  template <class Group>
  COHORT_FN Row row(const Group& group, Node node) const {
    const Row all{.old = group.atomic(distance[node]).load(),
                  .first = incoming.first_edge(node),
                  .end = incoming.first_edge(node + 1)};
    if (all.end - all.first <= cuts.most_edges) return all;
    // A hub is visited piece by piece instead.
    return {.old = all.old, .first = all.first, .end = all.first};
  }

  template <class Group>
  COHORT_FN bool relax_piece(const Group& group, const HubPiece& piece) const {
    const Length old = group.atomic(distance[piece.hub]).load();
    Length least = old;
    for (const std::size_t i : group.local_stride(piece.count)) {
      const std::uint64_t edge = piece.begin + i;
      least = incoming.weights() != nullptr ? through<true>(group, least, edge)
                                            : through<false>(group, least, edge);
    }
    // Atomic minimum, because other threads have pieces of the same hub.
    return least < old && group.atomic(distance[piece.hub]).fetch_min(least) > least;
  }

  template <bool weighted>
  COHORT_FN Few few_from(std::uint64_t edge, std::uint64_t end) const {
    Few result;
    for (std::uint32_t k = 0; k < Few::count; ++k)
      result.from[k] = edge + k < end ? incoming.targets()[edge + k] : 0;
    for (std::uint32_t k = 0; k < Few::count; ++k)
      result.weight[k] = weighted && edge + k < end ? incoming.weights()[edge + k] : 1;
    return result;
  }

  /// Distances of the edges' sources; missing edges count as infinitely far.
  template <class Group>
  COHORT_FN Reached ask(const Group& group, const Few& edges, std::uint64_t edge,
                        std::uint64_t end) const {
    Reached result;
    for (std::uint32_t k = 0; k < Few::count; ++k)
      result.length[k] = edge + k < end ? group.atomic(distance[edges.from[k]]).load() : far;
    return result;
  }
  COHORT_FN static Length least_of(Length least, const Reached& reached, const Few& edges) {
    for (std::uint32_t k = 0; k < Few::count; ++k)
      least = shorter(least, reached.length[k], edges.weight[k]);
    return least;
  }

  /// The lesser of a distance and the length of the path by way of one edge.
  template <bool weighted, class Group>
  COHORT_FN Length through(const Group& group, Length least, std::uint64_t edge) const {
    const Length from = group.atomic(distance[incoming.target(edge)]).load();
    return shorter(least, from, weighted ? incoming.weights()[edge] : 1);
  }

  template <bool weighted, class Group>
  COHORT_FN bool relax(const Group& group, Node node) const {
    const Row its = row(group, node);
    Length least = its.old;
    for (std::uint64_t edge = its.first; edge < its.end; ++edge)
      least = through<weighted>(group, least, edge);
    if (least == its.old) return false;
    group.atomic(distance[node]).store(least);
    return true;
  }

  /// Visits this thread's nodes of a stretch. On a GPU a load takes long, so loads overlap: the
  /// distances for one node, the edges of the next node, and the edge range of the node after that.
  template <bool weighted, class Group>
  COHORT_FN bool relax_all(const Group& group, const Stretch& stretch) const {
    bool changed = false;
    if (group.alone()) {
      for (std::size_t i = 0; i < stretch.count; ++i) changed |= relax<weighted>(group, stretch[i]);
      return changed;
    }
    const std::size_t by = group.local_size();
    const auto row_at = [&](std::size_t i) {
      return i < stretch.count ? row(group, stretch[i]) : Row{};
    };
    std::size_t i = group.local_id();
    Row now = row_at(i);
    Row next = row_at(i + by);
    Few edges = few_from<weighted>(now.first, now.end);
    for (; i < stretch.count; i += by) {
      const Reached reached = ask(group, edges, now.first, now.end);
      const Row later = row_at(i + 2 * by);
      const Few next_edges = few_from<weighted>(next.first, next.end);
      Length least = least_of(now.old, reached, edges);
      COHORT_APPS_ROLLED
      for (std::uint64_t edge = now.first + Few::count; edge < now.end; ++edge)
        least = through<weighted>(group, least, edge);
      if (least != now.old) {
        group.atomic(distance[stretch[i]]).store(least);
        changed = true;
      }
      now = next;
      next = later;
      edges = next_edges;
    }
    return changed;
  }
};

}  // namespace cohort::apps
