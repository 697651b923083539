// Sweeps: each step visits the open nodes and drops the decided ones, until no node is open. Needs
// one resizing barrier per sweep and no shared counter. Nodes are kept in blocks at fixed places;
// the group that visits a block closes its gaps.
// Invariant: a block belongs to one group for the duration of a step.
#pragma once

#include "apps/cuts.hpp"
#include "apps/share.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// The outcome of a visit to a node.
enum class Verdict : std::uint32_t {
  decided,
  open,
  /// All threads of the group should visit the node together. Only for groups of many threads, on
  /// graphs with uneven degrees.
  together,
};

struct Sweep {
  struct State {
    std::uint32_t turn = 0;
    std::uint64_t at = 0;  // pieces and blocks of the sweep already done, if steps are short
  };                       // all that a joining group receives

  Node* open;            // block by block; the first `count` places of a block are open nodes
  std::uint32_t* count;  // open nodes per block; not yet set in the first sweep
  TurnFlags flags;
  Cuts cuts;
  std::uint32_t block_size;  // nodes per block, if the graph has no cuts
  std::uint64_t chunk;       // nodes per group and step; 0: all

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    visit("open", open, cuts.num_nodes);
    visit("open per block", count, num_blocks());
    flags.buffers(visit);
  }

  /// Visits pieces of hubs first if `pieces` is set, then nodes. `visit_piece(piece)` visits a
  /// piece. `decide(node)` returns a verdict. All threads of a group call `decide_together(node)`,
  /// which returns whether the node is now decided.
  template <class Group, class VisitPiece, class Decide, class DecideTogether>
  COHORT_FN Next step(Group& group, State& state, bool pieces, VisitPiece visit_piece,
                      Decide decide, DecideTogether decide_together) const {
    const bool cut = cuts.first != nullptr;
    const std::size_t blocks = num_blocks();
    const std::size_t before = pieces ? cuts.num_pieces : 0;
    const std::size_t nodes = cut ? chunk : chunk_for(group, cuts.num_nodes, chunk);
    const Portion now = cuts.portion(group, state.at, before + blocks,
                                     cut ? chunk : (nodes + block_size - 1) / block_size);
    bool left = false;
    if (pieces) cuts.for_pieces(group, now, visit_piece);
    for (std::size_t i = most(now.begin, before) + group.group_id(); i < most(now.end, before);
         i += group.num_groups())
      left |= visit(group, i - before, state.turn == 0, decide, decide_together) > 0;
    return flags.conclude(group, state, now, left);
  }

 private:
  [[nodiscard]] COHORT_FN std::size_t num_blocks() const {
    return cuts.first != nullptr ? cuts.num_blocks
                                 : (std::size_t{cuts.num_nodes} + block_size - 1) / block_size;
  }
  [[nodiscard]] COHORT_FN std::size_t first_of(std::size_t block) const {
    return cuts.first != nullptr ? cuts.first[block] : least(block * block_size, cuts.num_nodes);
  }

  /// Returns how many nodes of the block are still open.
  template <class Group, class Decide, class DecideTogether>
  COHORT_FN std::uint32_t visit(Group& group, std::size_t block, bool first, Decide decide,
                                DecideTogether decide_together) const {
    const std::size_t begin = first_of(block);
    const auto nodes = group.view(open + begin);
    const auto size =
        first ? static_cast<std::uint32_t>(first_of(block + 1) - begin) : group.view(count)[block];
    if (size == 0) return 0;
    std::uint32_t kept = 0;
    for (std::uint32_t base = 0; base < size; base += group.local_size()) {
      const std::uint32_t i = base + group.local_id();
      const bool mine = i < size;
      const Node node = !mine ? 0 : first ? static_cast<Node>(begin + i) : nodes[i];
      Verdict verdict = mine ? decide(node) : Verdict::decided;
      if (group.alone()) {
        if (verdict == Verdict::open) nodes[kept++] = node;
        continue;
      }
      if (cuts.uneven) settle_together(group, node, verdict, decide_together);
      // Every thread has read its node before the scan ends, and no thread writes beyond the nodes
      // read.
      const std::uint32_t keep = verdict == Verdict::open ? 1 : 0;
      const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
      const std::uint32_t before = group.exclusive_scan(keep, std::uint32_t{0}, plus);
      if (keep != 0) nodes[kept + before] = node;
      kept += group.broadcast(before + keep, group.local_size() - 1);
    }
    if (!group.alone()) group.barrier();  // the old count has been read
    if (group.local_id() == 0) group.view(count)[block] = kept;
    return kept;
  }

  /// Visits the nodes that single threads have left to the whole group, one after the other.
  template <class Group, class DecideTogether>
  COHORT_FN static void settle_together(Group& group, Node node, Verdict& verdict,
                                        DecideTogether decide_together) {
    const std::uint32_t none = group.local_size();
    const auto lesser = [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; };
    for (;;) {
      const std::uint32_t next =
          group.reduce(verdict == Verdict::together ? group.local_id() : none, lesser);
      if (next == none) return;
      const bool decided = decide_together(group.broadcast(node, next));
      if (group.local_id() == next) verdict = decided ? Verdict::decided : Verdict::open;
    }
  }
};

}  // namespace cohort::apps
