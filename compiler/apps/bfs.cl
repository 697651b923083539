// Breadth-first search with worklists, after Lonestar's bfs. Two resizing barriers a level. Test-and-set decides who pushes a
// node, so a list never holds more than all nodes.
#include "graph.h"
#include "worklist.h"

// Visits the edges of one chunk of the list.
void visit(global const uint *row, global const uint *target, global uint *level_of, global const uint *in, uint first, uint count,
           global uint *out, global uint *out_size, uint level, local uint *start, local uint *node, local uint *base) {
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
    bool reached = false;
    uint next = 0;
    if (edge < edges) {
      uint at = node_of(start, count, edge);
      next = target[row[node[at]] + edge - start[at]];
      reached = level_of[next] == UNREACHED && atomic_cmpxchg(&level_of[next], UNREACHED, level + 1) == UNREACHED;
    }
    push(out, out_size, reached, next, base);
  }
}

kernel void bfs(global const uint *row, global const uint *target, global uint *level_of, global uint *list0, global uint *list1,
                global uint *size0, global uint *size1) {
  local uint start[CHUNK + 1];
  local uint node[CHUNK];
  local uint base;
  transmit uint level = 0;
  transmit worklist in = {list0, size0};
  transmit worklist out = {list1, size1};
  while (*in.size > 0) {
    uint size = *in.size;
    for (uint first = get_group_id() * CHUNK; first < size; first += get_num_groups() * CHUNK) {
      visit(row, target, level_of, in.node, first, min(size - first, (uint)CHUNK), out.node, out.size, level, start, node, &base);
    }
    worklist last = in;
    in = out;
    out = last;
    resizing_global_barrier();
    if (get_global_id() == 0) *out.size = 0;
    level++;
    resizing_global_barrier();
  }
}
