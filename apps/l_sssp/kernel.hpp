// Shortest paths by delta-stepping (Meyer and Sanders 2003): buckets of width `delta` are finished
// in order. A turn expands the nodes of the current bucket, with one resizing barrier. A group of
// one thread also expands nodes that it finds for the current bucket itself, before it goes to the
// barrier (bucket fusion, Zhang et al. 2020). Each bucket of a window has a pile of its own. Nodes
// beyond the window share one pile, the rest, until the window reaches them (Davidson et al. 2014).
// Invariant: a node of the current bucket whose distance has not been expanded is in the near list
// or in a group's own queue. A node of another bucket is in the pile of its bucket, or in the rest.
#pragma once

#include <iterator>
#include <string>
#include <type_traits>

#include "apps/degrees.hpp"
#include "apps/distance.hpp"
#include "apps/worklist.hpp"

namespace cohort::apps {

/// `Length` is the type of path lengths. It has 32 bits if no path is longer, so that more
/// distances fit into a cache. In graphs with many edges, several groups share the edges of a node.
template <class Length, Degrees degrees>
struct DeltaSssp {
  static constexpr bool many_edges = degrees == Degrees::many;
  static constexpr bool few_edges = degrees == Degrees::few;
  static constexpr Length unreached = static_cast<Length>(~Length{0});
  static constexpr std::uint32_t num_piles = 16;
  static constexpr std::uint32_t words_of_least = 48;

  /// Group 0's instructions for the next turn. Buckets have 64 bits, so that sums do not wrap. No
  /// padding: nvcc copies padded structs byte by byte.
  struct alignas(8) Directive {
    std::uint64_t bucket = 0;  // bucket of the previous turn
    std::uint64_t end = 0;     // end of the window
    std::uint32_t epoch = 0;   // how often the rest has been split
    std::uint32_t clean = 0;   // 1: the bucket's pile has been cleared
  };
  struct State {
    std::uint32_t turn = 0;
    std::uint64_t at = 0;  // progress within this turn, if steps are short
  };                       // all that a joining group receives
  struct Expansion {
    ChunkOfNodes chunk;
    Node queue[2][1024];  // a group's own near nodes
  };
  using Local = std::conditional_t<few_edges, Nothing, Expansion>;

  CsrView graph;
  Worklist near[3];           // by turn modulo 3: one is read, the next filled, the last cleared
  Worklist piles[num_piles];  // by bucket, modulo the number of piles
  Worklist rest[3];           // by epoch modulo 3, used like `near`
  Length* least;  // lower bound of the distances in each rest; three words, cache lines apart
  Length* distance;
  Length* expanded;           // distance at which a node was last expanded; unused with few_edges
  std::uint32_t* near_stamp;  // the last turn that pushed the node
  Directive* plans;           // by turn modulo 2
  Length delta;
  std::uint64_t chunk;   // nodes per group and step; 0: all
  std::uint32_t window;  // number of buckets, at most num_piles
  std::uint32_t budget;  // number of nodes that a group expands from its own queue in a step

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    const std::size_t nodes = graph.num_nodes();
    const auto lists = [&](const auto& some, const std::string& name) {
      for (std::size_t i = 0; i < std::size(some); ++i)
        some[i].buffers(visit, name + " " + std::to_string(i), nodes);
    };
    lists(near, "near");
    lists(piles, "pile");
    lists(rest, "rest");
    visit("least", least, words_of_least);
    visit("distances", distance, nodes);
    visit("expanded", expanded, few_edges ? 0 : nodes);
    visit("stamps", near_stamp, nodes);
    visit("plans", plans, 2);
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Worklist& list = near[state.turn % 3];
    if constexpr (!many_edges) list.ahead(group, graph.num_nodes());
    // Issues all loads before it waits for the plan.
    const std::uint32_t in_first = group.atomic(list.counts[0].nodes).load();
    const Directive plan = group.view(plans)[state.turn % 2];
    const std::size_t size = in_first + list.size(group, 1);
    if (size > 0) return relax(group, state, plan, plan.bucket, list, size);

    // No group fills these piles in this turn, because nodes are pushed only into buckets after the
    // chosen one.
    for (std::uint64_t next = plan.bucket + 1; next < plan.end; ++next) {
      const std::size_t waiting = pile(next).size(group);
      if (waiting > 0) return relax(group, state, plan, next, pile(next), waiting);
    }
    const Length beyond = group.atomic(least_of(plan.epoch)).load();
    if (beyond == unreached) return Next::halt;
    if (plan.clean != 0 && plan.end == plan.bucket + 1) return split(group, state, plan);
    // The new window begins in the next step, for one of two reasons. Either the last pile must be
    // cleared first, or the window was empty because its nearest node has come nearer, and other
    // groups may still read the window's piles.
    const std::uint64_t first = beyond / delta;
    conclude(group, state, {0, 0, true},
             {.bucket = first - 1, .end = first, .epoch = plan.epoch, .clean = 1}, plan);
    return Next::again;
  }

 private:
  COHORT_FN const Worklist& pile(std::uint64_t bucket) const { return piles[bucket % num_piles]; }
  COHORT_FN Length& least_of(std::uint32_t epoch) const {
    return least[std::size_t{epoch % 3} * 16];
  }

  /// Handles a node whose distance fell from `before` to `now`: pushes it to the pile of its new
  /// bucket. Only the thread that moved the node into that bucket pushes it, so it enters once. If
  /// the node goes to the rest, lowers `nearest` to its distance.
  template <class Group>
  COHORT_FN void put_off(const Group& group, Node node, Length before, Length now,
                         const Directive& plan, Length& nearest) const {
    const std::uint64_t bucket = now / delta;
    if (bucket < plan.end) {
      if (before / delta != bucket || before == unreached) pile(bucket).push(group, node);
      return;
    }
    if (now < nearest) nearest = now;
    if (before == unreached) rest[plan.epoch % 3].push(group, node);
  }

  /// Expands the nodes of `in`. Each node belongs to the current bucket, or has been expanded
  /// before.
  template <class Group>
  COHORT_FN Next relax(Group& group, State& state, const Directive& plan, std::uint64_t bucket,
                       const Worklist& in, std::size_t size) const {
    const Portion now = portion(group, state.at, size, chunk, many_edges ? work_of_hubs : 1);
    if constexpr (few_edges) {
      relax_few(group, state, plan, bucket, in, now);
    } else {
      relax_some(group, state, plan, bucket, in, now);
    }
    const Directive next{.bucket = bucket, .end = plan.end, .epoch = plan.epoch, .clean = 0};
    conclude(group, state, now, next, plan);
    return Next::again;
  }

  /// Whether this thread is the first to push the node in this turn. `mostly`: the answer is
  /// usually yes, so a test before the exchange does not pay.
  template <class Group>
  COHORT_FN static bool fresh(const Group& group, std::uint32_t& stamp, std::uint32_t turn,
                              bool mostly = false) {
    const auto last = group.atomic(stamp);
    return (mostly || last.load() != turn) && last.exchange(turn) != turn;
  }

  /// A node's distance and its edges, for expand_few().
  struct Reached {
    Length distance;
    std::uint64_t first;
    std::uint64_t last;

    [[nodiscard]] COHORT_FN std::uint64_t begin() const { return first; }
    [[nodiscard]] COHORT_FN std::uint64_t end() const { return last; }
  };

  /// For groups of many threads, which spend most time waiting for memory: here few loads depend on
  /// one another.
  template <class Group>
  COHORT_FN void relax_few(Group& group, const State& state, const Directive& plan,
                           std::uint64_t bucket, const Worklist& in, const Portion& now) const {
    const Length limit = limit_of(bucket);
    const Length least_here = bucket == 0 ? 0 : limit_of(bucket - 1);
    const bool early = now.begin == 0 && now.last &&
                       Worklist::claims_early(group, now.end, most_few_edges, graph.num_nodes());
    Sink<Group> sink{group, near[(state.turn + 1) % 3]};
    Length nearest = unreached;
    in.for_part(group, now.begin, now.end, [&](const Node* nodes, std::size_t count) {
      expand_few(
          group, graph, nodes, count,
          [group, distance = distance, graph = graph, least_here](Node node) {
            // Relaxed, here and below: a stale distance still belongs to a path, and the thread
            // that lowers the distance pushes its node.
            const Length its = group.atomic(distance[node]).load();
            const Reached found{its, graph.first_edge(node), graph.first_edge(node + 1)};
            // The node moved to an earlier bucket, and was expanded there.
            return its < least_here ? Reached{its, found.first, found.first} : found;
          },
          [&, this](const Reached& from, std::uint64_t edge, Node target) {
            const Length through = from.distance + graph.weight(edge);
            const Length before = group.atomic(distance[target]).fetch_min(through);
            if (through >= before) return;
            if (through >= limit) {
              put_off(group, target, before, through, plan, nearest);
            } else if (early) {
              const bool mine = fresh(group, near_stamp[target], state.turn, true);
              const std::uint32_t place = sink.claim();  // overlaps the exchange
              sink.put(place, mine ? target : empty_place);
            } else if (fresh(group, near_stamp[target], state.turn)) {
              sink.push(target);
            }
          });
    });
    sink.close();
    if (nearest != unreached) group.atomic(least_of(plan.epoch)).fetch_min(nearest);
  }

  /// Receives the near nodes that a group finds: puts them into its queue while there is room, else
  /// into the list.
  template <class Group>
  struct Near {
    Sink<Group> sink;
    Node* queue;
    std::uint32_t queued;
    std::uint32_t room;
    Group group;
    std::uint32_t* stamp;
    std::uint32_t turn;

    COHORT_FN void push(Node node) {
      if (queued < room) {
        queue[queued++] = node;
      } else if (fresh(group, stamp[node], turn)) {
        sink.push(node);
      }
    }
  };

  template <class Group>
  COHORT_FN void relax_some(Group& group, const State& state, const Directive& plan,
                            std::uint64_t bucket, const Worklist& in, const Portion& now) const {
    const Length limit = limit_of(bucket);
    auto& queues = group.local().queue;
    Length nearest = unreached;
    const bool alone = group.alone();
    Near<Group> finds{.sink = {group, near[(state.turn + 1) % 3]},
                      .queue = queues[0],
                      .queued = 0,
                      .room = alone && budget > 0 ? 1024U : 0U,
                      .group = group,
                      .stamp = near_stamp,
                      .turn = state.turn};
    const auto visit = [&](const Node* nodes, std::size_t count, auto... part) {
      const bool whole = ((part.count == 1) && ...);
      expand(
          group, graph, group.local().chunk, nodes, count, finds,
          [group, distance = distance, expanded = expanded, whole](Node node) {
            // Relaxed, here and below: a stale distance still belongs to a path, and the thread
            // that lowers the distance pushes its node.
            const Length its = group.atomic(distance[node]).load();
            const auto done = group.atomic(expanded[node]);
            if (done.load() == its) return skipped;
            // Groups that share a node do not know which distance the others used, so they do not
            // mark it. If another list also contains the node, it is expanded once more than
            // necessary.
            if (whole) done.store(its);
            return node;
          },
          [distance = distance](Node target) { prefetch(distance + target); },
          [this, group, &plan, &nearest, graph = graph, distance = distance, limit](
              Node node, std::uint64_t edge, Node target) {
            const Length through = group.atomic(distance[node]).load() + graph.weight(edge);
            const auto its = group.atomic(distance[target]);
            if (through >= its.load()) return false;
            const Length before = its.fetch_min(through);
            if (through >= before) return false;
            if (through < limit) return true;
            put_off(group, target, before, through, plan, nearest);
            return false;
          },
          part...);
    };
    if (now.last && now.end <= 16 && alone) {  // so few nodes are not worth sharing
      if (group.group_id() == 0) in.for_range(group, now.begin, now.end, visit);
    } else if constexpr (many_edges) {
      in.for_edges(group, now.begin, now.end, visit);
    } else {
      in.for_part(group, now.begin, now.end, visit);
    }
    for (std::uint32_t done = 0, turn = 0; finds.queued > 0; turn ^= 1U) {
      const std::uint32_t count = finds.queued;
      done += count;
      if (done > budget) finds.room = 0;  // sends further nodes to the shared list
      finds.queue = queues[turn ^ 1U];
      finds.queued = 0;
      visit(queues[turn], count);
    }
    finds.sink.close();
    tell_least(group, plan.epoch, nearest);
  }

  /// Where the next bucket begins.
  COHORT_FN Length limit_of(std::uint64_t bucket) const {
    return bucket >= unreached / delta ? unreached
                                       : static_cast<Length>((bucket + 1) * std::uint64_t{delta});
  }

  /// Called when the window is done. The next window begins at the least distance in the rest.
  template <class Group>
  COHORT_FN Next split(Group& group, State& state, const Directive& plan) const {
    const Worklist& in = rest[plan.epoch % 3];
    const Portion now = portion(group, state.at, in.size(group), chunk);
    const Directive next{
        .bucket = plan.bucket, .end = plan.end + window, .epoch = plan.epoch + 1, .clean = 1};
    Length nearest = unreached;
    in.for_part(group, now.begin, now.end, [&](const Node* nodes, std::size_t count) {
      const auto list = group.view(nodes);
      for (const std::size_t i : group.local_stride(count)) {
        const Length its = group.atomic(distance[list[i]]).load();
        // The other nodes have moved into the last window in the meantime, and are done.
        if (its / delta >= plan.end) put_off(group, list[i], unreached, its, next, nearest);
      }
    });
    tell_least(group, next.epoch, nearest);
    if (now.last && group.global_id() == 0) {
      rest[(plan.epoch + 2) % 3].clear(group);
      group.atomic(least_of(plan.epoch + 2)).store(unreached);
    }
    conclude(group, state, now, next, plan);
    return Next::again;
  }

  template <class Group>
  COHORT_FN void tell_least(Group& group, std::uint32_t epoch, Length mine) const {
    const Length ours = group.reduce(mine, [](Length a, Length b) { return a < b ? a : b; });
    if (group.local_id() == 0 && ours != unreached) group.atomic(least_of(epoch)).fetch_min(ours);
  }

  /// Ends a turn, or a portion of it. No group reads or fills the pile of the previous turn now.
  template <class Group>
  COHORT_FN void conclude(Group& group, State& state, const Portion& now, const Directive& next,
                          const Directive& plan) const {
    state.at = now.last ? 0 : now.end;
    if (group.global_id() == 0 && now.last) {
      group.view(plans)[(state.turn + 1) % 2] = next;
      near[(state.turn + 2) % 3].clear(group);
      if (plan.clean == 0) pile(plan.bucket).clear(group);
    }
    if (now.last) ++state.turn;
  }
};

}  // namespace cohort::apps
