// Maximal independent set by priorities with one resizing barrier a sweep: a node is decided as
// soon as its neighbours of lower priority are (Blelloch, Fineman and Shun 2012). The set equals
// that of the paper's algorithm.
// Invariant: a mark is set once, and depends only on marks that are set.
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
  std::uint32_t* settled;  // per piece: number of leading edges that no longer matter
  std::uint32_t* pending;  // per hub: number of pieces with edges that matter
  std::uint32_t num_hubs;
  Sweep sweep;

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    visit("marks", mark, graph.num_nodes());
    visit("settled", settled, sweep.cuts.num_pieces);
    visit("pending", pending, num_hubs);
    sweep.buffers(visit);
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    // After the first sweep, most hubs have a neighbour in the set, so their visits end early.
    return sweep.step(
        group, state, state.turn > 0, [&](const HubPiece& piece) { visit_piece(group, piece); },
        [&](Node node) { return decide(group, node) ? Verdict::decided : Verdict::open; },
        [](Node) { return false; });
  }

 private:
  // Relaxed, here and below: only the mark itself is read, and it never changes again.
  template <class Group>
  COHORT_FN bool decide(Group& group, Node node) const {
    if (graph.degree(node) > sweep.cuts.most_edges)  // a hub is decided by its pieces
      return group.atomic(mark[node]).load() != undecided;
    const std::uint64_t own = ranking.of(node);
    std::uint32_t becomes = in;
    for_neighbours(
        group, graph, node, mark, [](Node) COHORT_APPS_INLINE { return true; },
        [&](Node other, std::uint32_t its) COHORT_APPS_INLINE {
          if (its == in) {  // so it has a lower priority: it has not waited for this node
            becomes = out;
            return false;
          }
          // One undecided neighbour of lower priority is enough. Priorities are slow to compare.
          if (its == undecided && becomes == in && ranking.of(other) < own) becomes = undecided;
          return true;
        });
    if (becomes == undecided) return false;
    group.atomic(mark[node]).store(becomes);
    return true;
  }

  /// Looks for a neighbour of lower priority that is in the set; if there is none, for one that is
  /// undecided.
  template <class Group>
  COHORT_FN void visit_piece(Group& group, const HubPiece& piece) const {
    // `found` if a neighbour is in the set. Otherwise, it is 1 + the first undecided edge.
    constexpr std::uint32_t member = 0;
    const auto first_edge = group.view(settled + (&piece - sweep.cuts.pieces));
    const std::uint32_t from = first_edge[0];
    if (from == piece.count) return;
    const std::uint64_t own = ranking.of(piece.hub);
    std::uint32_t found = piece.count + 1;
    // If the hub is decided already, it is out: to be in the set it would need this piece's
    // consent, which it has not given.
    if (group.atomic(mark[piece.hub]).load() != undecided) found = member;
    for (std::uint32_t at = from + group.local_id(); at < piece.count && found != member;
         at += group.local_size()) {
      const Node other = graph.target(piece.begin + at);
      const std::uint32_t its = group.atomic(mark[other]).load();
      if (its == in) {
        found = member;
      } else if (its == undecided && at + 1 < found && ranking.of(other) < own) {
        found = at + 1;
      }
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
