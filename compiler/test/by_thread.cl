// Values that differ between the threads of a group, but not between groups. Only
// --transmit=per-thread can transmit them.
#include "common.h"

kernel void threads_of_a_group(global uint *out, uint n, uint rounds) {
  uint mine = (uint)get_local_id() * 3;
  for (uint r = 0; r < rounds; r++) {
    uint sum = work_group_reduce_add(mine);
    pass(out, n, sum);
    resizing_global_barrier();
    mine += (uint)get_local_id() + 1;
  }
}
