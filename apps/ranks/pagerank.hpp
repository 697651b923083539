// PageRank on several ranks: each node pushes its rank along its edges. What goes to a node of
// another rank is first added up, so that the node gets one message per rank and iteration.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "apps/ranks/rows.hpp"
#include "cohort/shards.hpp"

namespace cohort::apps {

struct RankedPages {
  static constexpr double damping = 0.85;
  enum class Phase : std::uint32_t { receive, turn, push, send };

  struct Message {
    Node node;
    float unused = 0;  // explicit, so that the struct has no padding
    double share;
  };
  struct Part : Rows {
    std::vector<double> values;
    std::vector<double> sums;  // sum of the shares received in this iteration

    template <class Visit>
    void fields(Visit& visit) {
      Rows::fields(visit);
      visit(values);
      visit(sums);
    }
  };
  struct State {
    Phase phase = Phase::receive;
    std::uint32_t iteration = 0;
  };

  NodeShards shards;
  double* away;  // shared by the rank's groups: sums for nodes of other ranks
  double tolerance;
  Shards<Part> parts = {};
  Inbox<Message> in = {};
  Outbox<Message> out = {};
  Tally<Message> tally = {};

  template <class Group>
  Next step(Group& group, State& state) const {
    switch (state.phase) {
      case Phase::receive:
        // In the last iteration, no node changed by more than the tolerance on any rank.
        if (state.iteration >= 2 && tally.sum() == 0) return Next::halt;
        in.share(group, [&](const Message& message) { add(group, message.node, message.share); });
        state.phase = state.iteration == 0 ? Phase::push : Phase::turn;
        return Next::again;
      case Phase::turn:
        for_nodes(group, [&](Part& part, Node index) { turn(group, part, index); });
        state.phase = Phase::push;
        return Next::again;
      case Phase::push:
        for_nodes(group, [&](Part& part, Node index) { push(group, part, index); });
        state.phase = Phase::send;
        return Next::again;
      case Phase::send: break;
    }
    for (const std::size_t i : group.stride(shards.nodes())) {
      const auto node = static_cast<Node>(i);
      if (away[node] == 0) continue;
      out.send(group, shards.shard_of(node), {.node = node, .share = std::exchange(away[node], 0)});
    }
    state.phase = Phase::receive;
    ++state.iteration;
    return Next::exchange;
  }

 private:
  template <class Group, class See>
  void for_nodes(Group& group, See see) const {
    for (const std::uint32_t shard : parts.here()) {
      Part& part = parts[shard];
      for (const std::size_t i : group.stride(part.nodes())) see(part, static_cast<Node>(i));
    }
  }

  template <class Group>
  void add(Group& group, Node node, double share) const {
    const std::uint32_t shard = shards.shard_of(node);
    double& sum = parts.here(shard) ? parts[shard].sums[node - parts[shard].first] : away[node];
    group.atomic(sum).fetch_add(share);
  }

  /// Computes a node's new rank. A node without outgoing edges counts its old rank as received.
  template <class Group>
  void turn(Group& group, Part& part, Node index) const {
    const double old = part.values[index];
    const double sum = std::exchange(part.sums[index], 0) + (part.degree(index) == 0 ? old : 0.0);
    part.values[index] = 1 - damping + damping * sum;
    if (std::abs(part.values[index] - old) > tolerance) tally.add(group, 1);
  }

  template <class Group>
  void push(Group& group, Part& part, Node index) const {
    const double share = part.values[index] / static_cast<double>(part.degree(index));
    const std::uint64_t end = part.first_edge(index + 1);
    for (std::uint64_t edge = part.first_edge(index); edge < end; ++edge)
      add(group, part.targets[edge], share);
  }
};

}  // namespace cohort::apps
