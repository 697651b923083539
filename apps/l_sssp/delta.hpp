// Shortest paths by delta-stepping (Meyer and Sanders 2003) with two piles (Davidson et al. 2014):
// nodes below a threshold are near, the others far until the near ones are done. One resizing
// barrier a turn; a group of one thread goes on with the near nodes it finds before it comes to the
// barrier (bucket fusion, Zhang et al. 2020).
// Invariant: a node whose distance is below the threshold and has not been expanded with that
// distance is in a near list or in a group's own queue.
#pragma once

#include "apps/distance.hpp"
#include "apps/worklist.hpp"

namespace cohort::apps {

struct DeltaSssp {
  /// What group 0 tells the next turn.
  struct alignas(64) Plan {
    Distance threshold = 0;
    std::uint32_t epoch = 0;  // how often the far pile has been split
  };
  struct State {
    std::uint32_t turn = 0;
    std::uint64_t at = 0;  // how much of this turn is done, where steps are short
  };                       // all that a joining group receives
  struct Local {
    ChunkOfNodes chunk;
    Node queue[2][1024];  // a group's own near nodes
  };

  CsrView graph;
  Worklist near[3];  // by turn modulo 3: one is read, the next filled, the last cleared
  Worklist far[3];   // by epoch modulo 3, likewise
  Distance* least;   // in each far pile, three, lines apart: at most what any of its nodes has
  Distance* distance;
  Distance* expanded;         // the distance that a node was last expanded with
  std::uint32_t* near_stamp;  // the last turn that pushed the node
  std::uint32_t* far_stamp;   // the last epoch whose pile it went to
  Plan* plans;                // by turn modulo 2
  Distance delta;
  std::uint64_t chunk;   // nodes for each group in a step; 0: all
  std::uint32_t budget;  // nodes of its own that a group goes on with in a step

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Plan plan = group.view(plans)[state.turn % 2];
    const std::size_t size = near[state.turn % 3].size(group);
    if (size > 0) return relax(group, state, plan, size);
    const std::size_t left = far[plan.epoch % 3].size(group);
    return left > 0 ? split(group, state, plan, left) : Next::halt;
  }

 private:
  enum class Kind : std::uint8_t { none, near, far };

  COHORT_FN Distance& least_of(std::uint32_t epoch) const { return least[epoch % 3 * 8]; }

  /// Where a group puts what it finds: near nodes into its queue if it has one and there is room.
  template <class Group>
  struct Finds {
    Sink<Group> near;
    Sink<Group> far;
    Node* queue;
    std::uint32_t queued;
    std::uint32_t room;
    const Group& group;
    std::uint32_t* stamp;
    std::uint32_t turn;

    COHORT_FN void push(Kind kind, Node node) {
      if (kind == Kind::near && queued < room) {
        queue[queued++] = node;
        return;
      }
      const bool fresh = kind == Kind::near && group.atomic(stamp[node]).exchange(turn) != turn;
      near.push(fresh, node);
      far.push(kind == Kind::far, node);
    }
  };

  template <class Group>
  COHORT_FN Next relax(Group& group, State& state, const Plan& plan, std::size_t size) const {
    const Worklist& in = near[state.turn % 3];
    const Portion now = portion(group, state.at, size, chunk);
    auto& queues = group.local().queue;
    Distance nearest_far = infinite;
    const bool alone = group.local_size() == 1;
    Finds<Group> finds{.near = {group, near[(state.turn + 1) % 3]},
                       .far = {group, far[plan.epoch % 3]},
                       .queue = queues[0],
                       .queued = 0,
                       .room = alone && budget > 0 ? 1024U : 0U,
                       .group = group,
                       .stamp = near_stamp,
                       .turn = state.turn};
    const auto visit = [&](const Node* nodes, std::size_t count) {
      expand(
          group, graph, group.local().chunk, nodes, count, finds,
          [&](Node node) {
            // Relaxed, here and below: a distance that is too old is that of a path all the same,
            // and whoever lowers it pushes its node.
            const Distance its = group.atomic(distance[node]).load();
            const auto done = group.atomic(expanded[node]);
            if (done.load() == its) return skipped;
            done.store(its);
            return node;
          },
          [&](Node target) { prefetch(distance + target); },
          [&](Node node, std::uint64_t edge, Node target) {
            const Distance through = group.atomic(distance[node]).load() + graph.weight(edge);
            const auto its = group.atomic(distance[target]);
            if (through >= its.load() || through >= its.fetch_min(through)) return Kind::none;
            if (through < plan.threshold) return Kind::near;
            if (through < nearest_far) nearest_far = through;
            const std::uint32_t pile = plan.epoch + 1;
            const auto stamp = group.atomic(far_stamp[target]);
            return stamp.load() != pile && stamp.exchange(pile) != pile ? Kind::far : Kind::none;
          });
    };
    if (size <= 16 && alone) {  // not worth sharing
      if (group.group_id() == 0) in.for_range(group, now.begin, now.end, visit);
    } else {
      in.for_part(group, now.begin, now.end, visit);
    }
    for (std::uint32_t done = 0, turn = 0; finds.queued > 0; turn ^= 1U) {
      const std::uint32_t count = finds.queued;
      done += count;
      if (done > budget) finds.room = 0;  // the rest is for everybody
      finds.queue = queues[turn ^ 1U];
      finds.queued = 0;
      visit(queues[turn], count);
    }
    finds.near.close();
    finds.far.close();
    tell_least(group, plan.epoch, nearest_far);
    conclude(group, state, now, plan);
    return Next::again;
  }

  /// The near nodes are done: those of the far pile that come next are near now.
  template <class Group>
  COHORT_FN Next split(Group& group, State& state, const Plan& plan, std::size_t size) const {
    const Worklist& in = far[plan.epoch % 3];
    const Portion now = portion(group, state.at, size, chunk);
    const Distance from = group.atomic(least_of(plan.epoch)).load();
    Plan next{.threshold = (from / delta + 1) * delta, .epoch = plan.epoch + 1};
    if (next.threshold < from) next.threshold = infinite;  // beyond the last multiple of delta
    Sink near_sink{group, near[(state.turn + 1) % 3]};
    Sink far_sink{group, far[next.epoch % 3]};
    Distance nearest_far = infinite;
    in.for_part(group, now.begin, now.end, [&](const Node* nodes, std::size_t count) {
      const auto list = group.view(nodes);
      for (std::size_t i = 0; i < count; i += group.local_size()) {
        const bool mine = i + group.local_id() < count;
        const Node node = mine ? list[i + group.local_id()] : 0;
        const Distance its = mine ? group.atomic(distance[node]).load() : 0;
        const bool is_far = mine && its >= next.threshold;
        if (is_far) {
          if (its < nearest_far) nearest_far = its;
          group.atomic(far_stamp[node]).store(next.epoch + 1);
        }
        near_sink.push(mine && its >= plan.threshold && !is_far, node);
        far_sink.push(is_far, node);
      }
    });
    near_sink.close();
    far_sink.close();
    tell_least(group, next.epoch, nearest_far);
    if (now.last && group.global_id() == 0) {
      far[(plan.epoch + 2) % 3].clear(group);
      group.atomic(least_of(plan.epoch + 2)).store(infinite);
    }
    conclude(group, state, now, now.last ? next : plan);
    return Next::again;
  }

  template <class Group>
  COHORT_FN void tell_least(Group& group, std::uint32_t epoch, Distance mine) const {
    const Distance ours = group.reduce(mine, [](Distance a, Distance b) { return a < b ? a : b; });
    if (group.local_id() == 0 && ours != infinite) group.atomic(least_of(epoch)).fetch_min(ours);
  }

  template <class Group>
  COHORT_FN void conclude(Group& group, State& state, const Portion& now, const Plan& next) const {
    state.at = now.last ? 0 : now.end;
    if (group.global_id() == 0 && now.last) {
      group.view(plans)[(state.turn + 1) % 2] = next;
      near[(state.turn + 2) % 3].clear(group);
    }
    if (now.last) ++state.turn;
  }
};

}  // namespace cohort::apps
