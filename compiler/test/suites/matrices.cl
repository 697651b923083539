// Linear algebra as public suites write it: over one or two dimensions, with tiles in local memory.

__kernel void saxpy(const float a, __global const float *restrict x, __global float *restrict y, const int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

__kernel void gemm_naive(__global const float *A, __global const float *B, __global float *C, int M, int N, int K, float alpha,
                         float beta) {
  const int row = get_global_id(1);
  const int col = get_global_id(0);
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
  C[row * N + col] = alpha * acc + beta * C[row * N + col];
}

#define TS 8

__kernel __attribute__((reqd_work_group_size(TS, TS, 1))) void gemm_tiled(__global const float *A, __global const float *B,
                                                                         __global float *C, int N) {
  __local float As[TS][TS];
  __local float Bs[TS][TS];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int row = get_group_id(1) * TS + ty;
  const int col = get_group_id(0) * TS + tx;
  float sum = 0.0f;
  for (int t = 0; t < N / TS; t++) {
    As[ty][tx] = A[row * N + t * TS + tx];
    Bs[ty][tx] = B[(t * TS + ty) * N + col];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < TS; k++) sum += As[ty][k] * Bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  C[row * N + col] = sum;
}

__kernel void gemm_local(__global const float *A, __global const float *B, __global float *C, int width, __local float *a,
                         __local float *b) {
  const int ts = get_local_size(0);
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int t = 0; t < width; t += ts) {
    a[ty * ts + tx] = A[y * width + t + tx];
    b[ty * ts + tx] = B[(t + ty) * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < ts; ++k) sum = mad(a[ty * ts + k], b[k * ts + tx], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  C[y * width + x] = sum;
}

// One row per work-group.
__kernel void gemv(__global const float *A, __global const float *x, __global float *y, uint cols, __local float *partial) {
  uint row = get_group_id(0), lid = get_local_id(0);
  float sum = 0.0f;
  for (uint c = lid; c < cols; c += get_local_size(0)) sum += A[row * cols + c] * x[c];
  partial[lid] = sum;
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < s) partial[lid] += partial[lid + s];
  }
  if (lid == 0) y[row] = partial[0];
}

__kernel void spmv_csr(__global const int *row_ptr, __global const int *columns, __global const float *values,
                       __global const float *x, __global float *y, const int rows) {
  int row = get_global_id(0);
  if (row < rows) {
    float dot = 0;
    int end = row_ptr[row + 1];
    for (int i = row_ptr[row]; i < end; i++) dot += values[i] * x[columns[i]];
    y[row] = dot;
  }
}

// Gaussian elimination with two kernels per column.
__kernel void fan1(__global float *m, __global const float *a, const int size, const int t) {
  int id = get_global_id(0);
  if (id < size - 1 - t) *(m + size * (id + t + 1) + t) = *(a + size * (id + t + 1) + t) / *(a + size * t + t);
}
__kernel void fan2(__global const float *m, __global float *a, __global float *b, const int size, const int t) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < size - 1 - t && y < size - t) {
    a[size * (x + 1 + t) + (y + t)] -= m[size * (x + 1 + t) + t] * a[size * t + (y + t)];
    if (y == 0) b[x + 1 + t] -= m[size * (x + 1 + t) + t] * b[t];
  }
}

typedef float DATA_TYPE;

__kernel void mean_kernel(__global DATA_TYPE *mean, __global const DATA_TYPE *data, DATA_TYPE float_n, int m, int n) {
  int j = get_global_id(0);
  if (j < m) {
    mean[j] = 0.0;
    for (int i = 0; i < n; i++) mean[j] += data[i * m + j];
    mean[j] /= float_n;
  }
}
__kernel void covariance_kernel(__global const DATA_TYPE *mean, __global const DATA_TYPE *data, __global DATA_TYPE *cov, int m,
                                int n) {
  int j1 = get_global_id(0);
  int j2;
  if (j1 < m) {
    for (j2 = j1; j2 < m; j2++) {
      DATA_TYPE sum = 0.0f;
      for (int i = 0; i < n; i++) sum += (data[i * m + j1] - mean[j1]) * (data[i * m + j2] - mean[j2]);
      cov[j1 * m + j2] = cov[j2 * m + j1] = sum;
    }
  }
}
