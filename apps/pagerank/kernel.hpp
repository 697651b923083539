// PageRank (Brin and Page 1998) by pulling over incoming edges, with one resizing barrier per
// iteration. A node without outgoing edges keeps its rank. Ends when no rank changes by more than
// the tolerance. Invariant: a node's rank is a sum in the order of its edges, so ranks do not
// depend on the number of groups.
#pragma once

#include "apps/share.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

struct PageRank {
  static constexpr double damping = 0.85;
  struct State {
    std::uint32_t turn = 0;
    std::uint64_t at = 0;  // progress within the iteration, if steps are short
  };                       // all that a joining group receives

  CsrView graph;
  CsrView incoming;  // the graph with every edge reversed
  double* rank;      // per node; 1 on average
  // The rank that a node gives to each of its targets, by iteration modulo 2: one array is read,
  // the other is written.
  double* shares[2];
  TurnFlags flags;
  std::uint64_t chunk;  // nodes per group and step; 0: all
  double tolerance;

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    visit("ranks", rank, graph.num_nodes());
    visit("shares 0", shares[0], graph.num_nodes());
    visit("shares 1", shares[1], graph.num_nodes());
    flags.buffers(visit);
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Portion now = portion(group, state.at, graph.num_nodes(), chunk);
    const auto given = group.view(static_cast<const double*>(shares[state.turn % 2]));
    const auto next = group.view(shares[(state.turn + 1) % 2]);
    const auto ranks = group.view(rank);
    bool changed = false;
    for_items(group, now.begin, now.end, [&](std::size_t i) {
      const auto node = static_cast<Node>(i);
      const double old = ranks[i];
      const auto degree = static_cast<double>(graph.degree(node));
      double sum = degree == 0 ? old : 0;
      for (const Node from : incoming.neighbours(node)) sum += given[from];
      const double fresh = 1 - damping + damping * sum;
      ranks[i] = fresh;
      next[i] = degree == 0 ? 0 : fresh / degree;
      changed = changed || fresh - old > tolerance || old - fresh > tolerance;
    });
    return flags.conclude(group, state, now, changed);
  }
};

}  // namespace cohort::apps
