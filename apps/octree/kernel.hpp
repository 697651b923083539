// Octree partitioning with work stealing, as in the paper (after Cederman and Tsigas 2008): a task
// sorts a range of particles into the eight boxes around a centre.
// Invariant: a range of particles belongs to one task. A leaf's particles end up in the same range
// of the result.
#pragma once

#include "apps/pools.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

struct Particle {
  float x;
  float y;
  float z;
};

/// A box of the tree: either divided, or a leaf with its particles.
struct Box {
  static constexpr std::uint32_t leaf = ~0U;

  /// Index of the first of eight children; bits of the offset: 0 is x, 1 is y, 2 is z.
  std::uint32_t children = leaf;
  std::uint32_t begin = 0;  ///< index of its first particle
  std::uint32_t end = 0;
  std::uint32_t depth = 0;  ///< its parity selects the buffer that the task reads
  float x = 0;
  float y = 0;
  float z = 0;
  float half = 0;  ///< distance from the centre to the children's centres, along each axis
};

template <class Pools, KillOrder order>
struct Octree {
  static constexpr Traits traits{.kill_order = order};
  struct Local {
    std::uint32_t count[8];
    std::uint32_t at[8];
    std::uint32_t first;  // index of the first child box
  };

  // Tasks are boxes; `left` is the number of particles that are not in a leaf yet.
  Stealing<Pools> work;
  Particle* by_depth[2];  // by depth modulo 2: one is read, the other written
  Particle* result;
  Box* boxes;
  std::uint32_t num_particles;
  std::uint32_t num_boxes;  // maximum number of boxes
  std::uint32_t max_leaf;
  std::uint32_t max_depth;  // depth at which even coincident particles become a leaf
  std::uint32_t chunk;      // upper limit on the particles of a task; 0: all of its box
  std::uint32_t* done;      // by box, if tasks are portions: number of particles done

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    work.buffers(visit);
    visit("particles 0", by_depth[0], num_particles);
    visit("particles 1", by_depth[1], num_particles);
    visit("result", result, num_particles);
    visit("boxes", boxes, num_boxes);
    visit("done", done, chunk != 0 ? num_boxes : 0);
  }

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    for (std::uint32_t victim = work.neighbour(group);;) {
      if (group.offer(state)) return;
      const std::uint32_t task = work.take(group, victim);
      if (task == all_done) return;
      if (task != no_task) divide(group, task);
    }
  }

 private:
  static COHORT_FN std::uint32_t side(const Box& box, const Particle& p) {
    return (p.x >= box.x ? 1U : 0U) + (p.y >= box.y ? 2U : 0U) + (p.z >= box.z ? 4U : 0U);
  }

  COHORT_FN bool becomes_leaf(std::uint32_t count, std::uint32_t depth) const {
    return count <= max_leaf || depth >= max_depth;
  }

  template <class Group>
  COHORT_FN void divide(Group& group, std::uint32_t task) const {
    const Box box = group.view(static_cast<const Box*>(boxes))[task];
    if (chunk != 0 && box.end - box.begin > chunk) {
      divide_a_portion(group, task, box);
      return;
    }
    count(group, box, box.begin, box.end, claim_boxes(group));
    if (!add_children(group, task, box)) return;
    scatter(group, box, box.begin, box.end);
    group.barrier();  // before the leader publishes the particles
    // The other threads wait for the leader in take(), before the local memory is used again.
    if (group.local_id() == 0) hand_on(group, group.local().first, box.depth + 1);
  }

  /// A large box is divided one portion per task. First each portion is counted, then each portion
  /// is moved to the child boxes. After each portion the box becomes a task again. Until all
  /// particles are moved, `done` of a child box is the number of particles already moved there.
  template <class Group>
  COHORT_FN void divide_a_portion(Group& group, std::uint32_t task, const Box& box) const {
    const std::uint32_t size = box.end - box.begin;
    // Below `size`: the number of particles counted. From `size` on: `size` plus the number of
    // particles in place.
    const std::uint32_t at = group.view(done)[task];
    const std::uint32_t begin = at < size ? box.begin + at : box.begin + (at - size);
    const auto end = static_cast<std::uint32_t>(least(std::size_t{begin} + chunk, box.end));
    const bool leader = group.local_id() == 0;
    if (at == 0) {
      count(group, box, begin, end, claim_boxes(group));
      if (!add_children(group, task, box)) return;
    } else if (at < size) {
      count(group, box, begin, end, box.children);
      if (leader) add_counts(group, box);
    } else {
      if (leader) find_places(group, box.children);
      group.barrier();
      scatter(group, box, begin, end);
      group.barrier();  // before the leader publishes the particles
      if (leader) note_places(group, box.children, end == box.end);
    }
    if (leader) {  // the other threads wait for this in take(), as above
      group.view(done)[task] = at + (end - begin);
      if (at >= size && end == box.end) {
        hand_on(group, box.children, box.depth + 1);
      } else {
        work.push(group, task, 1);
      }
    }
  }

  /// Calls `visit` for this thread's share of [begin, end). In a group of many threads, a thread
  /// loads several particles before it visits the first, because each load is a round trip on a
  /// GPU.
  template <class Group, class From, class Visit>
  static COHORT_FN void for_particles(const Group& group, From from, std::uint32_t begin,
                                      std::uint32_t end, Visit visit) {
    if (group.alone()) {
      for (std::uint32_t i = begin; i < end; ++i) visit(from[i]);
      return;
    }
    constexpr std::uint32_t some = 4;
    const std::uint32_t stride = group.local_size();
    Particle ahead[some];
    for (std::uint32_t i = begin + group.local_id(); i < end; i += some * stride) {
      for (std::uint32_t k = 0; k < some; ++k) {
        if (i + k * stride < end) ahead[k] = from[i + k * stride];
      }
      for (std::uint32_t k = 0; k < some; ++k) {
        if (i + k * stride < end) visit(ahead[k]);
      }
    }
  }

  /// Leader only: reserves places for the child boxes, long before they are needed.
  template <class Group>
  COHORT_FN std::uint32_t claim_boxes(Group& group) const {
    return group.local_id() == 0 ? group.atomic(work.progress->next_place).fetch_add(8) : 0;
  }

  /// Counts the particles of each child box into local memory, with the leader's `first`.
  template <class Group>
  COHORT_FN void count(Group& group, const Box& box, std::uint32_t begin, std::uint32_t end,
                       std::uint32_t first) const {
    const auto from = group.view(static_cast<const Particle*>(by_depth[box.depth % 2]));
    Local& local = group.local();
    for (const std::size_t i : group.local_stride(8)) local.count[i] = 0;
    group.barrier();
    std::uint32_t mine[8] = {};
    for_particles(group, from, begin, end, [&](const Particle& each) { ++mine[side(box, each)]; });
    for (std::uint32_t i = 0; i < 8; ++i) {
      if (mine[i] != 0) group.atomic(local.count[i]).fetch_add(mine[i]);
    }
    if (group.local_id() == 0) local.first = first;
    group.barrier();
  }

  /// Leader only: increases the child boxes' sizes by the counted particles.
  template <class Group>
  COHORT_FN void add_counts(Group& group, const Box& box) const {
    const auto below = group.view(boxes + box.children);
    std::uint32_t at = box.begin;
    for (std::uint32_t i = 0; i < 8; ++i) {
      Box child = below[i];
      const std::uint32_t size = child.end - child.begin + group.local().count[i];
      child.begin = at;
      at += size;
      child.end = at;
      below[i] = child;
    }
  }

  /// Leader only: sets the places for the next particles of each child box.
  template <class Group>
  COHORT_FN void find_places(Group& group, std::uint32_t first) const {
    Local& local = group.local();
    for (std::uint32_t i = 0; i < 8; ++i) {
      const Box child = group.view(static_cast<const Box*>(boxes))[first + i];
      local.count[i] = child.end - child.begin;
      local.at[i] = child.begin + group.view(done)[first + i];
    }
  }

  /// Leader only, called after the particles are in place. `all`: the child boxes are complete and
  /// can be divided themselves.
  template <class Group>
  COHORT_FN void note_places(Group& group, std::uint32_t first, bool all) const {
    for (std::uint32_t i = 0; i < 8; ++i) {
      const Box child = group.view(static_cast<const Box*>(boxes))[first + i];
      group.view(done)[first + i] = all ? 0 : group.local().at[i] - child.begin;
    }
  }

  /// Creates the eight child boxes, by eight threads. Returns false if there is no room; the job
  /// then stops.
  template <class Group>
  COHORT_FN bool add_children(Group& group, std::uint32_t task, const Box& box) const {
    Local& local = group.local();
    const std::uint32_t first = local.first;
    if (first > num_boxes - 8) {
      if (group.local_id() == 0) work.fail(group, Stop::memory_full);
      return false;
    }
    for (const std::size_t i : group.local_stride(8)) {
      const auto shift = [&](std::uint32_t bit) { return (i & bit) != 0 ? box.half : -box.half; };
      std::uint32_t begin = box.begin;
      for (std::size_t before = 0; before < i; ++before) begin += local.count[before];
      local.at[i] = begin;
      group.view(boxes)[first + i] = {.children = Box::leaf,
                                      .begin = begin,
                                      .end = begin + local.count[i],
                                      .depth = box.depth + 1,
                                      .x = box.x + shift(1),
                                      .y = box.y + shift(2),
                                      .z = box.z + shift(4),
                                      .half = box.half / 2};
    }
    if (group.local_id() == 0) {
      Box divided = box;
      divided.children = first;
      group.view(boxes)[task] = divided;
    }
    group.barrier();
    return true;
  }

  template <class Group>
  COHORT_FN void scatter(Group& group, const Box& box, std::uint32_t begin,
                         std::uint32_t end) const {
    const auto from = group.view(static_cast<const Particle*>(by_depth[box.depth % 2]));
    Local& local = group.local();
    const auto next = group.view(by_depth[(box.depth + 1) % 2]);
    const auto leaves = group.view(result);
    const bool alone = group.alone();
    bool leaf[8];
    for (std::uint32_t i = 0; i < 8; ++i) leaf[i] = becomes_leaf(local.count[i], box.depth + 1);
    for_particles(group, from, begin, end, [&](const Particle& particle) {
      const std::uint32_t to = side(box, particle);
      const std::uint32_t at = alone ? local.at[to]++ : group.atomic(local.at[to]).fetch_add(1);
      if (leaf[to]) {
        leaves[at] = particle;
      } else {
        next[at] = particle;
      }
    });
  }

  /// Leader only: turns child boxes with too many particles into tasks, and completes the others.
  template <class Group>
  COHORT_FN void hand_on(Group& group, std::uint32_t first, std::uint32_t depth) const {
    std::uint32_t tasks = 0;
    std::uint64_t placed = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint32_t size = group.local().count[i];
      if (becomes_leaf(size, depth)) {
        placed += size;
      } else {
        tasks |= 1U << i;
      }
    }
    work.push(group, first, tasks);
    if (placed > 0) work.done(group, placed);
  }
};

}  // namespace cohort::apps
