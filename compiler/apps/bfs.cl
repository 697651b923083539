// Breadth-first search with worklists, after Lonestar's bfs. Two resizing barriers per level. A test-and-set decides which
// thread pushes a node, so a list never holds more than all nodes.
#include "graph.h"

typedef struct {
  global const uint *row, *target;
  global uint *level_of;
  uint level;
} work;

bool reach(work w, uint node, uint edge, uint next) {
  return peek(&w.level_of[next]) == UNREACHED && atomic_cmpxchg(&w.level_of[next], UNREACHED, w.level + 1) == UNREACHED;
}

#include "worklist.h"

kernel void bfs(global const uint *row, global const uint *target, global uint *level_of, global uint *list0, global uint *list1,
                global uint *size0, global uint *size1) {
  local chunk chunk;
  transmit uint level = 0;
  transmit worklist in = {list0, size0};
  transmit worklist out = {list1, size1};
  while (*in.size > 0) {
    work w = {row, target, level_of, level};
    expand(w, in, out, &chunk);
    worklist last = in;
    in = out;
    out = last;
    resizing_global_barrier();
    if (get_global_id() == 0) *out.size = 0;
    level++;
    resizing_global_barrier();
  }
}
