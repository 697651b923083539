// Worklists of nodes: filled in one step, read in the next. Each group of one thread fills a slot
// of its own, and the slots are read in order, so nodes found together stay together. Nodes that
// overflow a slot, and all nodes of larger groups, go to a shared spill.
// Invariant: a list is cleared, filled and read in different steps. The barriers between them order
// all accesses except those to the counts, which are relaxed atomics.
#pragma once

#include <string>

#include "apps/share.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// The number of nodes in a slot. It has a cache line of its own, because its group writes it while
/// other groups write theirs.
struct alignas(64) Count {
  std::uint32_t nodes = 0;
  std::uint64_t edges = 0;  ///< edges of those nodes, if the kernel counts them
};

/// Entry for a place that was claimed but not needed.
inline constexpr Node empty_place = ~Node{0};

/// Which nodes of a list a group visits, and which part of their edges.
struct Part {
  std::uint32_t stride;  ///< distance from one visited node to the next
  std::uint32_t index;   ///< which part of each node's edges
  std::uint32_t count;   ///< number of parts
};
/// Stands for all nodes and all their edges. A constant, so that it takes no registers in kernels
/// that never share a node's edges.
struct Whole {
  static constexpr std::uint32_t stride = 1;
  static constexpr std::uint32_t index = 0;
  static constexpr std::uint32_t count = 1;
};

/// Work per node, for portion(), if some nodes have very many edges.
inline constexpr std::uint32_t work_of_hubs = 16;

struct Worklist {
  static constexpr std::uint32_t short_block = 64;  ///< block size for each group in a short list

  Node* slots;              ///< num_slots times `room` entries; only groups of one thread use them
  Node* spill;              ///< room for every node
  Count* counts;            ///< counts of the slots, then of the spill
  std::uint32_t num_slots;  ///< 0, or the maximum number of groups
  std::uint32_t room;

  /// For a checkpoint: the memory of a list for `nodes` nodes. `name` distinguishes it from other
  /// lists.
  template <class Visit>
  void buffers(Visit& visit, const std::string& name, std::size_t nodes) const {
    visit(("slots " + name).c_str(), slots, std::size_t{num_slots} * room);
    visit(("spill " + name).c_str(), spill, nodes);
    visit(("counts " + name).c_str(), counts, std::size_t{num_slots} + 1);
  }

  /// Nodes and edges in total. Issues both loads of a count before it waits for either.
  template <class Group>
  [[nodiscard]] COHORT_FN Count total(const Group& group) const {
    Count sum;
    for (std::uint32_t i = 0; i <= num_slots; ++i) {
      const std::uint32_t nodes = group.atomic(counts[i].nodes).load();
      const std::uint64_t edges = group.atomic(counts[i].edges).load();
      sum.nodes += nodes;
      sum.edges += edges;
    }
    return sum;
  }
  /// Number of nodes in the slots from `from` on, and in the spill.
  template <class Group>
  [[nodiscard]] COHORT_FN std::size_t size(const Group& group, std::uint32_t from = 0) const {
    std::size_t sum = 0;
    for (std::uint32_t i = from; i <= num_slots; ++i) sum += group.atomic(counts[i].nodes).load();
    return sum;
  }

  /// Prefetches this group's part of a short list while its length is being loaded: on a GPU each
  /// load is a round trip. The list has room for `nodes`.
  template <class Group>
  COHORT_FN void ahead(const Group& group, std::size_t nodes) const {
    const std::size_t at = std::size_t{group.group_id()} * short_block + group.local_id();
    const bool mine = num_slots == 0 && group.local_id() < short_block && at < nodes;
    if (!group.alone() && mine) prefetch(spill + at);
  }

  /// Whether threads may, and should, claim places of an empty list before they know what they
  /// find. They may, if `size` nodes with `few` edges each fit into the room for `nodes`. They
  /// should, if there are so few nodes that only latency matters.
  template <class Group>
  [[nodiscard]] COHORT_FN static bool claims_early(const Group& group, std::size_t size,
                                                   std::uint32_t few, std::size_t nodes) {
    const std::size_t short_list = std::size_t{group.num_groups()} * short_block;
    return !group.alone() && size <= short_list && size * few <= nodes;
  }

  /// Called by one thread, while no group fills or reads this list.
  template <class Group>
  COHORT_FN void clear(const Group& group) const {
    for (std::uint32_t i = 0; i <= num_slots; ++i) {
      group.atomic(counts[i].nodes).store(0);
      group.atomic(counts[i].edges).store(0);
    }
  }

  /// Pushes a node, by any thread of any group; a group of one thread fills its slot first.
  template <class Group>
  COHORT_FN void push(const Group& group, Node node) const {
    if (!group.alone() || num_slots == 0) {
      group.view(spill)[group.claim(counts[num_slots].nodes)] = node;
      return;
    }
    const auto count = group.atomic(counts[group.group_id()].nodes);
    const auto slot = group.view(slots + std::size_t{group.group_id()} * room);
    std::uint32_t size = count.load();
    if (size == room) {
      const auto to = group.view(spill + group.atomic(counts[num_slots].nodes).fetch_add(room));
      for (std::uint32_t i = 0; i < room; ++i) to[i] = slot[i];
      size = 0;
    }
    slot[size] = node;
    count.store(size + 1);
  }

  /// Calls `visit(nodes, count)` for the pieces that make up the positions [begin, end).
  template <class Group, class Visit>
  COHORT_FN void for_range(const Group& group, std::size_t begin, std::size_t end,
                           Visit visit) const {
    std::size_t at = 0;
    const std::uint32_t full = group.alone() ? num_slots : 0;
    for (std::uint32_t i = 0; i < full && at < end; ++i) {
      const std::size_t count = group.atomic(counts[i].nodes).load();
      const std::size_t first = most(begin, at);
      const std::size_t last = least(end, at + count);
      if (first < last) visit(slots + std::size_t{i} * room + (first - at), last - first);
      at += count;
    }
    const std::size_t first = most(begin, at);
    if (first < end) visit(spill + (first - at), end - first);
  }

  /// Calls `visit` for this group's part of the positions [begin, end). A short list is cut into
  /// one stretch per group, which keeps neighbours together. A long list is dealt out in blocks,
  /// which evens out the degrees.
  template <class Group, class Visit>
  COHORT_FN void for_part(const Group& group, std::size_t begin, std::size_t end,
                          Visit visit) const {
    const std::size_t groups = group.num_groups();
    const std::size_t count = end - begin;
    if (group.alone() && num_slots != 0 && count <= groups * room) {
      const std::size_t id = group.group_id();
      for_range(group, begin + count * id / groups, begin + count * (id + 1) / groups, visit);
      return;
    }
    // A short list is spread out, so that each thread has an edge or two. In a long list, each
    // thread gets a node.
    const std::size_t even = (count + groups - 1) / groups;
    const std::size_t block = most(short_block, least(group.local_size(), even));
    for (std::size_t i = begin + group.group_id() * block; i < end; i += groups * block)
      for_range(group, i, least(i + block, end), visit);
  }

  /// Like for_part(), for graphs in which a node may have very many edges. Groups of many threads
  /// take nodes round robin, because hubs are found together. With fewer nodes than groups, several
  /// groups share the edges of a node. Calls `visit(nodes, count, part)`.
  template <class Group, class Visit>
  COHORT_FN void for_edges(const Group& group, std::size_t begin, std::size_t end,
                           Visit visit) const {
    if (group.alone()) {
      for_part(group, begin, end, visit);
      return;
    }
    const std::uint32_t groups = group.num_groups();
    const std::size_t nodes = end - begin;
    const auto sharing = static_cast<std::uint32_t>(nodes < groups ? groups / most(nodes, 1) : 1);
    const Part part{.stride = groups, .index = group.group_id() % sharing, .count = sharing};
    const std::size_t dealt = std::size_t{groups} * group.local_size();  // one node per thread
    for (std::size_t i = begin; i < end; i += dealt) {
      const std::size_t first = i + group.group_id() / sharing;
      const std::size_t last = least(i + dealt, end);
      if (first < last) visit(spill + first, (last - first + groups - 1) / groups, part);
    }
  }
};

/// Writes a group's nodes into a worklist during one step. Threads of a larger group claim places
/// in the spill; a group of one thread pushes into its slot without contention.
template <class Group>
class Sink {
 public:
  COHORT_FN Sink(const Group& group, const Worklist& into)
      : group_(group), into_(into), nodes_(group.view(static_cast<Node*>(nullptr))) {
    // No pointer into this object escapes, so a device keeps it in registers.
    if (!group.alone()) return;
    if (into.num_slots == 0) {
      room_ = batch_room;
      nodes_ = group.view(batch_);
      return;
    }
    slot_ = true;
    room_ = into.room;
    nodes_ = group.view(into.slots + std::size_t{group.group_id()} * into.room);
    size_ = group.atomic(mine().nodes).load();  // nodes from earlier portions of the same phase
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  COHORT_FN void push(Node node) {
    any_ = true;
    if (!group_.alone()) {
      group_.view(into_.spill)[group_.claim(spilt())] = node;
      return;
    }
    if (size_ == room_) flush();
    nodes_[size_++] = node;
  }

  /// For threads of larger groups, if Worklist::claims_early(): claims a place for a node that may
  /// be found. The thread must then store its node, or `empty_place`, there.
  [[nodiscard]] COHORT_FN std::uint32_t claim() const { return group_.claim(spilt()); }
  COHORT_FN void put(std::uint32_t place, Node found) {
    any_ = any_ || found != empty_place;
    group_.view(into_.spill)[place] = found;
  }

  /// Whether this thread has pushed a node.
  [[nodiscard]] COHORT_FN bool any() const { return any_; }

  /// All threads call it at the end.
  COHORT_FN void close() {
    if (slot_) {
      group_.atomic(mine().nodes).store(size_);
    } else if (group_.alone()) {
      flush();
    }
  }
  /// Like close(), for kernels that count edges. `edges`: this thread's share of the pushed nodes'
  /// edges.
  COHORT_FN void close(std::uint64_t edges) {
    close();
    if (!group_.alone())
      edges = group_.reduce(edges, [](std::uint64_t a, std::uint64_t b) { return a + b; });
    if (group_.local_id() == 0 && edges != 0)
      group_.atomic(into_.counts[slot_ ? group_.group_id() : into_.num_slots].edges)
          .fetch_add(edges);
  }

 private:
  static constexpr std::uint32_t batch_room = 64;

  COHORT_FN Count& mine() const { return into_.counts[group_.group_id()]; }
  COHORT_FN std::uint32_t& spilt() const { return into_.counts[into_.num_slots].nodes; }

  COHORT_FN void flush() {
    if (size_ == 0) return;
    const auto to = group_.view(into_.spill + group_.atomic(spilt()).fetch_add(size_));
    for (std::uint32_t i = 0; i < size_; ++i) to[i] = nodes_[i];
    size_ = 0;
  }

  using Nodes = decltype(std::declval<const Group&>().view(static_cast<Node*>(nullptr)));

  Group group_;  // a copy, which a device keeps in registers
  const Worklist& into_;
  Node batch_[batch_room];
  Nodes nodes_;
  std::uint32_t size_ = 0;
  std::uint32_t room_ = 0;
  bool any_ = false;
  bool slot_ = false;
};

/// Local memory for a chunk of nodes whose edges are shared by the group's threads.
struct ChunkOfNodes {
  static constexpr std::uint32_t room = 1024;  // maximum number of threads in a group
  std::uint64_t first_edge[room];
  std::uint32_t before[room];  // total number of edges of the preceding nodes of the chunk
  std::uint32_t value[room];
  std::uint32_t edges;
};

/// Returned by `value` for a node whose edges the kernel skips.
inline constexpr std::uint32_t skipped = ~0U;

COHORT_FN inline void graph_ahead(const CsrView& graph, std::uint64_t edge) {
  prefetch(graph.targets() + edge);
  if (graph.weights() != nullptr) prefetch(graph.weights() + edge);
}

/// Visits a part of the edges of each of `count` nodes, and pushes the targets that `visit(value,
/// edge, target)` accepts. `value(node)` is called once per node; `ahead(target)` prefetches what
/// `visit` will read. Captures by value stay in registers; captures by reference are loaded again
/// after each atomic access.
/// Works in chunks of one node per thread: degrees are summed in local memory, and each thread
/// takes one edge at a time (the paper's bfs and l-sssp, after LonestarGPU). Groups of one thread
/// visit all edges: for_edges() gives them no parts. Called by all threads of the group.
template <class Group, class Into, class Value, class Ahead, class Visit, class Some = Whole>
COHORT_FN void expand(const Group& group, const CsrView& graph, ChunkOfNodes& chunk,
                      const Node* nodes, std::size_t count, Into& into, Value value, Ahead ahead,
                      Visit visit, Some part = {}) {
  const auto list = group.view(nodes);
  if (group.alone()) {
    constexpr std::size_t far = 8;
    constexpr std::size_t near = 4;
    constexpr std::uint64_t later = 12;  // how many edges of the same node to look ahead
    const CsrView edges = graph;  // a copy, or it would be loaded again after each atomic access
    for (std::size_t i = 0; i < count; ++i) {
      if (i + far < count) prefetch(edges.offsets() + list[i + far]);
      if (i + near < count) graph_ahead(edges, edges.first_edge(list[i + near]));
      const Node node = list[i];
      const std::uint32_t its = value(node);
      if (its == skipped) continue;
      const std::uint64_t end = edges.first_edge(node + 1);
      for (std::uint64_t edge = edges.first_edge(node); edge < end; ++edge) {
        if (edge + later < end) ahead(edges.target(edge + later));
        const Node target = edges.target(edge);
        if (visit(its, edge, target)) into.push(target);
      }
    }
    return;
  }

  const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  const std::uint32_t me = group.local_id();
  for (std::size_t first = 0; first < count; first += group.local_size()) {
    const auto here = static_cast<std::uint32_t>(least(count - first, group.local_size()));
    const Node node = me < here ? list[(first + me) * part.stride] : empty_place;
    std::uint32_t its = skipped;
    std::uint64_t first_edge = 0;
    std::uint32_t degree = 0;
    if (node != empty_place) {
      its = value(node);
      first_edge = graph.first_edge(node);
      if (its != skipped) degree = static_cast<std::uint32_t>(graph.degree(node));
      if (part.count > 1) {
        const std::uint64_t begin = std::uint64_t{degree} * part.index / part.count;
        const std::uint64_t end = std::uint64_t{degree} * (part.index + 1) / part.count;
        first_edge += begin;
        degree = static_cast<std::uint32_t>(end - begin);
      }
    }
    // All threads meet in the scan, so no thread still reads the previous chunk.
    const std::uint32_t before = group.exclusive_scan(degree, std::uint32_t{0}, plus);
    chunk.value[me] = its;
    chunk.first_edge[me] = first_edge;
    chunk.before[me] = before;
    if (me + 1 == group.local_size()) chunk.edges = before + degree;
    group.barrier();
    const std::uint32_t edges = chunk.edges;
    for (std::uint32_t mine = me; mine < edges; mine += group.local_size()) {
      std::uint32_t owner = 0;  // the last node with `before <= mine`
      for (std::uint32_t step = 512; step > 0; step /= 2) {
        if (owner + step < here && chunk.before[owner + step] <= mine) owner += step;
      }
      const std::uint64_t edge = chunk.first_edge[owner] + (mine - chunk.before[owner]);
      const Node target = graph.target(edge);
      if (visit(chunk.value[owner], edge, target)) into.push(target);
    }
  }
}

/// Visits the edges of nodes with few edges: four threads, or the only one, take a node, without
/// any synchronisation. `where(entry)` returns the edges of a list's entry, with begin() and end(),
/// and is passed to `visit(where, edge, target)`.
template <class Group, class Where, class Visit>
COHORT_FN void expand_few(const Group& group, const CsrView& graph, const Node* nodes,
                          std::size_t count, Where where, Visit visit) {
  const std::uint32_t width = group.alone() ? 1 : 4;
  const auto list = group.view(nodes);
  for (const std::size_t i : group.local_stride(count * width)) {
    const Node entry = list[i / width];
    if (entry == empty_place) continue;
    const auto its = where(entry);
    COHORT_APPS_ROLLED
    for (std::uint64_t edge = its.begin() + i % width; edge < its.end(); edge += width)
      visit(its, edge, graph.target(edge));
  }
}

}  // namespace cohort::apps
