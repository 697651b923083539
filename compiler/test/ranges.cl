// Kernels in the style of public suites: they run over a range of work-items, use local memory
// provided by the launch, and do not use the dialect. A few kernels of the dialect use such memory
// too. ranges_test.cpp has the expected results.
#include "common.h"

#define TILE 4

// Transposes a matrix tile by tile. The tile has one extra column, so that its columns start in
// different banks.
__kernel void transpose(__global uint *to, __global const uint *from, uint width, uint height, __local uint *tile) {
  uint x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) tile[get_local_id(1) * (TILE + 1) + get_local_id(0)] = from[y * width + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * TILE + get_local_id(0);
  y = get_group_id(0) * TILE + get_local_id(1);
  if (x < height && y < width) to[y * height + x] = tile[get_local_id(0) * (TILE + 1) + get_local_id(1)];
}

// Each work-item stores its ids.
kernel void who(global ulong *out, global uint *times) {
  size_t linear = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  size_t in_group = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
  ulong right = 1;
  for (uint d = 0; d < 3; d++) {
    right &= get_global_id(d) == get_group_id(d) * get_local_size(d) + get_local_id(d);
    right &= get_global_size(d) == get_num_groups(d) * get_local_size(d);
    right &= get_local_id(d) < get_local_size(d) && get_group_id(d) < get_num_groups(d);
    right &= get_global_offset(d) == 0 && get_enqueued_local_size(d) == get_local_size(d);
  }
  right &= linear == get_global_linear_id() && in_group == get_local_linear_id();
  right &= work_group_broadcast(linear, 0, 0, 0) == linear - get_local_id(0) - get_local_id(1) * get_global_size(0) -
                                                       get_local_id(2) * get_global_size(0) * get_global_size(1);
  out[linear] = right | get_work_dim() << 8 | get_global_size(0) << 16 | get_global_size(1) << 28 | get_global_size(2) << 40;
  atomic_inc(&times[linear]);
}

// The usual tree reduction in local memory, for a size that is not a power of two. Work-items
// beyond the end return early.
kernel void sums(global const uint *in, uint n, global uint *out, local uint *part) {
  uint i = get_global_id(0), l = get_local_id(0);
  part[l] = i < n ? in[i] : 0;
  for (uint half_way = get_local_size(0) / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < half_way) part[l] += part[l + half_way];
  }
  if (l != 0) return;
  out[get_group_id(0)] = part[0];
}

// Changes a parameter, calls a kernel from a kernel, and uses both kinds of local memory.
kernel void scale(global uint *row, uint n, uint by) {
  row += get_global_id(1) * get_global_size(0);
  by = by * 2 + 1;
  if (get_global_id(0) < n) row[get_global_id(0)] *= by;
}
kernel void scale_all(global uint *rows, uint n, uint by, local ushort *seen) {
  local uint base;
  seen[get_local_id(0)] = (ushort)get_local_id(0);
  if (get_local_id(0) == 0) base = by;
  barrier(CLK_LOCAL_MEM_FENCE);
  scale(rows, n, base + seen[get_local_size(0) - 1 - get_local_id(0)] + seen[get_local_id(0)]);
}

// Each work-group reverses its part of a row of pairs by copying it into local memory and back.
kernel void copies(global const uint *from, global uint *to, local uint *plain, local uint *every_second) {
  size_t n = get_local_size(0), first = get_group_id(0) * n * 2;
  event_t done[2];
  done[0] = async_work_group_copy(plain, from + first, n, 0);
  done[1] = async_work_group_strided_copy(every_second, from + first + 1, n - 1, 2, 0);
  wait_group_events(2, done);
  uint l = get_local_id(0);
  uint mine = plain[n - 1 - l] + (l < n - 1 ? every_second[l] : 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  plain[l] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t last = async_work_group_strided_copy(to + first, plain, n, 2, 0);
  last = async_work_group_strided_copy(to + first + 1, plain, n, 2, last);
  wait_group_events(1, &last);
}

// A kernel of the dialect with two local parameters. Each pass uses both, and groups join and
// leave.
kernel void local_parameters(local ushort *shift, global uint *out, uint n, uint rounds, local uint *key) {
  transmit uint r;
  const uint many = 3;
  for (r = 0; r < rounds; r++) {
    for (uint i = get_local_id(); i < many; i += get_local_size()) {
      shift[i] = (ushort)(i * 7);
      key[i] = r - i * 7 + i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    pass(out, n, key[r % many] + shift[r % many] - r % many);
    resizing_global_barrier();
  }
}
