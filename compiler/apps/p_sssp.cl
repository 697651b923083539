// Shortest paths by pulling over incoming edges, after Pannotia's sssp: copy, relax, check whether anything changed. Three
// resizing barriers per round. Nothing has to be transmitted.
#include "graph.h"

kernel void p_sssp(global const uint *row, global const uint *source, global const uint *weight, uint nodes, global uint *x,
                   global uint *y, global uint *changed) {
  while (true) {
    EACH_NODE(node, nodes) x[node] = y[node];
    if (get_global_id() == 0) *changed = 0;
    resizing_global_barrier();
    bool any = false;
    EACH_NODE(node, nodes) {
      uint best = x[node];
      // The loop has no branch, so that loads for several edges are in flight at once. Distances of unreached nodes saturate, so
      // these nodes stay unreached.
      __attribute__((opencl_unroll_hint(4)))
      for (uint edge = row[node], end = row[node + 1]; edge < end; edge++) best = min(best, add_sat(x[source[edge]], weight[edge]));
      if (best != x[node]) {
        y[node] = best;
        any = true;
      }
    }
    if (any) poke(changed, 1);
    resizing_global_barrier();
    if (*changed == 0) break;
    resizing_global_barrier();
  }
}
