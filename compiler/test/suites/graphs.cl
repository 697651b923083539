// Graphs and dynamic programming.

typedef struct {
  int starting;
  int no_of_edges;
} Node;

__kernel void bfs_visit(const __global Node *g_graph_nodes, const __global int *g_graph_edges, __global char *g_graph_mask,
                        __global char *g_updating_graph_mask, __global char *g_graph_visited, __global int *g_cost,
                        const int no_of_nodes) {
  int tid = get_global_id(0);
  if (tid < no_of_nodes && g_graph_mask[tid]) {
    g_graph_mask[tid] = false;
    for (int i = g_graph_nodes[tid].starting; i < (g_graph_nodes[tid].no_of_edges + g_graph_nodes[tid].starting); i++) {
      int id = g_graph_edges[i];
      if (!g_graph_visited[id]) {
        g_cost[id] = g_cost[tid] + 1;
        g_updating_graph_mask[id] = true;
      }
    }
  }
}
__kernel void bfs_update(__global char *g_graph_mask, __global char *g_updating_graph_mask, __global char *g_graph_visited,
                         __global char *g_over, const int no_of_nodes) {
  int tid = get_global_id(0);
  if (tid < no_of_nodes && g_updating_graph_mask[tid]) {
    g_graph_mask[tid] = true;
    g_graph_visited[tid] = true;
    *g_over = true;
    g_updating_graph_mask[tid] = false;
  }
}

__kernel void floyd_pass(__global uint *pathDistanceBuffer, __global uint *pathBuffer, const unsigned int numNodes,
                         const unsigned int pass) {
  int xValue = get_global_id(0);
  int yValue = get_global_id(1);
  int k = pass;
  int oldWeight = pathDistanceBuffer[yValue * numNodes + xValue];
  int tempWeight = (pathDistanceBuffer[yValue * numNodes + k] + pathDistanceBuffer[k * numNodes + xValue]);
  if (tempWeight < oldWeight) {
    pathDistanceBuffer[yValue * numNodes + xValue] = tempWeight;
    pathBuffer[yValue * numNodes + xValue] = k;
  }
}

__kernel void sssp_relax(__global const int *from, __global const int *to, __global const int *weight, __global int *distance,
                         __global int *changed, int edges) {
  for (int e = get_global_id(0); e < edges; e += get_global_size(0)) {
    int d = distance[from[e]];
    if (d == INT_MAX) continue;
    if (atomic_min(&distance[to[e]], d + weight[e]) > d + weight[e]) *changed = 1;
  }
}

__kernel void rank_pages(__global const int *row, __global const int *column, __global const float *old, __global float *ranks,
                         __global const int *degree, int n, float damping) {
  int v = get_global_id(0);
  if (v >= n) return;
  float sum = 0;
  for (int e = row[v]; e < row[v + 1]; ++e) {
    const int u = column[e];
    sum += old[u] / degree[u];
  }
  ranks[v] = (1 - damping) / n + damping * sum;
}

#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))

// The cheapest path down a grid, a few rows per launch.
__kernel void pathfinder(int iteration, __global const int *wall, __global const int *src, __global int *dst, int cols,
                         __local int *prev, __local int *result) {
  int tx = get_local_id(0), block = get_local_size(0);
  int base = get_group_id(0) * (block - 2 * iteration) - iteration;
  int x = base + tx;
  bool computed = false;
  prev[tx] = IN_RANGE(x, 0, cols - 1) ? src[x] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, block - i - 2) && IN_RANGE(x, 0, cols - 1)) {
      computed = true;
      int left = prev[x > 0 ? tx - 1 : tx];
      int up = prev[tx];
      int right = prev[x < cols - 1 ? tx + 1 : tx];
      result[tx] = min(min(left, up), right) + wall[cols * i + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (computed) dst[x] = result[tx];
}

// An anti-diagonal of the table of Needleman and Wunsch.
__kernel void align_diagonal(__global int *table, __global const char *a, __global const char *b, int n, int diagonal, int penalty) {
  int row = get_global_id(0) + 1, col = diagonal - row;
  if (row > n || col < 1 || col > n) return;
  int same = a[row - 1] == b[col - 1] ? 3 : -1;
#define AT(r, c) table[(r) * (n + 1) + (c)]
  AT(row, col) = max(AT(row - 1, col - 1) + same, max(AT(row - 1, col) - penalty, AT(row, col - 1) - penalty));
}
