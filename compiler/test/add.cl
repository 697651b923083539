// Input for tests of the command line: adds b to a, a thousand times.
kernel void add(global int *a, global const int *b, uint n) {
  transmit uint r;
  for (r = 0; r < 1000; r++) {
    for (uint i = get_global_id(); i < n; i += get_global_size()) a[i] += b[i];
    resizing_global_barrier();
  }
}
