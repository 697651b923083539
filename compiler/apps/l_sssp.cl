// Shortest paths with worklists, after Lonestar's sssp: as bfs, with an atomic minimum on the distance and a stamp that keeps a
// node from being pushed twice in a round. Two resizing barriers a round.
#include "graph.h"
#include "worklist.h"

void relax(global const uint *row, global const uint *target, global const uint *weight, global uint *distance, global uint *stamp,
           global const uint *in, uint first, uint count, global uint *out, global uint *out_size, uint round, local uint *start,
           local uint *node, local uint *base) {
  for (uint i = get_local_id(); i < count; i += get_local_size()) {
    node[i] = in[first + i];
    start[i + 1] = row[node[i] + 1] - row[node[i]];
  }
  if (get_local_id() == 0) start[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id() == 0) {
    for (uint i = 0; i < count; i++) start[i + 1] += start[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint edges = start[count];
  for (uint from = 0; from < edges; from += get_local_size()) {
    uint edge = from + get_local_id();
    bool pushed = false;
    uint next = 0;
    if (edge < edges) {
      uint at = node_of(start, count, edge);
      uint which = row[node[at]] + edge - start[at];
      next = target[which];
      uint far = add_sat(atomic_or(&distance[node[at]], 0u), weight[which]);
      if (atomic_min(&distance[next], far) > far) pushed = atomic_xchg(&stamp[next], round + 1) != round + 1;
    }
    push(out, out_size, pushed, next, base);
  }
}

kernel void l_sssp(global const uint *row, global const uint *target, global const uint *weight, global uint *distance,
                   global uint *stamp, global uint *list0, global uint *list1, global uint *size0, global uint *size1) {
  local uint start[CHUNK + 1];
  local uint node[CHUNK];
  local uint base;
  transmit uint round = 0;
  transmit worklist in = {list0, size0};
  transmit worklist out = {list1, size1};
  while (*in.size > 0) {
    uint size = *in.size;
    for (uint first = get_group_id() * CHUNK; first < size; first += get_num_groups() * CHUNK) {
      relax(row, target, weight, distance, stamp, in.node, first, min(size - first, (uint)CHUNK), out.node, out.size, round, start,
            node, &base);
    }
    worklist last = in;
    in = out;
    out = last;
    resizing_global_barrier();
    if (get_global_id() == 0) *out.size = 0;
    round++;
    resizing_global_barrier();
  }
}
