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
  std::uint32_t* settled;  // of each piece: its first edges that no longer matter
  std::uint32_t* pending;  // of each hub: pieces with edges that matter
  Sweep sweep;

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    // After the first sweep, most hubs have a neighbour in the set, which ends the visit early.
    return sweep.step(
        group, state, state.turn > 0, [&](const HubPiece& piece) { visit_piece(group, piece); },
        [&](Node node) { return decide(group, node) ? Verdict::decided : Verdict::open; },
        [](Node) { return false; });
  }

 private:
  // Relaxed, here and below: only the mark itself is read, and it never changes again.
  template <class Group>
  COHORT_FN bool decide(Group& group, Node node) const {
    if (graph.degree(node) > sweep.cuts.most_edges)  // its pieces decide
      return group.atomic(mark[node]).load() != undecided;
    std::uint32_t becomes = in;
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
  }

  /// Looks for a neighbour of lower priority that is in the set, or else undecided.
  template <class Group>
  COHORT_FN void visit_piece(Group& group, const HubPiece& piece) const {
    constexpr std::uint32_t member = 0;  // there is one in the set; else 1 + the first undecided
    const auto first_edge = group.view(settled + (&piece - sweep.cuts.pieces));
    const std::uint32_t from = first_edge[0];
    if (from == piece.count) return;
    std::uint32_t found = piece.count + 1;
    // If the hub is decided, it is out: this piece has not agreed to anything else.
    if (group.atomic(mark[piece.hub]).load() != undecided) found = member;
    for (std::uint32_t at = from + group.local_id(); at < piece.count && found != member;
         at += group.local_size()) {
      const Node other = graph.target(piece.begin + at);
      const std::uint32_t its = group.atomic(mark[other]).load();
      if (its == out || !ranking.less(other, piece.hub)) continue;
      found = its == in ? member : static_cast<std::uint32_t>(least(found, at + 1));
    }
    found = group.reduce(found, [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; });
    if (group.local_id() != 0) return;
    if (found == member) {
      group.atomic(mark[piece.hub]).store(out);
      return;
    }
    first_edge[0] = found - 1;
    if (found > piece.count && group.atomic(pending[piece.number]).fetch_sub(1) == 1)
      group.atomic(mark[piece.hub]).store(in);
  }
};

}  // namespace cohort::apps
