// Sorts.

__kernel void bitonic_step(__global uint *keys, const uint stage, const uint pass, const uint direction) {
  uint sortIncreasing = direction;
  uint threadId = get_global_id(0);
  uint pairDistance = 1 << (stage - pass);
  uint blockWidth = 2 * pairDistance;
  uint leftId = (threadId % pairDistance) + (threadId / pairDistance) * blockWidth;
  uint rightId = leftId + pairDistance;
  uint leftElement = keys[leftId];
  uint rightElement = keys[rightId];
  uint sameDirectionBlockWidth = 1 << stage;
  if ((threadId / sameDirectionBlockWidth) % 2 == 1) sortIncreasing = 1 - sortIncreasing;
  uint greater, lesser;
  if (leftElement > rightElement) {
    greater = leftElement;
    lesser = rightElement;
  } else {
    greater = rightElement;
    lesser = leftElement;
  }
  if (sortIncreasing) {
    keys[leftId] = lesser;
    keys[rightId] = greater;
  } else {
    keys[leftId] = greater;
    keys[rightId] = lesser;
  }
}

inline void compare_and_swap(__local uint *a, __local uint *b, bool up) {
  if ((*a > *b) == up) {
    uint t = *a;
    *a = *b;
    *b = t;
  }
}

__kernel void bitonic_local(__global uint *data, __local uint *l_key) {
  const uint size = 2 * get_local_size(0);
  const uint lid = get_local_id(0);
  __global uint *mine = data + get_group_id(0) * size;
  l_key[lid] = mine[lid];
  l_key[lid + size / 2] = mine[lid + size / 2];
  for (uint width = 2; width <= size; width <<= 1) {
    bool up = (lid & (width / 2)) == 0;
    for (uint stride = width / 2; stride > 0; stride >>= 1) {
      barrier(CLK_LOCAL_MEM_FENCE);
      uint pos = 2 * lid - (lid & (stride - 1));
      compare_and_swap(&l_key[pos], &l_key[pos + stride], up);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  mine[lid] = l_key[lid];
  mine[lid + size / 2] = l_key[lid + size / 2];
}

__kernel void odd_even_step(__global int *a, int n, int odd) {
  int i = 2 * get_global_id(0) + odd;
  if (i + 1 >= n) return;
  if (a[i] > a[i + 1]) {
    int t = a[i];
    a[i] = a[i + 1], a[i + 1] = t;
  }
}

#define RADIX_BITS 4
#define RADIX (1 << RADIX_BITS)

// A radix sort by one digit: counts each digit, then places the keys.
__kernel void radix_count(__global const uint *keys, __global uint *counts, int n, int shift) {
  __local uint digits[RADIX];
  int lid = get_local_id(0);
  if (lid < RADIX) digits[lid] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_global_id(0);
  if (i < n) atomic_inc(&digits[(keys[i] >> shift) & (RADIX - 1)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < RADIX) counts[lid * get_num_groups(0) + get_group_id(0)] = digits[lid];
}
__kernel void radix_scatter(__global const uint *keys, __global uint *sorted, __global const uint *starts, int n, int shift,
                            __local uint *all) {
  int lid = get_local_id(0), i = get_global_id(0);
  all[lid] = i < n ? (keys[i] >> shift) & (RADIX - 1) : ~0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    uint before = 0;
    for (int k = 0; k < lid; k++) before += all[k] == all[lid] ? 1 : 0;
    sorted[starts[all[lid] * get_num_groups(0) + get_group_id(0)] + before] = keys[i];
  }
}

__kernel void rank_sort(__global const int *in, __global int *out, int n) {
  int i = get_global_id(0);
  int key = in[i], rank = 0;
  for (int j = 0; j < n; j++) {
    bool smaller = (in[j] < key) || (in[j] == key && j < i);
    rank += smaller ? 1 : 0;
  }
  out[rank] = key;
}
