// Sweeps: each step visits the open nodes and drops the decided ones, until no node is open. Needs
// one resizing barrier per sweep and no shared counter. Nodes are kept in blocks of fixed places;
// the group that visits a block closes its gaps.
// Invariant: a block belongs to one group for the duration of a step.
#pragma once

#include "apps/share.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

struct Sweep {
  struct State {
    std::uint32_t turn = 0;
    std::uint64_t at = 0;  // blocks of the sweep done, if steps are short
  };                       // all that a joining group receives

  Node* open;            // block by block; the first `count` places of a block are open nodes
  std::uint32_t* count;  // open nodes per block; not yet set in the first sweep
  TurnFlags flags;
  Node num_nodes;
  std::uint32_t block_size;
  std::uint64_t chunk;  // nodes per group and step; 0: all

  /// `decide(node)` returns whether the node is decided now.
  template <class Group, class Decide>
  COHORT_FN Next step(Group& group, State& state, Decide decide) const {
    const std::size_t blocks = (std::size_t{num_nodes} + block_size - 1) / block_size;
    const std::size_t nodes = chunk_for(group, num_nodes, chunk);
    const Portion now = portion(group, state.at, blocks, (nodes + block_size - 1) / block_size);
    bool left = false;
    for (std::size_t i = now.begin + group.group_id(); i < now.end; i += group.num_groups())
      left |= visit(group, i, state.turn == 0, decide) > 0;
    return flags.conclude(group, state, now, left);
  }

 private:
  /// Returns how many nodes of the block are still open.
  template <class Group, class Decide>
  COHORT_FN std::uint32_t visit(Group& group, std::size_t block, bool first, Decide decide) const {
    const std::size_t begin = block * block_size;
    const auto nodes = group.view(open + begin);
    const auto size = static_cast<std::uint32_t>(first ? least(block_size, num_nodes - begin)
                                                       : group.view(count)[block]);
    if (size == 0) return 0;
    std::uint32_t kept = 0;
    for (std::uint32_t base = 0; base < size; base += group.local_size()) {
      const std::uint32_t i = base + group.local_id();
      const bool mine = i < size;
      const Node node = !mine ? 0 : first ? static_cast<Node>(begin + i) : nodes[i];
      const std::uint32_t keep = mine && !decide(node) ? 1 : 0;
      if (group.alone()) {
        if (keep != 0) nodes[kept++] = node;
        continue;
      }
      // All threads have read their node before the scan ends, and none writes beyond the nodes
      // read.
      const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
      const std::uint32_t before = group.exclusive_scan(keep, std::uint32_t{0}, plus);
      if (keep != 0) nodes[kept + before] = node;
      kept += group.broadcast(before + keep, group.local_size() - 1);
    }
    if (!group.alone()) group.barrier();  // the old count has been read
    if (group.local_id() == 0) group.view(count)[block] = kept;
    return kept;
  }
};

}  // namespace cohort::apps
