// Local and global memory, ids, and functions of a group.
#include "corpus.h"

// = 6
kernel void local_variable(global int *out) {
  local int cell;
  transmit int i, sum = 0;
  for (i = 0; i < 3; i++) {
    if (get_local_id(0) == 0) cell = i + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += cell;
    resizing_global_barrier();
  }
  put(out, 0, sum);
}

// = 30 12
kernel void local_array(global int *out) {
  local int cells[4];
  resizing_global_barrier();
  for (int i = get_local_id(0); i < 4; i += get_local_size(0)) cells[i] = i * i;
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += cells[i] * i - (i == 3 ? 6 : 0);
  put(out, 0, sum);
  put(out, 1, cells[3] + cells[1] + 2);
}

typedef struct { int key; int2 both; } pair_t;

// = 9
kernel void local_struct(global int *out) {
  local pair_t pair;
  resizing_global_barrier();
  if (get_local_id(0) == 0) {
    pair.key = 2;
    pair.both = (int2)(3, 4);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  put(out, 0, pair.key + pair.both.x + pair.both.y);
}

int sum_local(local int *cells, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += cells[i];
  return sum;
}

// = 10
kernel void local_memory_by_pointer(global int *out) {
  local int cells[5];
  resizing_global_barrier();
  if (get_local_id(0) == 0)
    for (int i = 0; i < 5; i++) cells[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  put(out, 0, sum_local(cells, 5));
}

// = 55
kernel void items_of_all_threads(global int *out, global int *items) {
  transmit int i;
  for (i = 0; i < 5; i++) {
    for (int k = get_global_id(0); k < 10; k += get_global_size(0)) items[k] += i == 0 ? k + 1 : 0;
    resizing_global_barrier();
  }
  int sum = 0;
  for (int k = 0; k < 10; k++) sum += items[k];
  put(out, 0, sum);
}

// = 21
kernel void pointers_are_exchanged(global int *out, global int *items) {
  transmit global int *from = items;
  transmit global int *to = items + 6;
  transmit int round;
  for (round = 0; round < 4; round++) {
    for (int k = get_global_id(0); k < 6; k += get_global_size(0))
      to[k] = round == 0 ? k + 1 : from[k];
    resizing_global_barrier();
    global int *keep = from;
    from = to;
    to = keep;
  }
  int sum = 0;
  for (int k = 0; k < 6; k++) sum += from[k];
  put(out, 0, sum);
}

// = 4 1 2 3 4
kernel void global_barrier_orders(global int *out, global int *items) {
  transmit int i;
  for (i = 0; i < 4; i++) {
    if (get_global_id(0) == 0) items[0] = i + 1;
    global_barrier();
    put(out, 1 + i, items[0]);
    resizing_global_barrier();
  }
  put(out, 0, items[0]);
}

// = 8
kernel void one_thread_counts(global int *out, global int *items) {
  transmit int i;
  for (i = 0; i < 8; i++) {
    if (get_global_id() == 0) atomic_inc(items);
    resizing_global_barrier();
  }
  put(out, 0, items[0]);
}

// = 7 5 0 8 3 6 13 1 9 1
kernel void atomics(global int *out, global int *items) {
  resizing_global_barrier();
  if (get_global_id(0) == 0) {
    items[0] = 5;
    items[1] = atomic_add(items, 2);
    items[2] = atomic_max(items + 3, 8);
    items[4] = 9;
    atomic_min(items + 4, 3);
    items[5] = 6;
    atomic_and(items + 5, 12);
    atomic_or(items + 5, 8);
    atomic_xor(items + 5, 1);
    items[6] = atomic_xchg(items + 5, 6);
    items[7] = 9;
    items[8] = atomic_cmpxchg(items + 7, 9, 1);
    items[9] = 3;
    atomic_sub(items + 9, 2);
    atomic_dec(items + 9);
    atomic_inc(items + 9);
  }
  resizing_global_barrier();
  for (int i = 0; i < 10; i++) put(out, i, items[i]);
}

// = 1 4 4
kernel void functions_of_the_group(global int *out) {
  transmit int x = 4;
  resizing_global_barrier();
  put(out, 0, work_group_all(x == 4));
  put(out, 1, work_group_broadcast(x, 0));
  put(out, 2, work_group_reduce_max(x));
}

// = 1
kernel void ids_fit_together(global int *out) {
  resizing_global_barrier();
  const bool fits = get_global_id(0) == get_group_id(0) * get_local_size(0) + get_local_id(0) &&
                    get_global_size(0) == get_num_groups(0) * get_local_size(0) &&
                    get_global_id() < get_global_size() && get_work_dim() == 1;
  put(out, 0, fits);
}
