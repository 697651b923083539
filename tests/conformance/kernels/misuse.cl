// The kernels of misuse.hpp in OpenCL C. Each uses a word of local memory to send its groups
// different ways, because the compiler assumes that all groups read the same there.
#include "words.h"

kernel void returns_early(uint early, uint resizing, uint late) {
  local uint returns;
  if (leads()) returns = get_group_id() == early;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < 1000 && returns == late; i++) query();  // a loop that takes some time
  if (returns != 0) return;
  while (true) {
    if (resizing != 0)
      resizing_global_barrier();
    else
      global_barrier();
  }
}

kernel void divergent(uint odd_one, uint odd_resizes, uint rounds_before) {
  local uint odd;
  transmit uint i;
  for (i = 0; i < rounds_before; i++) {
    global_barrier();
    resizing_global_barrier();
  }
  if (leads()) odd = get_group_id() == odd_one;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (odd == odd_resizes)
    resizing_global_barrier();
  else
    global_barrier();
}

kernel void divergent_under_demand(uint odd_one, uint odd_resizes, global uint *started, global uint *go) {
  local uint odd;
  count(started);
  hold(go);
  if (leads()) odd = get_group_id() == odd_one;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (odd == odd_resizes)
    resizing_global_barrier();
  else
    global_barrier();
}

kernel void divergent_steps() {
  local uint first;
  while (true) {
    if (leads()) first = get_group_id() == 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first != 0) global_barrier();
    resizing_global_barrier();
  }
}
