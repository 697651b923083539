// Maximal independent set, after Pannotia's mis: nodes whose priority is strictly lower than all their neighbours' join the set
// and mark their neighbours, which drop out. Three resizing barriers per round. Nothing has to be transmitted: all state is in
// global memory.
#include "graph.h"

enum { UNDECIDED, IN, OUT };

kernel void mis(global const uint *row, global const uint *target, uint nodes, global uint *mark, global uint *lowest,
                global uint *drop, global uint *undecided_left) {
  do {
    bool any = false;
    EACH_NODE(node, nodes) {
      if (mark[node] != UNDECIDED) continue;
      any = true;
      uint best = node;
      ulong bottom = priority_of(node);
      for (uint edge = row[node], end = row[node + 1]; edge < end; edge++) {
        uint next = target[edge];
        if (mark[next] != UNDECIDED) continue;
        ulong its = priority_of(next);
        best = its < bottom ? next : best;
        bottom = min(its, bottom);
      }
      lowest[node] = best;
    }
    if (any) poke(undecided_left, 1);
    resizing_global_barrier();
    EACH_NODE(node, nodes) {
      if (mark[node] != UNDECIDED || lowest[node] != node) continue;
      mark[node] = IN;
      for (uint edge = row[node]; edge < row[node + 1]; edge++) {
        uint next = target[edge];
        if (next != node) poke(&drop[next], 1);
      }
    }
    if (*undecided_left == 0) break;
    resizing_global_barrier();
    if (get_global_id() == 0) *undecided_left = 0;
    EACH_NODE(node, nodes) {
      if (mark[node] == UNDECIDED && drop[node]) mark[node] = OUT;
    }
    resizing_global_barrier();
  } while (true);
}
