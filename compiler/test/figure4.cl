// Figure 4 of Sorensen, Evrard, Donaldson, "Cooperative Kernels: GPU Multitasking for Blocking Algorithms", FSE 2017:
// graph traversal with resizing barriers. The kernel is the paper's, line by line; the edits are those a compiler forces:
// `void`, `->size` for `.size`, an element accessor (`node[i]`), and definitions of the types and functions it names.

typedef struct {
  global const int *row;     // the edges of node i are column[row[i]] .. column[row[i + 1] - 1]
  global const int *column;
  global int *level_of;      // -1: not reached yet
} graph;

typedef struct {
  int size;
  global int *node;
} nodes;

void process_node(global graph *g, int node, global nodes *out, int level) {
  for (int edge = g->row[node]; edge < g->row[node + 1]; edge++) {
    int next = g->column[edge];
    if (atomic_cmpxchg(&g->level_of[next], -1, level + 1) == -1)
      out->node[atomic_inc(&out->size)] = next;
  }
}

void swap(global nodes **a, global nodes **b) {
  global nodes *c = *a;
  *a = *b;
  *b = c;
}

void reset(global nodes *n) {
  if (get_global_id() == 0) n->size = 0;
}

kernel void graph_app(global graph *g,
       global nodes *n0, global nodes *n1) {
  transmit int level = 0;
  transmit global nodes *in_nodes = n0;
  transmit global nodes *out_nodes = n1;
  while(in_nodes->size > 0) {
    int tid = get_global_id();
    int stride = get_global_size();
    for (int i = tid; i < in_nodes->size; i += stride)
      process_node(g, in_nodes->node[i], out_nodes, level);
    swap(&in_nodes, &out_nodes);
    resizing_global_barrier();
    reset(out_nodes);
    level++;
    resizing_global_barrier();
  }
}
