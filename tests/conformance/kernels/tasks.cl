// The kernels of tasks.hpp in OpenCL C.
#include "words.h"

kernel void empty_task() {}

kernel void blocking_task(global uint *go) { hold(go); }

kernel void meeting_task(global uint *arrived, global uint *wrong) {
  count(arrived);
  global_barrier();
  expect(wrong, *(volatile global uint *)arrived == get_num_groups());
}

kernel void noting_task(global uint *notes, uint number, uint id) {
  if (leads()) note(notes, id != 0 ? get_group_id() : number);
}

kernel void looking_task(global uint *inside, global uint *others) {
  if (leads()) atomic_add(others, *(volatile global uint *)inside);
}

kernel void monitored_task(global uint *monitor, global uint *calls) {
  if (!leads()) return;
  atomic_max(monitor + 1, atomic_inc(monitor) + 1);
  atomic_add(calls, (uint)get_group_id() + 1);
  atomic_dec(monitor);
}
