// Programs without a `transmit`: compiled with --transmit=live, all and per-thread.
#include "common.h"

kernel void loop_variables(global uint *out, uint n, uint rounds) {
  for (uint r = 0; r < rounds; r += 4) {
    for (uint s = 0; s < 4; s++) {
      pass(out, n, r + s);
      resizing_global_barrier();
    }
  }
}

kernel void arrays(global uint *out, uint n, uint rounds) {
  uint key[3] = {1, 2, 3};
  for (uint r = 0; r < rounds; r++) {
    uint sum = key[0] + key[1] * key[2];
    pass(out, n, sum);
    resizing_global_barrier();
    key[r % 3] = sum % 1000;
  }
}

uint add_up(global uint *out, uint n, uint from, uint to) {
  uint sum = 0;
  for (uint i = from; i < to; i++) {
    pass(out, n, i);
    resizing_global_barrier();
    sum += i;
  }
  return sum;
}

kernel void in_functions(global uint *out, uint n, uint rounds) {
  uint total = 0;
  for (uint r = 0; r < rounds; r += 3) {
    uint more = add_up(out, n, r, r + 3);
    total += more;
  }
  pass(out, n, total);
}
