// What Lonestar's bfs and sssp share: a group takes a chunk of nodes, prefix-sums their degrees in local memory, and gives its
// threads one edge each; reached nodes go to the next list with one atomic addition per group and round of edges.
#define CHUNK 256

typedef struct {
  global uint *node;
  global uint *size;
} worklist;

// The place in `start` of the node that has edge number `edge`: start[i] <= edge < start[i + 1].
uint node_of(local const uint *start, uint count, uint edge) {
  uint low = 0, high = count;
  while (high - low > 1) {
    uint middle = (low + high) / 2;
    if (start[middle] <= edge) low = middle; else high = middle;
  }
  return low;
}

// Appends the group's nodes, in the order of threads.
void push(global uint *list, global uint *size, bool has, uint node, local uint *base) {
  uint before = work_group_scan_exclusive_add(has ? 1u : 0u);
  uint all = work_group_reduce_add(has ? 1u : 0u);
  if (get_local_id() == 0 && all > 0) *base = atomic_add(size, all);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (has) list[*base + before] = node;
  barrier(CLK_LOCAL_MEM_FENCE);
}
