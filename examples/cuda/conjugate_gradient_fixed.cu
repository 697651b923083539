// Poisson's equation on a square by the method of conjugate gradients, in one kernel. The sums do
// not depend on the number of blocks, so all runs give the same bits.
#include <cooperative_groups.h>

#include <cstdio>
#include <cub/block/block_reduce.cuh>
#include <vector>

constexpr int side = 512, n = side * side, threads = 256, chunk = 512, chunks = n / chunk;

struct Vectors {
  double *x, *r, *p, *q, *partial;
};
struct Progress {
  int step = 0;
  double rr = 0;  // r * r
};

__device__ double laplacian(const double* v, int i) {
  double sum = 4 * v[i];
  if (i % side > 0) sum -= v[i - 1];
  if (i % side < side - 1) sum -= v[i + 1];
  if (i >= side) sum -= v[i - side];
  if (i < n - side) sum -= v[i + side];
  return sum;
}

template <class Grid>
__device__ double dot(const Grid& grid, const double* a, const double* b, double* partial) {
  using Reduce = cub::BlockReduce<double, threads>;
  __shared__ typename Reduce::TempStorage room;
  __shared__ double result;
  for (int c = grid.block_rank(); c < chunks; c += grid.num_blocks()) {
    double mine = 0;
    for (int i = c * chunk + threadIdx.x; i < (c + 1) * chunk; i += threads) mine += a[i] * b[i];
    const double sum = Reduce(room).Sum(mine);
    if (threadIdx.x == 0) partial[c] = sum;
    __syncthreads();
  }
  grid.sync();
  double mine = 0;
  for (int c = threadIdx.x; c < chunks; c += threads) mine += partial[c];
  const double sum = Reduce(room).Sum(mine);
  if (threadIdx.x == 0) result = sum;
  __syncthreads();
  return result;
}

__global__ void solve(Vectors v, int steps) {
  const auto grid = cooperative_groups::this_grid();
  Progress s;
  s.rr = dot(grid, v.r, v.r, v.partial);
  while (s.step < steps) {
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) v.q[i] = laplacian(v.p, i);
    grid.sync();
    const double alpha = s.rr / dot(grid, v.p, v.q, v.partial + chunks);
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) {
      v.x[i] += alpha * v.p[i];
      v.r[i] -= alpha * v.q[i];
    }
    grid.sync();
    const double before = s.rr;
    s.rr = dot(grid, v.r, v.r, v.partial);
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads())
      v.p[i] = v.r[i] + s.rr / before * v.p[i];
    ++s.step;
    grid.sync();
  }
}

int main() {
  int sms = 0, steps = 1000;
  if (cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess) {
    std::puts("SKIPPED: no GPU");
    return 77;
  }
  std::vector<double> x(n), ones(n, 1.0);
  Vectors v{};
  for (double** each : {&v.x, &v.r, &v.p, &v.q, &v.partial}) {
    cudaMalloc(each, n * sizeof(double));
    const auto& values = each == &v.r || each == &v.p ? ones : x;
    cudaMemcpy(*each, values.data(), n * sizeof(double), cudaMemcpyHostToDevice);
  }

  void* arguments[] = {&v, &steps};
  cudaLaunchCooperativeKernel(solve, sms, threads, arguments);

  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(x.data(), v.x, n * sizeof(double), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (const double each : x) sum += each;
  std::printf("%d steps: the middle is %a, the sum %a\n", steps, x[n / 2 + side / 2], sum);
  return 0;
}
