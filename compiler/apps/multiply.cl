// The latency-critical task of the paper's section 5: a matrix product whose rows are divided among all threads. Needs no
// primitives, because a task has its groups to itself.
kernel void multiply(global const float *left, global const float *right, global float *product, uint side) {
  for (uint row = get_global_id(); row < side; row += get_global_size()) {
    global float *to = product + (size_t)row * side;
    for (uint j = 0; j < side; j++) to[j] = 0.0f;
    for (uint k = 0; k < side; k++) {
      float factor = left[(size_t)row * side + k];
      global const float *from = right + (size_t)k * side;
      for (uint j = 0; j < side; j++) to[j] += factor * from[j];
    }
  }
}
