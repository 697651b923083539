// The kernels of suspend.hpp in OpenCL C. A group of a resumed job continues after an offer. So the
// host counts in *resumed how often it has resumed the job. From this count a group knows whether
// it has stayed or starts again.
#include "words.h"

// Values that differ between groups go through local memory: the compiler's checks do not follow
// them there.
kernel void keeps_count(global uint *stop, global uint *latest, global uint *started, global uint *wrong, global uint *resumed) {
  local uint next;
  local uint me;
  transmit uint number = 0;
  transmit uint owner = 0;
  transmit uint times = 0;
  if (get_global_id() == 0) note(started, number);
  while (told(stop) == 0) {
    if (leads()) {
      me = get_group_id();
      next = number + (get_group_id() == 0 ? 1 : 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    owner = me;
    number = next;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_global_id() == 0) atomic_xchg(latest, number);
    offer_kill();
    if (told(resumed) != times) {
      times = told(resumed);
      expect(wrong, owner == 0);
      if (get_global_id() == 0) note(started, number);
    }
  }
}

kernel void prepared_once(global uint *preparations, global uint *present, global uint *not_joined, global uint *stop,
                          global uint *resumed) {
  transmit uint times = 0;
  if (get_group_id() == 0) count(preparations);
  count(present);
  count(not_joined);
  while (told(stop) == 0) {
    offer_kill();
    if (told(resumed) != times) {
      times = told(resumed);
      count(present);
    }
  }
}
