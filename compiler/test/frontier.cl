// Shortest paths with helpers that return values through pointers: a prefix sum in local memory,
// pushing to and popping from a worklist, and a swap of worklists by address. The condition around
// a barrier depends on such a value.

typedef struct {
  global int *item;
  global atomic_int *size;
} worklist;

int peek(global int *at) { return atomic_load_explicit((global atomic_int *)at, memory_order_relaxed, memory_scope_device); }

int size_of(worklist list) { return atomic_load_explicit(list.size, memory_order_relaxed, memory_scope_device); }

int pop(worklist *list, int at, int *item) {
  if (at >= size_of(*list)) return 0;
  *item = list->item[at];
  return 1;
}

// `before`: the sum over the threads before this one. `all`: the sum over all threads.
void prefix_sum(int mine, local int *sums, int *before, int *all) {
  int id = get_local_id(0);
  sums[id] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < (int)get_local_size(0); step *= 2) {
    int other = id >= step ? sums[id - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[id] += other;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  local int *last = sums + get_local_size(0) - 1;
  *before = sums[id] - mine;
  *all = *last;
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Reserves room in the list for everything the group's threads push.
void make_room(worklist *list, int count, local int *place, int *from) {
  if (get_local_id(0) == 0) *place = atomic_fetch_add_explicit(list->size, count, memory_order_relaxed, memory_scope_device);
  barrier(CLK_LOCAL_MEM_FENCE);
  *from = *place;
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Expands all nodes of a worklist, one per thread and round. The threads push the nodes they have
// found together.
void expand(global const int *row, global const int *target, global const int *weight, global int *distance, worklist *in,
            worklist *out, local int *sums, local int *place) {
  int rounds = (size_of(*in) + (int)get_global_size(0) - 1) / (int)get_global_size(0);
  for (int round = 0; round < rounds; round++) {
    int node, edge = 0, end = 0;
    if (pop(in, round * get_global_size(0) + get_global_id(0), &node)) {
      edge = row[node];
      end = row[node + 1];
    }
    int before, left;
    prefix_sum(end - edge, sums, &before, &left);
    while (left > 0) {  // each thread takes one edge
      bool found = false;
      if (edge < end) {
        int far = peek(&distance[node]) + weight[edge];
        found = far < peek(&distance[target[edge]]) && far < atomic_min(&distance[target[edge]], far);
      }
      int many, from;
      prefix_sum(found, sums, &before, &many);
      if (many > 0) {
        make_room(out, many, place, &from);
        if (found) out->item[from + before] = target[edge];
      }
      if (edge < end) edge++;
      prefix_sum(end - edge, sums, &before, &left);
    }
  }
}

void swap(worklist *a, worklist *b) {
  worklist last = *a;
  *a = *b;
  *b = last;
}

kernel void search(global const int *row, global const int *target, global const int *weight, global int *distance,
                   global int *list0, global int *list1, global atomic_int *size0, global atomic_int *size1) {
  local int sums[64];
  local int place;
  transmit worklist in = {list0, size0};
  transmit worklist out = {list1, size1};
  while (size_of(in) > 0) {
    expand(row, target, weight, distance, &in, &out, sums, &place);
    swap(&in, &out);
    resizing_global_barrier();
    if (get_global_id(0) == 0) atomic_store_explicit(out.size, 0, memory_order_relaxed, memory_scope_device);
    resizing_global_barrier();
  }
}
