// The kernels of collectives.hpp with the functions of OpenCL C, which reduces and scans only by +,
// min and max, and broadcasts only numbers.
#include "words.h"

#define ROUNDS 3

kernel void broadcasting(global uint *wrong) {
  uint size = get_local_size();
  uint id = get_local_id();
  for (uint round = 0; round < ROUNDS; round++) {
    uint mine = id * 10 + round;
    expect(wrong, work_group_broadcast(mine, 0) == round);
    expect(wrong, work_group_broadcast(mine, size / 2) == size / 2 * 10 + round);
    expect(wrong, work_group_broadcast(mine, size - 1) == (size - 1) * 10 + round);
    expect(wrong, work_group_broadcast((float)id + 0.5f, size - 1) == (float)size - 0.5f);
    expect(wrong, work_group_broadcast((ulong)id << 40, size - 1) == (ulong)(size - 1) << 40);
    expect(wrong, work_group_any(id == size - 1) && work_group_all(id < size));
  }
}

kernel void reducing(global uint *wrong) {
  ulong size = get_local_size();
  ulong id = get_local_id();
  for (uint round = 0; round < ROUNDS; round++) {
    expect(wrong, work_group_reduce_add(id + round) == size * (size - 1) / 2 + round * size);
    expect(wrong, work_group_reduce_max(id) == size - 1);
    expect(wrong, work_group_reduce_min(size - id) == 1);
  }
}

kernel void scanning(global uint *wrong) {
  ulong id = get_local_id();
  for (uint round = 0; round < ROUNDS; round++) {
    ulong before = id * (id - 1) / 2;  // 0 + 1 + ... + (id - 1), correct for id 0 too
    expect(wrong, work_group_scan_inclusive_add(id) == before + id);
    expect(wrong, work_group_scan_exclusive_add(id) == before);
    expect(wrong, work_group_scan_inclusive_max(id) == id);
    expect(wrong, work_group_scan_exclusive_max(id) == (id == 0 ? 0 : id - 1));
  }
}

kernel void claiming(global uint *wrong) {
  local uint counts[2];
  uint id = get_local_id();
  uint even = (get_local_size() + 1) / 2;
  uint odd = get_local_size() / 2;
  if (leads()) counts[0] = counts[1] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint claimed = atomic_inc(&counts[id % 2]);
  barrier(CLK_LOCAL_MEM_FENCE);
  expect(wrong, claimed < (id % 2 == 0 ? even : odd));
  expect(wrong, counts[0] == even && counts[1] == odd);
  uint odd_sum = odd == 0 ? 0 : odd * (odd - 1) / 2;
  expect(wrong, work_group_reduce_add(claimed) == even * (even - 1) / 2 + odd_sum);
}

kernel void using_local_memory(global uint *wrong) {
  local uint cells[1024];
  uint size = get_local_size();
  uint id = get_local_id();
  uint group = get_group_id();
  for (uint round = 0; round < ROUNDS; round++) {
    cells[id] = group * 100000 + id + round;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = (id + 1) % size;
    expect(wrong, cells[other] == group * 100000 + other + round);
    pause_at(wrong, 1);  // lets the other group interfere, if it can
    expect(wrong, cells[id] == group * 100000 + id + round);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

kernel void taking_turns(global uint *wrong) {
  local uint sum;
  uint turns = min((uint)get_local_size(), 40u);
  if (leads()) sum = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint turn = 0; turn < turns; turn++) {
    if (get_local_id() == turn) sum += turn;
    barrier(CLK_LOCAL_MEM_FENCE);
    expect(wrong, sum == turn * (turn + 1) / 2);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

kernel void in_steps(uint steps, global uint *wrong) {
  local ulong sum;
  transmit uint step = 0;
  while (true) {
    ulong size = get_local_size();
    ulong id = get_local_id();
    ulong mine = get_global_id();
    ulong group = get_group_id();
    ulong first = group * size;
    if (leads()) sum = group + step;
    expect(wrong, work_group_reduce_add(mine) == first * size + size * (size - 1) / 2);
    expect(wrong, sum == group + step);
    expect(wrong, work_group_scan_exclusive_add(mine) == first * id + id * (id - 1) / 2);
    global_barrier();
    expect(wrong, sum == group + step);
    step = step + 1;
    if (step == steps) break;
    resizing_global_barrier();
  }
}

// Like Accessing::behaves, for words of one type in one address space.
#define BEHAVES(name, T, space)                                                                                      \
  bool name(volatile space atomic_##T *it) {                                                                         \
    const T below = (T)-2;                                                                                           \
    const T lesser = below < 1 ? below : 1;                                                                          \
    const T greater = below < 1 ? 1 : below;                                                                         \
    const T large = (T)1 << (8 * sizeof(T) - 2);                                                                     \
    T expected = 7;                                                                                                  \
    atomic_store(it, (T)5);                                                                                          \
    bool good = atomic_load(it) == 5;                                                                                \
    good = good && atomic_fetch_add(it, large) == 5 && atomic_fetch_sub(it, large + 7) == large + 5;                 \
    good = good && atomic_load(it) == below && atomic_fetch_min(it, (T)1) == below;                                  \
    good = good && atomic_exchange(it, below) == lesser && atomic_fetch_max(it, (T)1) == below;                      \
    good = good && atomic_exchange(it, large + 7) == greater;                                                        \
    good = good && !atomic_compare_exchange_strong(it, &expected, (T)9) && expected == large + 7;                    \
    good = good && atomic_compare_exchange_strong(it, &expected, large + 9) && atomic_fetch_or(it, (T)6) == large + 9; \
    return good && atomic_fetch_and(it, large + 12) == large + 15 && atomic_load(it) == large + 12;                  \
  }
BEHAVES(int_behaves, int, global)
BEHAVES(uint_behaves, uint, global)
BEHAVES(long_behaves, long, global)
BEHAVES(ulong_behaves, ulong, global)
BEHAVES(local_int_behaves, int, local)
BEHAVES(local_uint_behaves, uint, local)
BEHAVES(local_long_behaves, long, local)
BEHAVES(local_ulong_behaves, ulong, local)

kernel void accessing(global uint *words, global uint *right) {
  local atomic_int number;
  local atomic_uint number_of;
  local atomic_long large_number;
  local atomic_ulong large_number_of;
  if (get_global_id() != 0) return;
  uint good = int_behaves((global atomic_int *)words);
  good += uint_behaves((global atomic_uint *)(words + 1));
  good += long_behaves((global atomic_long *)(words + 2));
  good += ulong_behaves((global atomic_ulong *)(words + 4));
  good += local_int_behaves(&number);
  good += local_uint_behaves(&number_of);
  good += local_long_behaves(&large_number);
  good += local_ulong_behaves(&large_number_of);
  atomic_add(right, good);
}
