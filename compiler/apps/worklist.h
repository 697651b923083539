// What Lonestar's bfs and sssp share. A group takes as many nodes as it has threads, adds up their degrees, and gives its threads
// one edge each; reached nodes go to the next list with one atomic addition for the group. A group of one thread just walks.
// Before this file an app declares `work`, with row and target in it, and `reach`, which tells whether an edge pushes its target.
#define MOST_THREADS 1024
#define BATCH 64

typedef struct {
  global uint *node;
  global uint *size;
} worklist;

// The place in `before` of the node that has edge number `edge`.
uint node_of(local const uint *before, uint edge) {
  uint at = 0;
  for (uint step = MOST_THREADS / 2; step > 0; step /= 2) {
    if (at + step < get_local_size() && before[at + step] <= edge) at += step;
  }
  return at;
}

// Appends the nodes of those threads that have one.
void push(worklist out, bool has, uint node) {
  uint one = has ? 1 : 0, last = get_local_size() - 1;
  uint ahead = work_group_scan_exclusive_add(one);
  uint at = 0;
  if (get_local_id() == last && ahead + one != 0) at = atomic_add(out.size, ahead + one);
  at = work_group_broadcast(at, last);
  if (has) out.node[at + ahead] = node;
}

void append(worklist out, const uint *nodes, uint count) {
  uint at = atomic_add(out.size, count);
  for (uint i = 0; i < count; i++) out.node[at + i] = nodes[i];
}

void walk(work w, global const uint *in, uint count, worklist out) {
  uint found[BATCH], size = 0;
  for (uint i = 0; i < count; i++) {
    if (i + 8 < count) prefetch(&w.row[in[i + 8]], 2);
    if (i + 4 < count) prefetch(&w.target[w.row[in[i + 4]]], 1);
    uint node = in[i];
    for (uint edge = w.row[node], end = w.row[node + 1]; edge < end; edge++) {
      uint next = w.target[edge];
      if (!reach(w, node, edge, next)) continue;
      if (size == BATCH) {
        append(out, found, size);
        size = 0;
      }
      found[size++] = next;
    }
  }
  if (size > 0) append(out, found, size);
}

void share_out(work w, global const uint *in, uint count, worklist out, local uint *nodes, local uint *before) {
  uint me = get_local_id(), degree = 0;
  if (me < count) {
    nodes[me] = in[me];
    degree = w.row[in[me] + 1] - w.row[in[me]];
  }
  uint mine = work_group_scan_exclusive_add(degree);
  before[me] = mine;
  uint edges = work_group_broadcast(mine + degree, get_local_size() - 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint from = 0; from < edges; from += get_local_size()) {
    bool reached = false;
    uint next = 0;
    if (from + me < edges) {
      uint at = node_of(before, from + me);
      uint edge = w.row[nodes[at]] + (from + me - before[at]);
      next = w.target[edge];
      reached = reach(w, nodes[at], edge, next);
    }
    push(out, reached, next);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Visits the edges of a list.
void expand(work w, worklist in, worklist out, local uint *nodes, local uint *before) {
  uint size = *in.size, block = max(64u, (uint)get_local_size());
  for (uint first = get_group_id() * block; first < size; first += get_num_groups() * block) {
    if (get_local_size() == 1) walk(w, in.node + first, min(size - first, block), out);
    else for (uint i = first; i < min(first + block, size); i += get_local_size()) {
      share_out(w, in.node + i, min(size - i, (uint)get_local_size()), out, nodes, before);
    }
  }
}
