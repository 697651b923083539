// The kernels of lifecycle.hpp in OpenCL C.
#include "words.h"

// `at` is an Endless::At.
kernel void endless(uint at, global uint *started) {
  local uint first;  // the compiler assumes that all groups read the same from local memory
  if (leads()) first = get_group_id() == 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  count(started);
  while (true) {
    switch (at) {
      case 0:
        offer_kill();
        request_fork();
        break;
      case 1:
        offer_kill();
        break;
      case 2:
        global_barrier();
        break;
      case 3:
        resizing_global_barrier();
        break;
      case 4:  // the others wait there for group 0, which never arrives
        if (first != 0)
          offer_kill();
        else
          global_barrier();
        break;
      case 5:
        request_fork();
        break;
      default:
        query();
    }
  }
}

kernel void offering_then_meeting(global uint *stop, global uint *started) {
  count(started);
  while (told(stop) == 0) {
    offer_kill();
    request_fork();
  }
  global_barrier();
}

kernel void knows_its_id(global uint *wrong, global uint *started) {
  count(started);
  while (true) {
    uint id = get_group_id();
    offer_kill();
    expect(wrong, get_group_id() == id);
    request_fork();
    expect(wrong, get_group_id() < get_num_groups());
  }
}
