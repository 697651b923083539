// Shortest paths and connected components on several ranks. Both are the same kernel with different
// rules: the value of a node only falls. Nodes are opened bucket by bucket (delta-stepping, Meyer
// and Sanders 2003). Within a bucket, a rank continues without waiting for the others.
// Invariant: a node whose value has fallen since it was last opened is in a list, and its flag is
// set.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "apps/distance.hpp"
#include "apps/ranks/rows.hpp"
#include "cohort/shards.hpp"

namespace cohort::apps {

struct PathRule {
  using Value = Distance;
  static Value next(Value value, Weight weight) { return value + weight; }
};
/// For connected components: a node's value is the least node of its component, and there is only
/// one bucket.
struct LabelRule {
  using Value = Node;
  static Value next(Value value, Weight /*weight*/) { return value; }
};

template <class Rule>
struct Relax {
  using Value = typename Rule::Value;
  static constexpr Value none = std::numeric_limits<Value>::max();
  enum Flag : std::uint32_t { at_rest, near, far };

  struct Message {
    Node node;
    Value value;
  };
  struct Part : Rows {
    std::vector<Value> values;
    std::vector<std::uint32_t> flags;

    template <class Visit>
    void fields(Visit& visit) {
      Rows::fields(visit);
      visit(values);
      visit(flags);
    }
  };
  /// Shared by the groups of a rank: the lists of each thread, and the least value sent to each
  /// node of another rank.
  struct Lists {
    Lists(std::size_t threads, Node nodes) : sent(nodes, none) {
      for (auto* const lists : {nears, fars}) {
        for (int i = 0; i < 3; ++i) lists[i].resize(threads);
      }
    }
    using List = std::vector<std::vector<Node>>;
    List nears[3];  // by round modulo 3: one is read, the next filled, the last cleared
    List fars[3];   // by superstep modulo 3, used like `nears`
    std::vector<Value> sent;
  };
  struct State {
    std::uint32_t round = 0;
    std::uint32_t superstep = 0;
    bool open = false;  // set in the first step of a superstep
    Value limit = 0;    // end of the current bucket
  };

  NodeShards shards;
  Lists* lists;
  Value delta;
  Shards<Part> parts = {};
  Inbox<Message> in = {};
  Outbox<Message> out = {};
  Tally<Message> tally = {};

  /// Called in each group at the start of a superstep.
  static void begin(State& state) {
    ++state.superstep;
    state.open = true;
  }

  /// Called before a superstep for each shard that has just arrived: lists its nodes.
  void adopt(const State& state, Part& part) const {
    for (Node index = 0; index < part.nodes(); ++index) {
      if (part.flags[index] == at_rest) continue;
      part.flags[index] = far;
      lists->fars[(state.superstep + 1) % 3][0].push_back(part.first + index);
    }
  }

  /// Keeps one message per node and superstep: the last, which has the least value.
  void combine(std::vector<Message>& messages) const {
    std::erase_if(messages,
                  [this](const Message& each) { return each.value != lists->sent[each.node]; });
  }

  template <class Group>
  Next step(Group& group, State& state) const {
    const auto& reads =
        state.open ? lists->fars[state.superstep % 3] : lists->nears[state.round % 3];
    bool again = false;
    if (state.open) {
      // The least value that any rank still has to open, or that is in a message.
      const std::uint64_t least = tally.least();
      if (least != std::numeric_limits<std::uint64_t>::max() || state.superstep == 1) {
        const std::uint64_t bucket = state.superstep == 1 ? 0 : least / delta;
        state.limit = bucket >= none / delta ? none : static_cast<Value>((bucket + 1) * delta);
      }
      clear(group, lists->fars[(state.superstep + 2) % 3]);
      in.share(group, [&](const Message& message) {
        again |=
            reach(group, state, parts[shards.shard_of(message.node)], message.node, message.value);
      });
    }
    clear(group, lists->nears[(state.round + 2) % 3]);
    for_nodes(group, reads, [&](Node node) {
      const std::uint32_t shard = shards.shard_of(node);
      if (!parts.here(shard)) return;  // the shard has moved away
      again |= state.open ? open(group, state, parts[shard], node)
                          : relax(group, state, parts[shard], node);
    });
    state.open = false;
    ++state.round;
    return again ? Next::again : Next::halt;
  }

 private:
  template <class Group>
  static void clear(Group& group, typename Lists::List& list) {
    for (const std::size_t i : group.stride(list.size())) list[i].clear();
  }

  /// Calls `see(node)` for this thread's share of the lists of all threads.
  template <class Group, class See>
  static void for_nodes(Group& group, const typename Lists::List& list, See see) {
    std::size_t size = 0;
    for (const auto& part : list) size += part.size();
    const std::size_t begin = size * group.global_id() / group.global_size();
    const std::size_t end = size * (group.global_id() + 1) / group.global_size();
    std::size_t at = 0;
    for (const auto& part : list) {
      const std::size_t from = std::max(begin, at);
      const std::size_t to = std::min(end, at + part.size());
      for (std::size_t i = from; i < to; ++i) see(part[i - at]);
      at += part.size();
    }
  }

  /// Handles a node that was put off: opens it, or puts it off again.
  template <class Group>
  bool open(Group& group, const State& state, Part& part, Node node) const {
    const Node index = node - part.first;
    if (group.atomic(part.flags[index]).load() != far) return false;  // the node was listed twice
    const Value value = group.atomic(part.values[index]).load();
    if (value < state.limit) return relax(group, state, part, node);
    put_off(group, state, node, value);
    return false;
  }

  template <class Group>
  void put_off(Group& group, const State& state, Node node, Value value) const {
    lists->fars[(state.superstep + 1) % 3][group.global_id()].push_back(node);
    tally.lower(group, value);
  }

  /// Returns whether there is more to do in this superstep.
  template <class Group>
  bool relax(Group& group, const State& state, Part& part, Node node) const {
    const Node index = node - part.first;
    // Pairs with reach(). A value that fell before the flag was set is visible below; one that
    // falls afterwards sets the flag again.
    if (group.atomic(part.flags[index]).exchange(at_rest, Order::acq_rel) == at_rest) return false;
    const Value value = group.atomic(part.values[index]).load();
    bool again = false;
    const std::uint64_t end = part.first_edge(index + 1);
    for (std::uint64_t edge = part.first_edge(index); edge < end; ++edge) {
      const Node to = part.targets[edge];
      const Value next = Rule::next(value, part.weights.empty() ? 1 : part.weights[edge]);
      const std::uint32_t shard = shards.shard_of(to);
      if (parts.here(shard)) {
        again |= reach(group, state, parts[shard], to, next);
      } else if (group.atomic(lists->sent[to]).fetch_min(next) > next) {
        out.send(group, shard, {to, next});
        tally.lower(group, next);
      }
    }
    return again;
  }

  template <class Group>
  bool reach(Group& group, const State& state, Part& part, Node node, Value value) const {
    const Node index = node - part.first;
    if (group.atomic(part.values[index]).fetch_min(value) <= value) return false;
    auto flag = group.atomic(part.flags[index]);
    if (value < state.limit) {
      if (flag.exchange(near, Order::acq_rel) == near) return false;  // release: pairs with relax()
      lists->nears[(state.round + 1) % 3][group.global_id()].push_back(node);
      return true;
    }
    std::uint32_t expected = at_rest;
    if (flag.compare_exchange(expected, far, Order::acq_rel)) {
      put_off(group, state, node, value);
    } else {
      tally.lower(group, value);
    }
    return false;
  }
};

}  // namespace cohort::apps
