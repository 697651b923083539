// Cuts a graph into parts with similar amounts of work, even if degrees differ widely. The parts
// are blocks of consecutive nodes, and pieces of the edge lists of hubs, so that several groups
// share the edges of a hub.
// Invariant: every node is in one block, and every edge of a hub is in one piece. A block's nodes
// have at most about `block` edges together, if no hub has more than `hub` edges.
#pragma once

#include <limits>
#include <vector>

#include "apps/share.hpp"
#include "cohort/buffer.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// Where a graph is cut. The defaults suit all engines; tests choose smaller sizes.
struct CutSizes {
  std::uint32_t hub = 128;     ///< a node with more edges is a hub
  std::uint32_t piece = 1024;  ///< maximum number of edges in a piece
  std::uint32_t block = 2048;  ///< maximum number of nodes plus edges in a block
  std::uint32_t list = 32;     ///< longer lists of neighbours are visited by all threads of a group

  friend bool operator==(const CutSizes&, const CutSizes&) = default;
};

/// Cut sizes for inputs of a few nodes.
inline constexpr CutSizes tiny_sizes{.hub = 2, .piece = 2, .block = 4, .list = 0};

/// `count` consecutive edges of a hub, from `begin` on.
struct HubPiece {
  std::uint64_t begin;
  Node hub;
  std::uint32_t count;
  std::uint32_t number;  ///< index of the hub among all hubs

  [[nodiscard]] COHORT_FN std::uint64_t end() const { return begin + count; }
};

/// The cuts as kernels see them. A phase visits its items in this order: first the pieces, then the
/// blocks, or single nodes if there are no blocks.
struct Cuts {
  // First node of each block, then the number of nodes; null if there are no blocks.
  const Node* first;
  const HubPiece* pieces;
  std::uint32_t num_blocks;
  std::uint32_t num_pieces;
  std::uint32_t most_edges;  // maximum degree of a node that is not a hub
  Node num_nodes;
  bool uneven;  // some node has more than a few edges

  [[nodiscard]] COHORT_FN std::size_t items() const {
    return num_pieces + (first != nullptr ? std::size_t{num_blocks} : num_nodes);
  }
  /// Item `i` of the items after the pieces: its first node.
  [[nodiscard]] COHORT_FN Node node(std::size_t i) const {
    return first != nullptr ? first[i] : static_cast<Node>(i);
  }
  /// The next of `count` items. A step over pieces and blocks is short by default, so that the next
  /// resizing point is never far away. A barrier costs little compared with that many edges.
  template <class Group>
  [[nodiscard]] COHORT_FN Portion portion(const Group& group, std::size_t at, std::size_t count,
                                          std::uint64_t chunk) const {
    return apps::portion(group, at, count,
                         first == nullptr || chunk != even_chunk ? chunk : step(group, count));
  }
  template <class Group>
  [[nodiscard]] COHORT_FN Portion portion(const Group& group, std::size_t at,
                                          std::uint64_t chunk) const {
    return portion(group, at, items(), chunk);
  }

  /// Calls `visit(piece)` for this group's pieces among the items of a portion.
  template <class Group, class Visit>
  COHORT_FN void for_pieces(const Group& group, const Portion& now, Visit visit) const {
    const std::size_t end = least(now.end, num_pieces);
    for (std::size_t i = now.begin + group.group_id(); i < end; i += group.num_groups())
      visit(pieces[i]);
  }
  /// The part of a portion that comes after the pieces. Its indices do not count the pieces.
  [[nodiscard]] COHORT_FN Portion after_pieces(const Portion& now) const {
    return {now.begin - least(now.begin, num_pieces), now.end - least(now.end, num_pieces),
            now.last};
  }
  /// Calls `visit(node)` for this thread's nodes of such a part.
  template <class Group, class Visit>
  COHORT_FN void for_nodes(const Group& group, const Portion& now, Visit visit) const {
    if (first == nullptr) {
      for_items(group, now.begin, now.end, visit);
      return;
    }
    // A group takes consecutive blocks from eight places instead of one, so that groups end at
    // about the same time.
    const std::size_t count = now.end - now.begin;
    const std::size_t stretches = std::size_t{group.num_groups()} * 8;
    for (std::size_t i = group.group_id(); i < stretches; i += group.num_groups()) {
      const Node begin = first[now.begin + count * i / stretches];
      const Node end = first[now.begin + count * (i + 1) / stretches];
      for (const std::size_t k : group.local_stride(end - begin)) visit(begin + k);
    }
  }

 private:
  /// Pieces and blocks per group and step.
  template <class Group>
  COHORT_FN static std::size_t step(const Group& group, std::size_t count) {
    constexpr std::size_t alone = 128;
    const std::size_t all = group.alone() ? alone : most(group.local_size() / 8, 1);
    if (std::size_t{group.num_groups()} * 4 >= group.max_groups()) return all;
    return least(all, most(group.alone() ? 4 : 1, count / group.max_groups()));
  }
};

/// The cuts of a graph, on the host. Nothing is cut if no node has more than a few edges.
struct HostCuts {
  std::vector<Node> first;
  std::vector<HubPiece> pieces;
  CutSizes sizes;
};
[[nodiscard]] HostCuts cut(const Csr& graph, const CutSizes& sizes);
[[nodiscard]] HostCuts default_cuts(const Csr& graph);
/// The default cuts of the graph with every edge reversed.
[[nodiscard]] HostCuts default_incoming_cuts(const Csr& graph);
/// The number of pieces of each hub.
[[nodiscard]] std::vector<std::uint32_t> pieces_of_hubs(const HostCuts& cuts);

/// The cuts in an engine's memory.
class CutsMemory {
 public:
  /// `chunk`: nodes per group and step. If the user sets it, there are no blocks.
  template <class Engine>
  CutsMemory(Engine& engine, const HostCuts& cuts, Node num_nodes, std::uint64_t chunk)
      : first_(engine.upload(cuts.first)),
        pieces_(engine.upload(cuts.pieces)),
        blocks_(chunk == even_chunk || chunk == 0),
        most_edges_(cuts.pieces.empty() ? std::numeric_limits<std::uint32_t>::max()
                                        : cuts.sizes.hub),
        num_nodes_(num_nodes) {}

  [[nodiscard]] Cuts view() const {
    const bool cut = blocks_ && first_.size() > 0;
    return {.first = cut ? first_.data() : nullptr,
            .pieces = pieces_.data(),
            .num_blocks = static_cast<std::uint32_t>(cut ? first_.size() - 1 : 0),
            .num_pieces = static_cast<std::uint32_t>(pieces_.size()),
            .most_edges = most_edges_,
            .num_nodes = num_nodes_,
            .uneven = first_.size() > 0};
  }

 private:
  Buffer<Node> first_;
  Buffer<HubPiece> pieces_;
  bool blocks_;
  std::uint32_t most_edges_;
  Node num_nodes_;
};

}  // namespace cohort::apps
