// Shortest paths with worklists, after Lonestar's sssp: like bfs, with an atomic minimum on the distance, and a stamp that
// prevents a node from being pushed twice in a round. Two resizing barriers per round.
#include "graph.h"

typedef struct {
  global const uint *row, *target, *weight;
  global uint *distance, *stamp;
  uint round;
} work;

bool reach(work w, uint node, uint edge, uint next) {
  // A length beyond 32 bits counts as no path.
  ulong far = (ulong)peek(&w.distance[node]) + w.weight[edge];
  return far < peek(&w.distance[next]) && (uint)far < atomic_min(&w.distance[next], (uint)far) &&
         peek(&w.stamp[next]) != w.round + 1 && atomic_xchg(&w.stamp[next], w.round + 1) != w.round + 1;
}

#include "worklist.h"

kernel void l_sssp(global const uint *row, global const uint *target, global const uint *weight, global uint *distance,
                   global uint *stamp, global uint *list0, global uint *list1, global uint *size0, global uint *size1) {
  local chunk chunk;
  transmit uint round = 0;
  transmit worklist in = {list0, size0};
  transmit worklist out = {list1, size1};
  while (*in.size > 0) {
    work w = {row, target, weight, distance, stamp, round};
    expand(w, in, out, &chunk);
    worklist last = in;
    in = out;
    out = last;
    resizing_global_barrier();
    if (get_global_id() == 0) *out.size = 0;
    round++;
    resizing_global_barrier();
  }
}
