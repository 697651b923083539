// Every built-in function of floats, on every input. Also conversions, constants, and functions of
// integers.
#pragma clang diagnostic ignored "-Wconstant-logical-operand"
#ifndef REAL
#define REAL float
#define REAL4 float4

#endif

// Return one of the results of functions that have two.
REAL fraction(REAL x) { REAL whole; return fract(x, &whole); }
REAL whole(REAL x) { REAL whole; fract(x, &whole); return whole; }
REAL significand(REAL x) { int exponent; return frexp(x, &exponent); }
REAL remaining(REAL x) { REAL whole; return modf(x, &whole); }
REAL cosine(REAL x) { REAL it; sincos(x, &it); return it; }
REAL remquo_rest(REAL x, REAL y) { int bits; return remquo(x, y, &bits); }
REAL remquo_bits(REAL x, REAL y) { int bits; remquo(x, y, &bits); return bits; }

// out[f * n + i] is the f-th function of x[i] and y[i].
kernel void all_floats(global const REAL *x, global const REAL *y, global const int *k, global REAL *out, uint n) {
  uint i = get_global_id(0);
  out += i;
#define ONE(name, ulp, ulp64) *out = name(x[i]); out += n;
#define TWO(name, ulp, ulp64) *out = name(x[i], y[i]); out += n;
#define WITH_INT(name, ulp, ulp64) *out = name(x[i], k[i]); out += n;
#define RELATION(name) *out = name(x[i]); out += n;
#define RELATION_TWO(name) *out = name(x[i], y[i]); out += n;
#include "functions.def"
}

// The same functions on vectors. Only the second component is stored; results must be the same.
kernel void all_vectors(global const REAL *x, global const REAL *y, global const int *k, global int *same, uint n) {
  uint i = get_global_id(0);
  const REAL4 a = (REAL4)(0.5f, x[i], 1, 2), b = (REAL4)(1, y[i], 2, 3);
  const int4 c = (int4)(1, k[i], 2, 3);
  int all_same = 1;
#define SAME(p, q) all_same &= (p) == (q) || ((p) != (p) && (q) != (q));
#define RELATION(name) all_same &= (name(a).y == -1) == (name(x[i]) == 1) && (name(a).y == 0) == (name(x[i]) == 0);
#define RELATION_TWO(name) all_same &= (name(a, b).y == -1) == (name(x[i], y[i]) == 1);
#include "functions.def"
  SAME(sinpi(a).y, sinpi(x[i]))
  SAME(acosh(a).y, acosh(x[i]))
  SAME(exp10(a).y, exp10(x[i]))
  SAME(lgamma(a).y, lgamma(x[i]))
  SAME(nextafter(a, b).y, nextafter(x[i], y[i]))
  SAME(powr(a, b).y, powr(x[i], y[i]))
  SAME(pown(a, c).y, pown(x[i], k[i]))
  SAME(rootn(a, c).y, rootn(x[i], k[i]))
  SAME(ldexp(a, c).y, ldexp(x[i], k[i]))
  SAME(ldexp(a, k[i]).y, ldexp(x[i], k[i]))
  SAME(fmax(a, y[i]).y, fmax(x[i], y[i]))
  SAME(smoothstep((REAL)0, (REAL)2, a).y, smoothstep((REAL)0, (REAL)2, x[i]))
  SAME(step(y[i], a).y, step(y[i], x[i]))
  REAL4 r4;
  REAL r;
  int4 e4;
  int e;
  SAME(fract(a, &r4).y, fract(x[i], &r))
  SAME(r4.y, r)
  SAME(modf(a, &r4).y, modf(x[i], &r))
  SAME(r4.y, r)
  SAME(sincos(a, &r4).y, sincos(x[i], &r))
  SAME(r4.y, r)
  SAME(frexp(a, &e4).y, frexp(x[i], &e))
  SAME(e4.y, e)
  SAME(remquo(a, b, &e4).y, remquo(x[i], y[i], &e))
  SAME(e4.y, e)
  SAME(lgamma_r(a, &e4).y, lgamma_r(x[i], &e))
  SAME(ilogb(a).y, ilogb(x[i]))
  same[i] = all_same;
}

// lgamma has no error bound in the specification; ilogb returns integers.
kernel void special(global const REAL *x, global REAL *gamma, global int *sign, global int *exponent, uint n) {
  uint i = get_global_id(0);
  gamma[i] = lgamma_r(x[i], &sign[i]);
  exponent[i] = ilogb(x[i]);
}

kernel void conversions(global const float *x, global const long *whole, global int *ints, global float *floats, global uchar *bytes,
                        uint n) {
  uint i = get_global_id(0);
  ints[i * 5] = convert_int(x[i]);
  ints[i * 5 + 1] = convert_int_rte(x[i]);
  ints[i * 5 + 2] = convert_int_rtz(x[i]);
  ints[i * 5 + 3] = convert_int_rtp(x[i]);
  ints[i * 5 + 4] = convert_int_rtn(x[i]);
  floats[i * 5] = convert_float(whole[i]);
  floats[i * 5 + 1] = convert_float_rte(whole[i]);
  floats[i * 5 + 2] = convert_float_rtz(whole[i]);
  floats[i * 5 + 3] = convert_float4_rtp((long4)(whole[i])).z;
  floats[i * 5 + 4] = convert_float_rtn(whole[i]);
  bytes[i * 2] = convert_uchar_sat_rte(x[i]);
  bytes[i * 2 + 1] = convert_uchar4_sat((float4)(x[i])).w;
}

// All half values, and floats close to them.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halfs(global const half *h, global const float *x, global float *wide, global half *near, global half *sum) {
  uint i = get_global_id(0);
  wide[i] = vload_half(i, h);
  vstore_half(x[i], i * 5, near);
  vstore_half_rtz(x[i], i * 5 + 1, near);
  vstore_half_rtp(x[i], i * 5 + 2, near);
  // Only the first element stays: this work-item and the next one overwrite the others.
  vstore_half4_rtn((float4)(x[i]), 0, near + i * 5 + 3);
  near[i * 5 + 4] = convert_half(x[i]);
  half a = h[i], b = h[(i * 77) & 0xffff];
  half4 v = (half4)(a, b, 1.5h, 0);
  v = v * v.yxwz + (half4)(1);
  sum[i * 4] = a + b;
  sum[i * 4 + 1] = v.x;
  a /= b;
  sum[i * 4 + 2] = a;
  a += 0.1f;
  sum[i * 4 + 3] = -a;
}

// Constants of all kinds. Each line must store 1.
enum { eight = 8 };
const int table[3] = {1, 2, eight};
const float half_of_table = 0.5f;
kernel void constants(global int *right, global const int *zero) {
  const float limit[2] = {INFINITY, -INFINITY};
  global int *to = right;
  *to++ = limit[0] > FLT_MAX && -limit[1] == limit[0] && isinf(HUGE_VALF);
  *to++ = NAN != NAN && isnan(nan(5u)) && isnan(NAN);
  *to++ = table[zero[0] + 2] == eight && table[zero[0]] == 1 && half_of_table == 0.5f;
  *to++ = __builtin_popcount(0xf0u) == 4 && __builtin_fabsf(-2.0f) == 2.0f;
  *to++ = ilogb(0.0f) == FP_ILOGB0 && ilogb(NAN) == FP_ILOGBNAN && ilogb(8.0f) == 3;
  *to++ = fabs(M_PI_F - 4 * atan(1.0f)) < 1e-6f && MAXFLOAT == FLT_MAX && INT_MAX == 2147483647 && UCHAR_MAX == 255;
  *to++ = isinf((double)INFINITY) && HUGE_VAL > DBL_MAX;
  *to++ = get_global_id(3) == 0 && get_global_size(3) == 1 && get_local_size(3) == 1 && get_num_groups(4) == 1;
  // functions of integers
  *to++ = upsample((uchar)0x12, (uchar)0x34) == 0x1234 && upsample((char)-1, (uchar)0xfe) == -2;
  *to++ = upsample((int)1, 2u) == 0x100000002l && upsample(3u, 4u) == 0x300000004ul;
  *to++ = mad_sat(INT_MAX, 2, 1) == INT_MAX && mad_sat(INT_MIN, 2, 1) == INT_MIN && mad_sat(3u, 4u, 5u) == 17u;
  *to++ = mad_sat(ULONG_MAX, 2ul, 1ul) == ULONG_MAX && mad_sat(LONG_MIN, 2l, 0l) == LONG_MIN && mad_sat(-4l, 2l, 1l) == -7l;
  *to++ = mul_hi(ULONG_MAX, ULONG_MAX) == ULONG_MAX - 1 && mul_hi(-1l, 1l) == -1l && mad_hi((int4)(1 << 30), (int4)(8), (int4)(1)).y == 3;
  *to++ = all(shuffle((int4)(10, 11, 12, 13), (uint4)(3, 2, 5, 0)) == (int4)(13, 12, 11, 10));
  *to++ = all(shuffle2((int2)(10, 11), (int2)(12, 13), (uint4)(3, 2, 5, 0)) == (int4)(13, 12, 11, 10));
  *to++ = bitselect(1.0f, -2.0f, as_float(0x80000000)) == -1.0f && select(1.0f, 2.0f, 1) == 2.0f;
  *to++ = any((int2)(0, -1)) && !all((int2)(0, -1)) && native_recip(4.0f) == 0.25f && half_divide(1.0f, 4.0f) == 0.25f;
  // Array literals, constant arrays behind pointers, volatile structures.
  int *literal = (int[]){3, 4, zero[0] + 5};
  *to++ = literal[0] + literal[1] + literal[2] == 12 && sizeof((int[]){1, 2}) == 8;
  volatile int4 v = (int4)(1, 2, 3, 4);
  int4 w = v;
  v = w + 1;
  v.y = 7;
  *to++ = v.x == 2 && v.y == 7 && all(v.zw == (int2)(4, 5));
  struct pair { int a; char b; } one = {1, 2};
  volatile struct pair two = one;
  two = one;
  one = two;
  *to++ = one.a == 1 && one.b == 2 && two.b == 2;
}
constant int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
int sum_of(constant int (*m)[3]) { return m[0][0] + m[1][2]; }
kernel void constant_argument(constant int (*m)[3], global int *right) { right[0] = m[1][1] == 5 && sum_of(rows) == 7; }

// Each work-item of a group of any size stores what its sub-group functions return.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void sub_groups(global uint *out) {
  uint l = get_local_id(0), size = get_sub_group_size(), mine = get_sub_group_local_id();
  uint first = get_sub_group_id() * get_max_sub_group_size(), last = first + size - 1;
  uint sum = 0;
  for (uint i = first; i <= last; i++) sum += i * i;
  uint before = 0;
  for (uint i = first; i < l; i++) before += i * i;
  uint right = l == first + mine && mine < size && size <= get_max_sub_group_size();
  right &= get_num_sub_groups() == (get_local_size(0) + get_max_sub_group_size() - 1) / get_max_sub_group_size();
  right &= sub_group_reduce_add(l * l) == sum;
  right &= sub_group_reduce_min(l) == first;
  right &= sub_group_reduce_max(l) == last;
  right &= sub_group_scan_exclusive_add(l * l) == before;
  right &= sub_group_scan_inclusive_add(l * l) == before + l * l;
  right &= sub_group_scan_exclusive_min(l) == (mine == 0 ? UINT_MAX : first);
  right &= sub_group_scan_exclusive_max((float)l) == (mine == 0 ? -INFINITY : (float)(l - 1));
  right &= sub_group_scan_inclusive_max(l) == l;
  right &= sub_group_broadcast(l, size - 1) == last;
  int any = sub_group_any(l == last), none = sub_group_any(0), all = sub_group_all(1), not_all = sub_group_all(l != last);
  right &= any && !none && all && !not_all;
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = right;
}
