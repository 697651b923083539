// Shared by Lonestar's bfs and sssp. A group takes as many nodes as it has threads, adds up their degrees, and gives each
// thread one edge at a time. A group of one thread simply visits all edges.
// An app declares two names before it includes this file: `work`, a struct with row and target, and `reach`, which returns
// whether an edge pushes its target.
#define MOST_THREADS 1024
#define BATCH 64
#define STRETCH 4096

typedef struct {
  global uint *node;
  global uint *size;
} worklist;

// What a group stores about the nodes whose edges its threads share.
typedef struct {
  uint node[MOST_THREADS], first[MOST_THREADS], before[MOST_THREADS];
} chunk;

// The index in `before` of the node to which edge number `edge` belongs.
uint node_of(local const uint *before, uint edge) {
  uint at = 0;
  for (uint step = MOST_THREADS / 2; step > 0; step /= 2) {
    if (at + step < get_local_size() && before[at + step] <= edge) at += step;
  }
  return at;
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

void share_out(work w, global const uint *in, uint count, worklist out, local chunk *chunk) {
  uint me = get_local_id(), degree = 0;
  if (me < count) {
    uint node = in[me];
    chunk->node[me] = node;
    chunk->first[me] = w.row[node];
    degree = w.row[node + 1] - w.row[node];
  }
  uint mine = work_group_scan_exclusive_add(degree);
  chunk->before[me] = mine;
  uint edges = work_group_broadcast(mine + degree, get_local_size() - 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = me; i < edges; i += get_local_size()) {
    uint at = node_of(chunk->before, i);
    uint edge = chunk->first[at] + (i - chunk->before[at]);
    uint next = w.target[edge];
    if (reach(w, chunk->node[at], edge, next)) out.node[atomic_inc(out.size)] = next;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Visits the edges of a list. A short list is spread out, so that each thread has an edge or two. In a longer list, each group
// of one thread takes a contiguous stretch, which keeps neighbours together, unless the list is so long that degrees have to be
// evened out.
void expand(work w, worklist in, worklist out, local chunk *chunk) {
  uint size = *in.size, groups = get_num_groups(), block = 64, even = (size + groups - 1) / groups;
  if (even > block && get_local_size() > 1) block = min(even, max(block, (uint)get_local_size()));
  else if (even > block && even <= STRETCH) block = even;
  for (uint first = get_group_id() * block; first < size; first += groups * block) {
    uint end = min(first + block, size);
    if (get_local_size() == 1) walk(w, in.node + first, end - first, out);
    else for (uint i = first; i < end; i += get_local_size()) {
      share_out(w, in.node + i, min(end - i, (uint)get_local_size()), out, chunk);
    }
  }
}
