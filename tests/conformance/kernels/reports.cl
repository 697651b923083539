// The kernels of reports.hpp in OpenCL C.
#include "words.h"

kernel void busy(global uint *stop, global uint *idle) {
  hold(idle);
  while (told(stop) == 0) {
    offer_kill();
    request_fork();
  }
}
