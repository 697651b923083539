// A graph in shards: the mapping from nodes to shards, and the edges of each shard's nodes.
// Invariant: a shard has consecutive nodes, and all ranks find the same shard for a node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cohort/protocol/network.hpp"
#include "cohort/protocol/placement.hpp"
#include "cohort/shards.hpp"
#include "graph/build.hpp"
#include "graph/csr.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {

/// Maps nodes to shards, by a multiplication instead of a division.
class NodeShards {
 public:
  NodeShards() = default;
  NodeShards(Node nodes, std::uint32_t shards)
      : shards_(shards),
        scale_((std::uint64_t{shards} << 32U) / std::max(nodes, Node{1})),
        nodes_(nodes) {
    // Each of the first shards gets one node, the others none.
    if (shards > nodes) scale_ = std::uint64_t{1} << 32U;
  }

  [[nodiscard]] Node nodes() const { return nodes_; }
  [[nodiscard]] std::uint32_t shards() const { return shards_; }
  [[nodiscard]] std::uint32_t shard_of(Node node) const {
    return static_cast<std::uint32_t>(node * scale_ >> 32U);
  }
  /// The first node of a shard. For an empty shard, the first node of the next one that is not
  /// empty.
  [[nodiscard]] Node first_of(std::uint32_t shard) const {
    if (shard == shards_) return nodes_;
    const std::uint64_t first = ((std::uint64_t{shard} << 32U) + scale_ - 1) / scale_;
    return static_cast<Node>(std::min<std::uint64_t>(first, nodes_));
  }

 private:
  std::uint32_t shards_ = 1;
  std::uint64_t scale_ = 1;
  Node nodes_ = 0;
};

/// The edges of the nodes of a shard. They are slices of the arrays of the rank that made them.
struct Rows {
  Node first = 0;
  Slice<std::uint64_t> offsets;  // indices in the arrays of that rank
  Slice<Node> targets;
  Slice<Weight> weights;  // if empty, all weights are 1

  [[nodiscard]] Node nodes() const { return static_cast<Node>(offsets.size() - 1); }
  [[nodiscard]] std::uint64_t degree(Node index) const {
    return offsets[index + 1] - offsets[index];
  }
  /// The edges of a node: indices of targets and weights, from here to first_edge(index + 1) - 1.
  [[nodiscard]] std::uint64_t first_edge(Node index) const { return offsets[index] - offsets[0]; }

  template <class Visit>
  void fields(Visit& visit) {
    visit(first);
    visit(offsets);
    visit(targets);
    visit(weights);
  }
};

/// A graph in shards: each rank loads the rows of its own.
class SharedGraph {
 public:
  enum class Wants : std::uint8_t { as_it_is, weights, both_directions };

  /// Several ranks read a file twice: here for its number of nodes, and again in rows(). One rank
  /// loads the whole graph, unless graphs of its kind can be generated in parts. Throws as
  /// load_graph does.
  SharedGraph(std::string spec, Wants wants, std::uint32_t ranks)
      : spec_(std::move(spec)), wants_(wants) {
    // Load the smallest possible part: only its number of nodes is used.
    if (const auto part = load_edges(spec_, 0, std::numeric_limits<std::uint32_t>::max())) {
      nodes_ = static_cast<Node>(part->nodes);
      made_in_parts_ = symmetric_ = true;
      return;
    }
    if (ranks > 1) {
      Selection none{[](Node) { return false; }};
      if (const auto empty = load_rows(spec_, none)) {
        nodes_ = empty->num_nodes();
        symmetric_ = none.symmetric();
        degrees_ = none.degrees();
        return;
      }
    }
    whole_ = load_graph(spec_);
    symmetric_ = is_symmetric(*whole_);
    nodes_ = whole_->num_nodes();
  }

  [[nodiscard]] Node nodes() const { return nodes_; }
  /// Whether every edge exists in both directions.
  [[nodiscard]] bool symmetric() const { return symmetric_; }

  /// The number of nodes and edges of each shard. Empty for graphs generated in parts, whose hubs
  /// are in all shards. Call it before rows().
  [[nodiscard]] std::vector<std::uint64_t> weights(const NodeShards& shards) const {
    if (made_in_parts_) return {};
    std::vector<std::uint64_t> weights(shards.shards());
    for (Node node = 0; node < nodes_; ++node) {
      const std::uint64_t degree = whole_ ? whole_->offsets[node + 1] - whole_->offsets[node]
                                   : node < degrees_.size() ? degrees_[node]
                                                            : 0;
      weights[shards.shard_of(node)] += 1 + degree;
    }
    return weights;
  }

  /// The rows of this rank's shards, in ascending order. Collective; call it once.
  template <protocol::Network N>
  std::vector<Rows> rows(N& network, const NodeShards& shards, const protocol::Owners& owners) {
    RankArrays arrays{network.rank(), shards, owners};
    if (!made_in_parts_) {
      if (!whole_) read_rows_of(network.rank(), shards, owners);
      prepare_whole();
      cut(network.rank(), shards, owners, arrays);
      whole_.reset();
    } else {
      from_edges(traded(network, shards, owners), shards, arrays);
      drop_duplicates(arrays);
      if (wants_ == Wants::weights) give_weights(network.rank(), shards, owners, arrays);
    }
    std::vector<Rows> rows;
    for (std::uint32_t shard = 0; shard < owners.size(); ++shard) {
      if (owners[shard] != network.rank()) continue;
      const std::size_t at = arrays.first[shard];
      const std::size_t nodes = shards.first_of(shard + 1) - shards.first_of(shard);
      const std::uint64_t begin = arrays.offsets[at];
      const std::uint64_t edges = arrays.offsets[at + nodes] - begin;
      rows.push_back({.first = shards.first_of(shard),
                      .offsets = arrays.offsets.part(at, nodes + 1),
                      .targets = arrays.targets.part(begin, edges),
                      .weights = arrays.weights.empty() ? Slice<Weight>{}
                                                        : arrays.weights.part(begin, edges)});
    }
    return rows;
  }

 private:
  /// The rows of all shards of a rank, one after another.
  struct RankArrays {
    RankArrays(std::uint32_t rank, const NodeShards& shards, const protocol::Owners& owners)
        : first(owners.size()) {
      std::size_t nodes = 0;
      for (std::uint32_t shard = 0; shard < owners.size(); ++shard) {
        if (owners[shard] != rank) continue;
        first[shard] = nodes;
        nodes += shards.first_of(shard + 1) - shards.first_of(shard);
      }
      offsets = Slice<std::uint64_t>(nodes + 1, 0);
    }

    std::vector<std::size_t> first;  // index in `offsets` of the first node of each shard here
    Slice<std::uint64_t> offsets;
    Slice<Node> targets;
    Slice<Weight> weights;
  };

  /// Reads the file again, for the rows of this rank.
  void read_rows_of(std::uint32_t rank, const NodeShards& shards, const protocol::Owners& owners) {
    degrees_ = {};
    Selection mine{[&](Node node) { return owners[shards.shard_of(node)] == rank; },
                   wants_ == Wants::both_directions && !symmetric_};
    whole_ = load_rows(spec_, mine);
    if (!whole_ || whole_->num_nodes() != nodes_)
      throw Error{Errc::bad_file, spec_ + ": the file has changed while it was read"};
  }
  void prepare_whole() {
    if (wants_ == Wants::weights) whole_ = with_weights(std::move(*whole_));
    if (wants_ == Wants::both_directions && !symmetric_) whole_ = symmetrise(*whole_);
  }

  /// Sends both directions of all edges to the ranks that own their first nodes.
  template <protocol::Network N>
  std::vector<protocol::Bytes> traded(N& network, const NodeShards& shards,
                                      const protocol::Owners& owners) {
    auto edges = load_edges(spec_, network.rank(), network.ranks())->edges;
    std::vector<protocol::Bytes> parcels(network.ranks());
    for (auto& each : parcels) each.reserve(edges.size() * 2 * sizeof(Edge) / parcels.size());
    for (const auto& [from, to] : edges) {
      if (from == to) continue;
      for (const Edge& edge : {Edge{from, to}, Edge{to, from}})
        protocol::ParcelWriter{parcels[owners[shards.shard_of(edge.from)]]}.value(edge);
    }
    edges = {};
    std::vector<protocol::Bytes> arrived;
    network.exchange(std::move(parcels), [&](std::uint32_t /*from*/, protocol::Bytes parcel) {
      arrived.push_back(std::move(parcel));
    });
    return arrived;
  }

  static void from_edges(const std::vector<protocol::Bytes>& parcels, const NodeShards& shards,
                         RankArrays& arrays) {
    // What to add to a node for its index in `offsets`, modulo 2^64, by shard.
    std::vector<std::size_t> to_index(arrays.first.size());
    for (std::uint32_t shard = 0; shard < to_index.size(); ++shard)
      to_index[shard] = arrays.first[shard] - shards.first_of(shard);
    const auto for_edges = [&](const auto& see) {
      for (const protocol::Bytes& parcel : parcels) {
        for (std::size_t at = 0; at < parcel.size(); at += sizeof(Edge)) {
          Edge edge;
          std::memcpy(&edge, parcel.data() + at, sizeof edge);
          see(to_index[shards.shard_of(edge.from)] + edge.from, edge);
        }
      }
    };
    const Slice<std::uint64_t>& offsets = arrays.offsets;
    for_edges([&](std::size_t index, const Edge&) { ++offsets[index + 1]; });
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    arrays.targets = Slice<Node>(offsets[offsets.size() - 1]);
    std::vector<std::uint64_t> next{offsets.begin(), offsets.end()};
    for_edges(
        [&](std::size_t index, const Edge& edge) { arrays.targets[next[index]++] = edge.to; });
  }

  /// Sorts the targets of each node and drops duplicates, as symmetrise() does.
  static void drop_duplicates(RankArrays& arrays) {
    Node* out = arrays.targets.begin();
    std::uint64_t begin = 0;
    for (std::size_t index = 0; index + 1 < arrays.offsets.size(); ++index) {
      Node* const first = arrays.targets.begin() + begin;
      Node* const last = arrays.targets.begin() + arrays.offsets[index + 1];
      begin = arrays.offsets[index + 1];
      std::sort(first, last);
      Node* const end = std::unique(first, last);
      out = out == first ? end : std::copy(first, end, out);
      arrays.offsets[index + 1] = static_cast<std::uint64_t>(out - arrays.targets.begin());
    }
  }

  /// Calls `see(first node, end, first index)` for each shard of a rank.
  template <class See>
  static void for_shards(std::uint32_t rank, const NodeShards& shards,
                         const protocol::Owners& owners, const RankArrays& arrays, See see) {
    for (std::uint32_t shard = 0; shard < owners.size(); ++shard) {
      if (owners[shard] == rank)
        see(shards.first_of(shard), shards.first_of(shard + 1), arrays.first[shard]);
    }
  }

  static void give_weights(std::uint32_t rank, const NodeShards& shards,
                           const protocol::Owners& owners, RankArrays& arrays) {
    const Slice<std::uint64_t>& offsets = arrays.offsets;
    arrays.weights = Slice<Weight>(offsets[offsets.size() - 1]);
    for_shards(rank, shards, owners, arrays, [&](Node node, Node end, std::size_t index) {
      for (; node < end; ++node, ++index) {
        for (std::uint64_t edge = offsets[index]; edge < offsets[index + 1]; ++edge)
          arrays.weights[edge] = given_weight(node, arrays.targets[edge], shards.nodes());
      }
    });
  }

  /// Cuts a rank's rows out of the whole graph.
  void cut(std::uint32_t rank, const NodeShards& shards, const protocol::Owners& owners,
           RankArrays& arrays) const {
    std::uint64_t edges = 0;
    for_shards(rank, shards, owners, arrays, [&](Node node, Node end, std::size_t /*index*/) {
      edges += whole_->offsets[end] - whole_->offsets[node];
    });
    const bool weights = wants_ == Wants::weights && !whole_->weights.empty();
    arrays.targets = Slice<Node>(edges);
    if (weights) arrays.weights = Slice<Weight>(edges);
    edges = 0;
    for_shards(rank, shards, owners, arrays, [&](Node node, Node end, std::size_t index) {
      const std::uint64_t first = whole_->offsets[node];
      const std::uint64_t count = whole_->offsets[end] - first;
      std::copy_n(whole_->targets.data() + first, count, arrays.targets.data() + edges);
      if (weights)
        std::copy_n(whole_->weights.data() + first, count, arrays.weights.data() + edges);
      for (; node < end; ++node)
        arrays.offsets[++index] = edges + (whole_->offsets[node + 1] - first);
      edges += count;
    });
  }

  std::string spec_;
  Wants wants_;
  Node nodes_ = 0;
  bool made_in_parts_ = false;
  bool symmetric_ = false;
  std::vector<std::uint32_t> degrees_;  // degrees of the nodes of a file
  std::optional<Csr> whole_;            // the whole graph, or only this rank's rows of it
};

/// One value for each node of a rank's rows, in one array.
template <class T>
std::vector<Slice<T>> value_per_node(const std::vector<Rows>& rows, const T& value) {
  std::size_t nodes = 0;
  for (const Rows& its : rows) nodes += its.nodes();
  const Slice<T> all(nodes, value);
  std::vector<Slice<T>> values;
  for (std::size_t at = 0; const Rows& its : rows) {
    values.push_back(all.part(at, its.nodes()));
    at += its.nodes();
  }
  return values;
}

/// The node of highest degree; the first one if there are several. Collective.
template <protocol::Network N>
Node hub(N& network, const std::vector<Rows>& rows) {
  protocol::Ballot mine;
  for (const Rows& its : rows) {
    for (Node index = 0; index < its.nodes(); ++index) {
      const std::uint64_t missing =
          0xFFFF'FFFFU - std::min<std::uint64_t>(its.degree(index), 0xFFFF'FFFFU);
      mine.least = std::min(mine.least, missing << 32U | (its.first + index));
    }
  }
  return static_cast<Node>(network.vote(mine).least & 0xFFFF'FFFFU);
}

}  // namespace cohort::apps
