// Stencils, and two-dimensional images as buffers.

#define RADIUS 1
#define CLAMP(v, lo, hi) min(max(v, lo), hi)

__kernel void jacobi2d(__global const float *A, __global float *B, int n) {
  int i = get_global_id(1), j = get_global_id(0);
  if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) {
    B[i * n + j] =
        0.25f * (A[i * n + j - 1] + A[i * n + (1 + j)] + A[(1 + i) * n + j] + A[(i - 1) * n + j]);
  }
}

__kernel void stencil3d(const float c0, const float c1, __global const float *A0, __global float *Anext, int nx, int ny, int nz) {
#define Index3D(x, y, z) ((x) + nx * ((y) + ny * (z)))
  int i = get_global_id(0) + 1, j = get_global_id(1) + 1, k = get_global_id(2) + 1;
  if (i < nx - 1) {
    Anext[Index3D(i, j, k)] =
        c1 * (A0[Index3D(i, j, k + 1)] + A0[Index3D(i, j, k - 1)] + A0[Index3D(i, j + 1, k)] + A0[Index3D(i, j - 1, k)] +
              A0[Index3D(i + 1, j, k)] + A0[Index3D(i - 1, j, k)]) -
        A0[Index3D(i, j, k)] * c0;
  }
}

// A tile with its border in local memory.
__kernel void heat_tile(__global const float *in, __global float *out, int width, int height, __local float *tile) {
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int lw = get_local_size(0) + 2 * RADIUS, lh = get_local_size(1) + 2 * RADIUS;
  const int gx = get_group_id(0) * get_local_size(0), gy = get_group_id(1) * get_local_size(1);
  for (int y = ly; y < lh; y += get_local_size(1)) {
    for (int x = lx; x < lw; x += get_local_size(0)) {
      int sx = CLAMP(gx + x - RADIUS, 0, width - 1);
      int sy = CLAMP(gy + y - RADIUS, 0, height - 1);
      tile[y * lw + x] = in[sy * width + sx];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (gx + lx >= width || gy + ly >= height) return;
  __local float *c = tile + (ly + RADIUS) * lw + lx + RADIUS;
  out[(gy + ly) * width + gx + lx] = 0.5f * c[0] + 0.125f * (c[-1] + c[1] + c[-lw] + c[lw]);
}

__kernel void sobel_filter(__global const uchar *in, __global uchar *out, const uint width, const uint height) {
  uint x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1) return;
  int p[3][3];
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) p[dy + 1][dx + 1] = in[(y + dy) * width + (x + dx)];
  int gx = p[0][0] + 2 * p[0][1] + p[0][2] - p[2][0] - 2 * p[2][1] - p[2][2];
  int gy = p[0][0] - p[0][2] + 2 * p[1][0] - 2 * p[1][2] + p[2][0] - p[2][2];
  out[y * width + x] = convert_uchar_sat(abs(gx) + abs(gy));
}

__kernel void box_blur(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  uint4 sum = (uint4)(0);
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      int2 p = clamp(at + (int2)(dx, dy), (int2)(0, 0), (int2)(width - 1, height - 1));
      sum += convert_uint4(in[p.y * width + p.x]);
    }
  }
  out[at.y * width + at.x] = convert_uchar4(sum / 9u);
}

#define BINS 16

__kernel void histogram(__global const uchar *data, uint n, __global uint *bins) {
  __local uint mine[BINS];
  uint lid = get_local_id(0);
  for (uint i = lid; i < BINS; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&mine[data[i] % BINS]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lid; i < BINS; i += get_local_size(0)) atomic_add(&bins[i], mine[i]);
}

inline void order(int *a, int *b) {
  int low = min(*a, *b);
  *b = max(*a, *b);
  *a = low;
}

__kernel void median3x3(__global const uchar *in, __global uchar *out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1), v[9], n = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      v[n++] = in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
  for (int i = 0; i < 5; ++i)
    for (int j = 8; j > i; --j) order(&v[j - 1], &v[j]);
  out[y * width + x] = (uchar)v[4];
}

__kernel void life(__global const uchar *now, __global uchar *next, int size) {
  const int x = get_global_id(0), y = get_global_id(1);
  int alive = 0;
  for (int i = 0; i < 9; i++) {
    if (i == 4) continue;
    alive += now[((y + i / 3 - 1 + size) % size) * size + (x + i % 3 - 1 + size) % size];
  }
  const bool here = now[y * size + x];
  next[y * size + x] = alive == 3 || (alive == 2 && here);
}

// The Mandelbrot set in fixed point, four pixels at a time.
__kernel void mandelbrot(__global int4 *out, int width, int height, int limit) {
  int col = get_global_id(0) * 4, row = get_global_id(1);
  int4 cx = ((col + (int4)(0, 1, 2, 3)) * 3 * 4096) / width - 2 * 4096;
  int4 cy = (int4)(row * 2 * 4096 / height - 4096);
  int4 x = 0, y = 0, count = 0;
  for (int i = 0; i < limit; i++) {
    int4 xx = x * x >> 12, yy = y * y >> 12;
    int4 inside = xx + yy < 4 * 4096;
    if (!any(inside)) break;
    count -= inside;
    int4 xy = x * y >> 11;
    x = inside ? xx - yy + cx : x;
    y = inside ? xy + cy : y;
  }
  out[row * (width / 4) + get_global_id(0)] = count;
}
