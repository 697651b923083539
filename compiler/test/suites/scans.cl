// Reductions and scans.

__kernel void reduce_sum(__global const int *in, __global int *out, const uint n, __local int *sdata) {
  uint tid = get_local_id(0);
  uint i = get_group_id(0) * (get_local_size(0) * 2) + get_local_id(0);
  sdata[tid] = (i < n) ? in[i] : 0;
  if (i + get_local_size(0) < n) sdata[tid] += in[i + get_local_size(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (tid < s) {
      sdata[tid] += sdata[tid + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (tid == 0) out[get_group_id(0)] = sdata[0];
}

__kernel void min_max(__global const int4 *in, __global int2 *out, uint n, __local int2 *part) {
  uint lid = get_local_id(0);
  int2 best = (int2)(INT_MAX, INT_MIN);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    int4 v = in[i];
    int2 low = min(v.lo, v.hi), high = max(v.lo, v.hi);
    best.x = min(best.x, min(low.x, low.y));
    best.y = max(best.y, max(high.x, high.y));
  }
  part[lid] = best;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0) {
    for (uint i = 1; i < get_local_size(0); i++) {
      best.s0 = min(best.s0, part[i].s0);
      best.s1 = max(best.s1, part[i].s1);
    }
    out[get_group_id(0)] = best;
  }
}

// The Hillis-Steele scan with two buffers.
__kernel void scan_blocks(__global int *a, __global int *r, __global int *sums, __local int *b, __local int *c) {
  uint gid = get_global_id(0);
  uint lid = get_local_id(0);
  uint lsize = get_local_size(0);
  c[lid] = b[lid] = a[gid];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 1; s < lsize; s <<= 1) {
    if (lid > (s - 1))
      c[lid] = b[lid] + b[lid - s];
    else
      c[lid] = b[lid];
    barrier(CLK_LOCAL_MEM_FENCE);
    __local int *tmp = b;
    b = c;
    c = tmp;
  }
  r[gid] = b[lid];
  if (lid == lsize - 1) sums[get_group_id(0)] = b[lid];
}
__kernel void add_sums(__global int *r, __global const int *sums) {
  int before = 0;
  for (uint i = 0; i < get_group_id(0); i++) before += sums[i];
  r[get_global_id(0)] += before;
}

// The Blelloch scan, up and down a tree: exclusive, two items per work-item.
__kernel void scan_tree(__global const uint *in, __global uint *out, __local uint *temp, const int n) {
  int thid = get_local_id(0);
  int offset = 1;
  temp[2 * thid] = in[2 * thid];
  temp[2 * thid + 1] = in[2 * thid + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      uint t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[2 * thid] = temp[2 * thid];
  out[2 * thid + 1] = temp[2 * thid + 1];
}

__kernel void dot_product(__global const float4 *a, __global const float4 *b, __global float *c) {
  int gid = get_global_id(0);
  c[gid] = dot(a[gid], b[gid]);
}

__kernel void compact(__global const int *in, __global int *out, __global int *count, int n, int threshold) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    int v = in[i];
    if (v > threshold) out[atomic_add(count, 1)] = v;
  }
}

// One step of the fast Walsh transform.
__kernel void walsh_step(__global int *t_array, const int step) {
  unsigned int tid = get_global_id(0);
  const unsigned int group = tid % step;
  const unsigned int pair = 2 * step * (tid / step) + group;
  const unsigned int match = pair + step;
  int T1 = t_array[pair];
  int T2 = t_array[match];
  t_array[pair] = T1 + T2;
  t_array[match] = T1 - T2;
}
