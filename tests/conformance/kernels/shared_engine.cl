// The kernels of shared_engine.hpp in OpenCL C.
#include "words.h"

kernel void slices(global uint *seen, global uint *done) {
  if (leads()) {
    atomic_xchg(seen, (uint)get_num_groups());
    atomic_add(done, 1u << get_group_id());
  }
  global_barrier();
}

kernel void one_goes_on(global uint *stop) {
  while (get_group_id() == 0 && told(stop) == 0) {
    offer_kill();
    request_fork();
  }
}

kernel void slow_to_leave(global uint *stop, global uint *started) {
  count(started);
  if (get_group_id() == 0) hold(stop);
  while (true) offer_kill();
}
