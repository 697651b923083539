// Connected components by linking trees (Afforest, Sutton, Ben-Nun and Barak 2018). Links each node
// with two neighbours and flattens the trees. Then it links the remaining edges, except those of
// the component that already has most nodes. There are seven steps whatever the diameter.
// Invariant: a parent never exceeds its child, so the root of a component ends as its least node.
#pragma once

#include "apps/cuts.hpp"
#include "apps/share.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

struct Components {
  enum class Phase : std::uint32_t {
    link_first,
    flatten_first,
    link_second,
    flatten_second,
    sample,
    link_rest,
    flatten_all
  };
  struct State {
    Phase phase = Phase::link_first;
    std::uint64_t at = 0;  // progress within the phase, if steps are short
  };                       // all that a joining group receives
  static constexpr Node no_node = ~Node{0};

  CsrView graph;
  Node* parent;         // initially the node itself
  Node* frequent;       // the component whose nodes need no more links; no_node if not known yet
  Cuts cuts;            // cuts of the graph, for linking the remaining edges
  std::uint64_t chunk;  // nodes per group and step; 0: all
  bool both_ways;  // every edge exists in both directions, so the kernel may skip one of the two

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    visit("parents", parent, graph.num_nodes());
    visit("frequent", frequent, 1);
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Portion now = state.phase == Phase::link_rest
                            ? cuts.portion(group, state.at, chunk)
                            : portion(group, state.at, graph.num_nodes(), chunk);
    switch (state.phase) {
      case Phase::link_first: link_edge(group, now, 0); break;
      case Phase::link_second: link_edge(group, now, 1); break;
      case Phase::sample:
        if (both_ways && group.global_id() == 0) group.view(frequent)[0] = sample(group);
        break;
      case Phase::link_rest: link_rest(group, now); break;
      case Phase::flatten_first:
      case Phase::flatten_second:
      case Phase::flatten_all: flatten_each(group, now); break;
    }
    const bool whole = now.last || state.phase == Phase::sample;
    const bool over = whole && state.phase == Phase::flatten_all;
    state.at = whole ? 0 : now.end;
    if (whole) state.phase = static_cast<Phase>(static_cast<std::uint32_t>(state.phase) + 1);
    return over ? Next::halt : Next::again;
  }

 private:
  template <class Group>
  COHORT_FN void link_edge(Group& group, const Portion& now, std::uint32_t which) const {
    for_items(group, now.begin, now.end, [&](std::size_t i) {
      const auto node = static_cast<Node>(i);
      const std::uint64_t edge = graph.first_edge(node) + which;
      if (edge < graph.first_edge(node + 1)) link(group, node, graph.target(edge));
    });
  }

  /// If both ends of an edge are skipped, they already have the same root.
  template <class Group>
  COHORT_FN void link_rest(Group& group, const Portion& now) const {
    const Node skip = group.view(static_cast<const Node*>(frequent))[0];
    const auto is_frequent = [&](Node node) {
      return skip != no_node && group.atomic(parent[node]).load() == skip;
    };
    cuts.for_pieces(group, now, [&](const HubPiece& piece) {
      if (is_frequent(piece.hub)) return;
      for (const std::size_t i : group.local_stride(piece.count))
        link(group, piece.hub, graph.target(piece.begin + i));
    });
    cuts.for_nodes(group, cuts.after_pieces(now), [&](std::size_t i) {
      const auto node = static_cast<Node>(i);
      const std::uint64_t end = graph.first_edge(node + 1);
      const std::uint64_t begin = graph.first_edge(node);
      if (end - begin > cuts.most_edges || is_frequent(node)) return;
      for (std::uint64_t edge = begin + 2; edge < end; ++edge)
        link(group, node, graph.target(edge));
    });
  }
  /// Makes the lower of two roots the parent of the higher. Relaxed: parents only decrease, and a
  /// root changes only by compare-and-swap.
  template <class Group>
  COHORT_FN void link(Group& group, Node a, Node b) const {
    Node one = group.atomic(parent[a]).load();
    Node two = group.atomic(parent[b]).load();
    while (one != two) {
      const Node high = one < two ? two : one;
      const Node low = one < two ? one : two;
      Node above = group.atomic(parent[high]).load();
      if (above == low) return;
      if (above == high && group.atomic(parent[high]).compare_exchange(above, low)) return;
      one = group.atomic(parent[above]).load();
      two = group.atomic(parent[low]).load();
    }
  }

  template <class Group>
  COHORT_FN void flatten_each(Group& group, const Portion& now) const {
    for_items(group, now.begin, now.end, [&](std::size_t i) {
      const Node first = group.atomic(parent[i]).load();
      Node above = first;
      Node top = group.atomic(parent[above]).load();
      while (above != top) {
        above = top;
        top = group.atomic(parent[above]).load();
      }
      if (top != first) group.atomic(parent[i]).store(top);
    });
  }

  /// Returns the component that contains most of a few sampled nodes, if there is one (Boyer and
  /// Moore's vote). Any answer is correct; a good one saves work.
  template <class Group>
  COHORT_FN Node sample(Group& group) const {
    constexpr std::uint64_t samples = 256;
    const auto parents = group.view(static_cast<const Node*>(parent));
    Node best = no_node;
    std::uint32_t votes = 0;
    for (std::uint64_t i = 0; i < samples && graph.num_nodes() > 0; ++i) {
      const Node its = parents[i * graph.num_nodes() / samples];
      if (votes == 0) best = its;
      votes = best == its ? votes + 1 : votes - 1;
    }
    return best;
  }
};

}  // namespace cohort::apps
