// Greedy colouring in rounds, after Pannotia's color: an uncoloured node takes the round's colour if its priority is the
// highest among its uncoloured neighbours. Two resizing barriers per round. There is a set of flags for even and one for odd
// rounds.
#include "graph.h"

kernel void color(global const uint *row, global const uint *target, uint nodes, global int *colour, global uint *highest,
                  global uint *more) {
  transmit int round = 0;
  transmit global uint *flag = more;
  transmit global uint *other = more + 1;
  transmit bool go_on = true;
  while (go_on) {
    bool any = false;
    EACH_NODE(node, nodes) {
      if (colour[node] != -1) continue;
      uint best = node;
      ulong top = priority_of(node);
      bool waits = false;
      for (uint edge = row[node], end = row[node + 1]; edge < end; edge++) {
        uint next = target[edge];
        if (next == node || colour[next] != -1) continue;
        waits = true;
        ulong its = priority_of(next);
        best = its > top ? next : best;
        top = max(its, top);
      }
      highest[node] = best;
      any |= waits;
    }
    if (any) poke(flag, 1);
    resizing_global_barrier();
    EACH_NODE(node, nodes) {
      if (colour[node] == -1 && highest[node] == node) colour[node] = round;
    }
    go_on = *flag != 0;
    if (get_global_id() == 0) *other = 0;
    global uint *last = flag;
    flag = other;
    other = last;
    round++;
    resizing_global_barrier();
  }
}
