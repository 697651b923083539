// Particles, transforms, finance, hashes.

__kernel void nbody(__global const float4 *pos, __global const float4 *vel, uint n, float dt, float eps2, __local float4 *local_pos,
                    __global float4 *new_pos, __global float4 *new_vel) {
  uint tid = get_local_id(0);
  uint gid = get_global_id(0);
  uint localSize = get_local_size(0);
  uint numTiles = n / localSize;
  float4 myPos = pos[gid];
  float4 acc = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
  for (uint i = 0; i < numTiles; ++i) {
    uint idx = i * localSize + tid;
    local_pos[tid] = pos[idx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < localSize; ++j) {
      float4 r = local_pos[j] - myPos;
      float distSqr = r.x * r.x + r.y * r.y + r.z * r.z;
      float invDist = 1.0f / sqrt(distSqr + eps2);
      float s = local_pos[j].w * (invDist * invDist * invDist);
      acc += s * r;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float4 oldVel = vel[gid];
  float4 newPos = myPos + oldVel * dt + acc * 0.5f * dt * dt;
  newPos.w = myPos.w;
  new_pos[gid] = newPos;
  new_vel[gid] = oldVel + acc * dt;
}

// One stage of a decimation-in-time FFT. The kernel before has put the input into bit-reversed
// order.
inline float2 complex_product(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__kernel void fft_reverse(__global const float2 *in, __global float2 *out, int bits) {
  uint i = get_global_id(0), r = 0;
  for (int b = 0; b < bits; b++) r |= ((i >> b) & 1) << (bits - 1 - b);
  out[r] = in[i];
}
__kernel void fft_stage(__global float2 *data, int half_size) {
  int id = get_global_id(0);
  int k = id % half_size;
  int even = id / half_size * 2 * half_size + k;
  float angle = -M_PI_F * k / half_size;
  float2 w = (float2)(cos(angle), sin(angle));
  float2 a = data[even], b = complex_product(w, data[even + half_size]);
  data[even] = a + b;
  data[even + half_size] = a - b;
}

float phi(float X) {
  const float c1 = 0.319381530f, c2 = -0.356563782f, c3 = 1.781477937f, c4 = -1.821255978f, c5 = 1.330274429f;
  float absX = fabs(X);
  float t = 1.0f / (1.0f + 0.2316419f * absX);
  float y = 1.0f - 0.398942280f * exp(-X * X / 2.0f) * t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5))));
  return (X < 0.0f) ? (1.0f - y) : y;
}
__kernel void black_scholes(__global const float *price, __global const float *strike, __global float *call, __global float *put_,
                            float years, float rate, float volatility) {
  size_t i = get_global_id(0);
  float S = price[i], K = strike[i];
  float sigmaSqrtT = volatility * sqrt(years);
  float d1 = (log(S / K) + (rate + volatility * volatility / 2.0f) * years) / sigmaSqrtT;
  float d2 = d1 - sigmaSqrtT;
  float KexpMinusRT = K * exp(-rate * years);
  call[i] = S * phi(d1) - KexpMinusRT * phi(d2);
  put_[i] = KexpMinusRT * phi(-d2) - S * phi(-d1);
}

__kernel void monte_carlo_pi(__global uint *hits, uint seed, int samples) {
  uint state = seed ^ (uint)(get_global_id(0) * 747796405u);
  uint inside = 0;
  while (samples--) {
    state = state * 1664525u + 1013904223u;
    uint x = state >> 17;
    state = state * 1664525u + 1013904223u;
    uint y = state >> 17;
    inside += x * x + y * y < (1u << 30);
  }
  atomic_add(hits, inside);
}

__constant uint K[4] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
#define F0(b, c, d) (((b) & (c)) | (~(b) & (d)))
#define F1(b, c, d) ((b) ^ (c) ^ (d))
#define F2(b, c, d) (((b) & (c)) | ((b) & (d)) | ((c) & (d)))
#define ROL(x, n) rotate((uint)(x), (uint)(n))

// SHA-1 of one block per work-item.
__kernel void sha1(__global const uint *blocks, __global uint *digests) {
  uint w[80];
  const size_t id = get_global_id(0);
  for (int t = 0; t < 16; t++) w[t] = blocks[id * 16 + t];
  for (int t = 16; t < 80; t++) w[t] = ROL(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  uint a = 0x67452301, b = 0xEFCDAB89, c = 0x98BADCFE, d = 0x10325476, e = 0xC3D2E1F0;
  for (int t = 0; t < 80; t++) {
    uint f;
    switch (t / 20) {
      case 0: f = F0(b, c, d); break;
      case 2: f = F2(b, c, d); break;
      default: f = F1(b, c, d);
    }
    uint temp = ROL(a, 5) + f + e + w[t] + K[t / 20];
    e = d, d = c, c = ROL(b, 30), b = a, a = temp;
  }
  __global uint *out = digests + id * 5;
  *out++ = a + 0x67452301;
  *out++ = b + 0xEFCDAB89;
  *out++ = c + 0x98BADCFE;
  *out++ = d + 0x10325476;
  *out = e + 0xC3D2E1F0;
}

__kernel void kmeans_assign(__global const float *feature, __global const float *clusters, __global int *membership, int npoints,
                            int nclusters, int nfeatures) {
  unsigned int point_id = get_global_id(0);
  int index = 0;
  if (point_id < npoints) {
    float min_dist = FLT_MAX;
    for (int i = 0; i < nclusters; i++) {
      float ans = 0;
      for (int l = 0; l < nfeatures; l++) {
        float diff = feature[l * npoints + point_id] - clusters[i * nfeatures + l];
        ans += diff * diff;
      }
      if (ans < min_dist) {
        min_dist = ans;
        index = i;
      }
    }
    membership[point_id] = index;
  }
}

// One step of the Haar wavelet transform in local memory.
__kernel void haar(__global const float *in, __global float *out, __local float *shared, int levels) {
  const int lid = get_local_id(0), n = get_local_size(0) * 2, base = get_group_id(0) * n;
  shared[lid] = in[base + lid];
  shared[lid + n / 2] = in[base + lid + n / 2];
  barrier(CLK_LOCAL_MEM_FENCE);
  int active = n / 2;
  for (int i = 0; i < levels; ++i) {
    float a = 0, b = 0;
    if (lid < active) {
      a = shared[2 * lid];
      b = shared[2 * lid + 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < active) {
      out[base + active + lid] = (a - b) * 0.5f;
      shared[lid] = (a + b) * 0.5f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    active >>= 1;
  }
  if (lid == 0) out[base] = shared[0];
}

// The Tausworthe and the linear congruential generator combined, on vectors.
__kernel void hybrid_taus(__global uint4 *state, __global float *out, int rounds) {
  uint4 z = state[get_global_id(0)];
  const uint4 mask = (uint4)(4294967294U, 4294967288U, 4294967280U, 0xffffffff);
  const uint4 left = (uint4)(13, 2, 3, 0), right = (uint4)(19, 25, 11, 0), up = (uint4)(12, 4, 17, 0);
  for (int i = 0; i < rounds; i++) {
    uint last = 1664525u * z.w + 1013904223u;
    uint4 b = ((z << left) ^ z) >> right;
    z = ((z & mask) << up) ^ b;
    z.w = last;
  }
  state[get_global_id(0)] = z;
  out[get_global_id(0)] = 2.3283064365387e-10f * (float)(z.x ^ z.y ^ z.z ^ z.w);
}
