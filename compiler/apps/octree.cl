// An octree over particles by work stealing, after Cederman and Tsigas. A task is a box of the tree with its range of
// particles. It counts the particles in eight child boxes, scatters them to the other buffer, and makes a task of each child
// box with more than `max_leaf` particles. The kernel ends when every particle is in a leaf. Nothing has to be transmitted,
// because a task holds all state.
#include "pools.h"

#define LEAF 0xffffffffu

typedef struct {
  float x, y, z;
} particle;

typedef struct {
  uint children;     // the first of eight child boxes, or LEAF
  uint begin, end;   // its particles
  uint depth;        // its parity selects the buffer with the particles
  float x, y, z;     // the centre
  float half_width;
} box;

#define AHEAD 4  // particles that a thread loads before it uses the first

uint octant(particle p, float x, float y, float z) {
  return (p.x >= x ? 1u : 0u) | (p.y >= y ? 2u : 0u) | (p.z >= z ? 4u : 0u);
}

kernel void octree(global box *boxes, global uint *used, uint room_for_boxes, global particle *particles0, global particle *particles1,
                   global particle *result, uint max_leaf, uint max_depth, global pool *pools, global uint *tasks, uint pool_count,
                   uint room, global uint *left, global uint *lost) {
  local uint first;
  local uint count[8], place[8];
  while (true) {
    offer_kill();
    request_fork();
    uint own = (uint)get_group_id() % pool_count;
    uint task = pop_or_steal(pools, tasks, pool_count, room, own, left, lost);
    if (task == ALL_DONE) break;
    // A group without a task skips the work below, but takes part in all barriers.
    bool busy = task != NO_TASK, alone = get_local_size() == 1;
    uint claimed = 0;  // places that the leader reserves for the child boxes, long before they are needed
    if (busy && get_local_id() == 0) claimed = atomic_add(used, 8u);
    for (uint i = get_local_id(); i < 8; i += get_local_size()) count[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    box b = {0};
    if (busy) b = boxes[task];
    global particle *from = b.depth % 2 == 0 ? particles0 : particles1;
    global particle *to = b.depth % 2 == 0 ? particles1 : particles0;
    uint begin = b.begin, end = b.end;
    uint mine[8] = {0};
    uint stride = get_local_size();
    particle ahead[AHEAD];
    for (uint i = begin + (uint)get_local_id(); i < end; i += AHEAD * stride) {
      for (uint k = 0; k < AHEAD; k++) {
        if (i + k * stride < end) ahead[k] = from[i + k * stride];
      }
      for (uint k = 0; k < AHEAD; k++) {
        if (i + k * stride < end) mine[octant(ahead[k], b.x, b.y, b.z)]++;
      }
    }
    if (begin + (uint)get_local_id() < end) {
      for (uint i = 0; i < 8; i++) {
        if (alone) count[i] = mine[i];
        else atomic_add(&count[i], mine[i]);
      }
    }
    if (get_local_id() == 0) first = claimed;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first + 8 > room_for_boxes) {  // all groups will stop
      if (get_local_id() == 0) poke(lost, 1);
      busy = false;
      end = begin;
    }
    bool deepest = b.depth + 1 >= max_depth;
    for (uint i = get_local_id(); i < 8 && busy; i += get_local_size()) {
      uint at = begin;
      for (uint before = 0; before < i; before++) at += count[before];
      place[i] = at;
      box child = {.children = LEAF,
                   .begin = at,
                   .end = at + count[i],
                   .depth = b.depth + 1,
                   .x = b.x + (i & 1u ? b.half_width : -b.half_width),
                   .y = b.y + (i & 2u ? b.half_width : -b.half_width),
                   .z = b.z + (i & 4u ? b.half_width : -b.half_width),
                   .half_width = b.half_width / 2.0f};
      boxes[first + i] = child;
      if (i == 0) boxes[task].children = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = begin + (uint)get_local_id(); i < end; i += AHEAD * stride) {
      for (uint k = 0; k < AHEAD; k++) {
        if (i + k * stride < end) ahead[k] = from[i + k * stride];
      }
      for (uint k = 0; k < AHEAD; k++) {
        if (i + k * stride >= end) break;
        uint which = octant(ahead[k], b.x, b.y, b.z);
        uint at = alone ? place[which]++ : atomic_inc(&place[which]);
        if (count[which] <= max_leaf || deepest) result[at] = ahead[k];
        else to[at] = ahead[k];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id() == 0 && busy) {
      uint done = 0, below = 0;
      for (uint i = 0; i < 8; i++) {
        if (count[i] <= max_leaf || deepest) done += count[i];
        else below |= 1u << i;
      }
      push_tasks(pools, tasks, pool_count, room, own, first, below, lost);
      if (done > 0) atomic_sub(left, done);
    }
    // The other threads wait for the leader in pop_or_steal, before they use the local memory again.
  }
}
