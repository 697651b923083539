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

/// The edges of the nodes of a shard.
struct Rows {
  Node first = 0;
  std::vector<std::uint64_t> offsets{0};
  std::vector<Node> targets;
  std::vector<Weight> weights;  // if empty, all weights are 1

  [[nodiscard]] Node nodes() const { return static_cast<Node>(offsets.size() - 1); }
  [[nodiscard]] std::uint64_t degree(Node index) const {
    return offsets[index + 1] - offsets[index];
  }

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

  /// Loads the whole graph, unless graphs of its kind can be generated in parts. Throws as
  /// load_graph does.
  SharedGraph(std::string spec, Wants wants) : spec_(std::move(spec)), wants_(wants) {
    // Load the smallest possible part: only its number of nodes is used.
    if (const auto part = load_edges(spec_, 0, std::numeric_limits<std::uint32_t>::max())) {
      nodes_ = static_cast<Node>(part->nodes);
      return;
    }
    whole_ = load_graph(spec_);
    if (wants == Wants::weights) whole_ = with_weights(std::move(*whole_));
    if (wants == Wants::both_directions && !is_symmetric(*whole_)) whole_ = symmetrise(*whole_);
    nodes_ = whole_->num_nodes();
  }

  [[nodiscard]] Node nodes() const { return nodes_; }
  /// Whether every edge exists in both directions. Call it before rows().
  [[nodiscard]] bool symmetric() const { return !whole_ || is_symmetric(*whole_); }

  /// The rows of this rank's shards, in ascending order. Collective; call it once.
  template <protocol::Network N>
  std::vector<Rows> rows(N& network, const NodeShards& shards, const protocol::Owners& owners) {
    std::vector<Rows> rows;
    std::vector<std::uint32_t> place(owners.size());  // index of each shard in `rows`
    for (std::uint32_t shard = 0; shard < owners.size(); ++shard) {
      if (owners[shard] != network.rank()) continue;
      place[shard] = static_cast<std::uint32_t>(rows.size());
      rows.emplace_back().first = shards.first_of(shard);
      rows.back().offsets.assign(shards.first_of(shard + 1) - rows.back().first + std::size_t{1},
                                 0);
    }
    if (whole_) {
      for (Rows& its : rows) cut(its);
      whole_.reset();
    } else {
      from_edges(traded(network, shards, owners), shards, place, rows);
    }
    return rows;
  }

 private:
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

  void from_edges(std::vector<protocol::Bytes> parcels, const NodeShards& shards,
                  const std::vector<std::uint32_t>& place, std::vector<Rows>& rows) const {
    const auto for_edges = [&](const auto& see) {
      for (const protocol::Bytes& parcel : parcels) {
        for (std::size_t at = 0; at < parcel.size(); at += sizeof(Edge)) {
          Edge edge;
          std::memcpy(&edge, parcel.data() + at, sizeof edge);
          Rows& its = rows[place[shards.shard_of(edge.from)]];
          see(its, edge.from - its.first, edge.to);
        }
      }
    };
    for_edges([](Rows& its, Node index, Node /*to*/) { ++its.offsets[index + std::size_t{1}]; });
    for (Rows& its : rows) {
      for (std::size_t i = 1; i < its.offsets.size(); ++i) its.offsets[i] += its.offsets[i - 1];
      its.targets.resize(its.offsets.back());
    }
    std::vector<std::vector<std::uint64_t>> next;
    for (const Rows& its : rows) next.push_back(its.offsets);
    for_edges([&](Rows& its, Node index, Node to) {
      its.targets[next[static_cast<std::size_t>(&its - rows.data())][index]++] = to;
    });
    parcels.clear();
    for (Rows& its : rows) sort(its, shards.nodes());
  }

  /// Sorts the targets of each node and drops duplicates, as symmetrise() does.
  void sort(Rows& its, Node nodes) const {
    auto out = its.targets.begin();
    std::uint64_t begin = 0;
    for (Node index = 0; index < its.nodes(); ++index) {
      const auto first = its.targets.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = its.targets.begin() + static_cast<std::ptrdiff_t>(its.offsets[index + 1]);
      begin = its.offsets[index + 1];
      std::sort(first, last);
      out = std::unique_copy(first, last, out);
      its.offsets[index + 1] = static_cast<std::uint64_t>(out - its.targets.begin());
    }
    its.targets.erase(out, its.targets.end());
    if (wants_ != Wants::weights) return;
    its.weights.reserve(its.targets.size());
    for (Node index = 0; index < its.nodes(); ++index) {
      for (std::uint64_t edge = its.offsets[index]; edge < its.offsets[index + 1]; ++edge)
        its.weights.push_back(given_weight(its.first + index, its.targets[edge], nodes));
    }
  }

  /// Cuts a shard's rows out of the whole graph.
  void cut(Rows& its) const {
    const std::uint64_t begin = whole_->offsets[its.first];
    const std::uint64_t end = whole_->offsets[its.first + its.nodes()];
    for (std::size_t i = 0; i < its.offsets.size(); ++i)
      its.offsets[i] = whole_->offsets[its.first + i] - begin;
    const auto part = [&](const auto& all) {
      return std::vector(all.begin() + static_cast<std::ptrdiff_t>(begin),
                         all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    its.targets = part(whole_->targets);
    if (wants_ == Wants::weights && !whole_->weights.empty()) its.weights = part(whole_->weights);
  }

  std::string spec_;
  Wants wants_;
  Node nodes_ = 0;
  std::optional<Csr> whole_;
};

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
