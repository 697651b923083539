// Corners of C and of OpenCL C: conversions, vectors on the left side, pointers, side effects.
#include "corpus.h"

// = 1 3 0 2 0 8
kernel void min_of_truths(global int *out) {
  transmit int a = 3, b = 5;
  resizing_global_barrier();
  put(out, 0, min((int)a, a < b ? a > 1 : b > 9));
  put(out, 1, max(a, (b, !a)));
  put(out, 2, min(a > b, a < b));
  put(out, 3, abs(a > b ? !a : !b) + 2);
  put(out, 4, select(a == 3, a != 3, a > 1 && b > 1));
  put(out, 5, mad24(a > 1, b, a));
}

// = 128 -128 510 254 -256 1 -255 4080 -1 0 1 1
kernel void char_arithmetic(global int *out) {
  transmit char c = 127;
  transmit uchar u = 255;
  resizing_global_barrier();
  put(out, 0, c + 1);
  c += 1;
  put(out, 1, c);
  put(out, 2, u + u);
  put(out, 3, (uchar)(u + u));
  put(out, 4, ~u);
  put(out, 5, (uchar)~u == 0);
  put(out, 6, -u);
  put(out, 7, u << 4);
  put(out, 8, (char)u >> 1);
  put(out, 9, c == 0x80);
  put(out, 10, c < u);
  put(out, 11, '\xff' == (char)255);
}

// = 1 0 1 0 32767 1 -1 1 -102 32766 -1 1 44
kernel void promotions(global int *out) {
  transmit ushort s = 65535;
  transmit short t = -1;
  transmit uint u = 1;
  resizing_global_barrier();
  put(out, 0, s * 2 > 0);
  put(out, 1, t < u);
  put(out, 2, t < (long)u);
  put(out, 3, s == t);
  put(out, 4, (s + t) / 2);
  put(out, 5, -1 / u > 100);
  put(out, 6, (long)-1 / u);
  put(out, 7, (t ^ s) == -65536);
  put(out, 8, (-7 % 3) * 100 + -7 / 3);
  put(out, 9, (t >> 1) + (s >> 1));
  put(out, 10, 1 ? t : u);
  put(out, 11, (1 ? t : u) > 0);
  put(out, 12, sizeof(s + t) * 10 + sizeof(t ? (char)1 : (char)2));
}

// = 2 1 256 8 2 -128 1256 -4 15 0 -1
kernel void shift_corners(global int *out) {
  transmit int n = 33;
  transmit int minus = -1;
  resizing_global_barrier();
  put(out, 0, 1 << n);
  put(out, 1, 1 << minus == (int)0x80000000);
  put(out, 2, (uchar)1 << 8);
  put(out, 3, (int)(1L << n >> 30));
  uint v = 1;
  v <<= n;
  put(out, 4, v);
  char c = 1;
  c <<= 7;
  put(out, 5, c);
  uchar8 w = (uchar8)(1) << (uchar8)(0, 1, 2, 7, 8, 9, 15, 16);
  put(out, 6, w.s3 + w.s4 * 1000 + w.s6);
  put(out, 7, -8 >> 1);
  put(out, 8, (uint)-8 >> 28);
  ushort x = 0x8000;
  x <<= 1;
  put(out, 9, x);
  put(out, 10, (x - 1) >> 40);
}

// = 21 4312 5512 10532 10932 3102 7 98 10998 2036 1540 266 12025 20 9
kernel void swizzle_targets(global int *out) {
  transmit int4 v = (int4)(1, 2, 3, 4);
  resizing_global_barrier();
  v.xy = v.yx;
  put(out, 0, v.x * 10 + v.y);
  v.wzyx = v;
  put(out, 1, v.x * 1000 + v.y * 100 + v.z * 10 + v.w);
  v.lo += v.hi;
  put(out, 2, v.x * 1000 + v.y * 100 + v.z * 10 + v.w);
  v.s02 *= (int2)(2, 3);
  put(out, 3, v.x * 1000 + v.y * 100 + v.z * 10 + v.w);
  v.odd = v.even - 1;
  put(out, 4, v.x * 1000 + v.y * 100 + v.z * 10 + v.w);
  v.xyz = (int3)(v.w, v.xx);
  put(out, 5, v.x * 1000 + v.y * 100 + v.z * 10 + v.w);
  v.hi.x = 7;
  put(out, 6, v.z);
  v.lo.yx = (int2)(8, 9);
  put(out, 7, v.x * 10 + v.y);
  int4 *p = &v;
  p->zw = p->xy;
  (*p).x++;
  ++p->y;
  put(out, 8, v.x * 1000 + v.y * 100 + v.z * 10 + v.w);
  v.xz <<= (int2)(1, 2);
  put(out, 9, v.x * 100 + v.z);
  v = (int4)(1, 2, 3, 4);
  int i = 1;
  v.lo.y += 3;
  v.hi.y++;
  put(out, 10, v.x * 1000 + v.y * 100 + v.z * 10 + v.w + v.hi[i]);
  v.xy++;
  int2 w = --v.zw;
  put(out, 11, v.x * 100 + v.y * 10 + w.x + w.y);
  v.xy %= 4;
  v.s01 |= 8;
  (v.zwx).yz ^= 1;
  put(out, 12, v.x * 1000 + v.y * 100 + v.z * 10 + v.w);
  int4 whole[2] = {v, v};
  whole[i].lo.hi = 5;
  put(out, 13, whole[1].y + whole[0].y + whole[i].odd.x);
  int3 three = (int3)(1, 2, 3);
  three.hi.x = three.lo.y + 7;
  put(out, 14, three.z);
}

typedef struct { int n; struct { int *p; int q[3]; } in; } holder;
void bump(holder *h, int by) { h->in.p[by] += by; h->in.q[by] = *h->in.p; h->n++; }

// = 21 32 21 23 1 10 1
kernel void pointers_in_structs(global int *out) {
  resizing_global_barrier();
  int cells[3] = {10, 20, 30};
  holder h = {0, {cells, {0}}};
  bump(&h, 1);
  bump(&h, 2);
  holder k = h;
  k.in.p++;
  bump(&k, 0);
  put(out, 0, cells[1]);
  put(out, 1, cells[2]);
  put(out, 2, h.in.q[0] + k.in.q[0]);
  put(out, 3, h.n * 10 + k.n);
  put(out, 4, k.in.p - h.in.p);
  put(out, 5, *--k.in.p);
  put(out, 6, h.in.p == k.in.p);
}

void swap_ints(int *a, int *b) { int t = *a; *a = *b; *b = t; }
int both(int *a, int *b) { *a = 1; *b = 2; return *a; }

// = 65 6 2 1 2 257 131073 4 78
kernel void aliases(global int *out) {
  resizing_global_barrier();
  int x = 5, y = 6;
  swap_ints(&x, &y);
  put(out, 0, x * 10 + y);
  swap_ints(&x, &x);
  put(out, 1, x);
  put(out, 2, both(&x, &x));
  put(out, 3, both(&x, &y));
  float f = 1.0f;
  uint *bits = (uint *)&f;
  *bits += 1 << 23;
  put(out, 4, (int)f);
  uchar *bytes = (uchar *)&x;
  bytes[1] = 1;
  put(out, 5, x);
  ushort2 two = (ushort2)(1, 2);
  put(out, 6, *(uint *)&two);
  int a[4] = {1, 2, 3, 4};
  int4 *v = (int4 *)a;
  put(out, 7, (*v).w);
  *(int2 *)(a + 2) = (int2)(7, 8);
  put(out, 8, a[2] * 10 + a[3]);
}

typedef union { uint all; uchar part[4]; struct { ushort lo, hi; }; float real; } word_t;

// = 4001 772 1 16384 257 257
kernel void unions_and_members(global int *out) {
  transmit word_t w = {0x01020304};
  resizing_global_barrier();
  put(out, 0, w.part[0] * 1000 + w.part[3]);
  put(out, 1, w.lo);
  w.hi = 0x3f80;
  w.lo = 0;
  put(out, 2, (int)w.real);
  word_t v = {.real = 2.0f};
  put(out, 3, v.hi);
  word_t both[2] = {{1}, {.part = {1, 1}}};
  put(out, 4, both[1].all);
  w = both[1];
  put(out, 5, w.lo + w.hi);
}

struct node { int value; struct node *next; };
int sum_of(struct node *n) { int sum = 0; for (; n; n = n->next) sum += n->value; return sum; }

// = 6 18 7 1 1
kernel void linked(global int *out) {
  resizing_global_barrier();
  struct node c = {3, 0}, b = {2, &c}, a = {1, &b};
  put(out, 0, sum_of(&a));
  c.next = 0;
  b.next->value = 10;
  a.next->next->value += 5;
  put(out, 1, sum_of(&a));
  struct node *p = &a;
  (p = p->next)->value = 7;
  put(out, 2, b.value);
  put(out, 3, (&a)->next->next->next == 0);
  put(out, 4, !p->next->next);
}

constant int fib[] = {1, 1, 2, 3, 5, 8, 13};
constant char text[] = "hello";
constant struct { int a; short b[2]; } pair[2] = {{1, {2, 3}}, {4, {5}}};
constant int *constant table_of[2] = {fib, fib + 3};

// = 12 114 53 2 5 5 98 8
kernel void constants_everywhere(global int *out) {
  transmit int i = 2;
  resizing_global_barrier();
  put(out, 0, fib[i + 2] + sizeof(fib) / sizeof(fib[0]));
  put(out, 1, text[i] + sizeof(text));
  put(out, 2, pair[1].b[0] * 10 + pair[1].b[1] + pair[0].b[1]);
  const int local_fib[3] = {fib[0], fib[1], i};
  put(out, 3, local_fib[2] * local_fib[1]);
  constant char *p = text;
  int n = 0;
  while (*p++) n++;
  put(out, 4, n);
  put(out, 5, table_of[1][1]);
  put(out, 6, "abc"[1]);
  put(out, 7, table_of[i - 1][i]);
}

int count_calls(int *n) { return ++*n; }

// = 10 2 21 51 4 6 10 7 14 8 -1
kernel void order_of_effects(global int *out) {
  resizing_global_barrier();
  int n = 0;
  int x = count_calls(&n) > 5 && count_calls(&n) > 0;
  put(out, 0, n * 10 + x);
  x = count_calls(&n) || count_calls(&n);
  put(out, 1, n);
  x = n > 100 ? count_calls(&n) : n--;
  put(out, 2, x * 10 + n);
  int a[3] = {0, 0, 0}, i = 0;
  a[i++] += 5;
  put(out, 3, a[0] * 10 + i);
  a[i++] = 4;
  put(out, 4, a[1]);
  i = (i = 5, i + 1);
  put(out, 5, i);
  for (int j = 0, k = 10; j < k; j += 3, --k) n += j;
  put(out, 6, n);
  do { n--; if (n % 5 == 0) continue; if (n < 3) break; } while (n % 7);
  put(out, 7, n);
  int z = n++ + ++i;
  put(out, 8, z);
  z = -(-n) - -n - - - n;
  put(out, 9, z);
  z = +n - (+i);
  z -= 2;
  put(out, 10, z);
}

#define SQR(x) x * x
#define CAT(a, b) a##b
#define STR(x) #x
#define PICK(a, ...) a + FIRST(__VA_ARGS__, 0)
#define FIRST(x, ...) x

// = 7 4 3 0 1 1 9 802 315 -32513
kernel void macros(global int *out) {
  transmit int CAT(va, lue) = 3;
  resizing_global_barrier();
  put(out, 0, SQR(value + 1));
  put(out, 1, sizeof(STR(abc)));
  put(out, 2, PICK(1, 2, 3));
#if __OPENCL_VERSION__ >= 200
  put(out, 3, 1);
#else
  put(out, 3, 0);
#endif
  put(out, 4, __LINE__ > 10);
#ifdef __OPENCL_C_VERSION__
  put(out, 5, 1);
#endif
#undef value
#define value 9
  put(out, 6, value);
#undef value
  put(out, 7, CHAR_BIT * 100 + (INT_MAX == 2147483647) + (CL_VERSION_1_2 > 1));
  put(out, 8, (int)(M_PI_F * 100) + (FLT_EPSILON < 1e-6f));
  put(out, 9, SHRT_MIN + UCHAR_MAX);
}

typedef int row[3];
int total(row *m, int rows) { int s = 0; for (int i = 0; i < rows; i++) for (int j = 0; j < 3; j++) s = s * 3 + m[i][j]; return s; }

// = 543 57 11 5 212 8 50
kernel void matrices_decay(global int *out) {
  resizing_global_barrier();
  row m[2] = {{1, 2, 3}, {4, 5, 6}};
  put(out, 0, total(m, 2));
  put(out, 1, total(m + 1, 1));
  int (*p)[3] = m;
  put(out, 2, (*(p + 1))[2] + p[0][0] + **(p + 1));
  put(out, 3, &m[1][2] - &m[0][0]);
  put(out, 4, sizeof m / sizeof *m * 100 + sizeof(row));
  int *q = (int *)m;
  put(out, 5, q[4] + 2[q]);
  row *r = &m[0];
  (*r)[1] = 50;
  put(out, 6, m[0][1]);
}

enum colour { red = -1, green, blue = 1 << 4, last = blue + green };
int is_blue(enum colour c) { return c == blue; }

// = -1 116 19 20 2 16 1 1 4
kernel void enums_mix(global int *out) {
  transmit enum colour c = green;
  resizing_global_barrier();
  put(out, 0, c + red);
  c = blue;
  put(out, 1, is_blue(c) * 100 + last);
  c |= 3;
  put(out, 2, c);
  c++;
  put(out, 3, c--);
  switch (c) { case red: put(out, 4, 1); break; case 19: put(out, 4, 2); break; default: put(out, 4, 3); }
  put(out, 5, min((int)c, (int)blue));
  put(out, 6, red < 0);
  enum colour d = -1;
  put(out, 7, d == red);
  put(out, 8, sizeof(c));
}

// = 2221 5 4 1
kernel void duff(global int *out) {
  transmit int n = 7;
  resizing_global_barrier();
  int sum = 0, rounds = (n + 3) / 4;
  switch (n % 4) {
    case 0: do { sum += 1;
    case 3: sum += 10;
    case 2: sum += 100;
    case 1: sum += 1000;
      } while (--rounds > 0);
  }
  put(out, 0, sum);
  switch (n) { int hidden; case 7: hidden = 5; put(out, 1, hidden); }
  switch (n) default: put(out, 2, 4);
  switch ((char)(n + 250)) { case 1: put(out, 3, 1); break; case (char)258: break; default: put(out, 3, 9); }
}

// = 2221
kernel void duff2(global int *out) {
  transmit int n = 7, sum = 0, rounds = 2;
  switch (n % 4) {
    case 0: do { sum += 1; resizing_global_barrier();
    case 3: sum += 10;
    case 2: sum += 100;
    case 1: sum += 1000;
      } while (--rounds > 0);
  }
  put(out, 0, sum);
}

// = 15 4
kernel void point_in_condition_loops(global int *out) {
  transmit int i = 0, j, sum = 0;
  while (i++ < 3) {
    for (j = i; j--;) {
      if (j == 1) continue;
      sum += j * i;
      if (sum > 100) break;
      resizing_global_barrier();
      if (j == 2) { resizing_global_barrier(); continue; }
    }
    do { sum++; resizing_global_barrier(); } while (sum % 3);
  }
  put(out, 0, sum);
  put(out, 1, i);
}

int deep3(int x) { resizing_global_barrier(); return 1; }
int deep2(int x) { int y = deep3(x * 2); return y * 2; }
int deep1(int x) { if (x > 3) return deep2(x); int r = deep2(x + 1); return r; }

// = 7 2
kernel void deep_calls(global int *out) {
  transmit int a = 5, b;
  b = deep1(a);
  a += deep1(1);
  put(out, 0, a);
  put(out, 1, b);
}

// = 0 1 11 1 5 3 4 1 1 1 1 16777216 -9 -111 -10 1
kernel void float_corners(global int *out) {
  transmit float nan_ = NAN, inf = INFINITY, z = -0.0f;
  resizing_global_barrier();
  put(out, 0, nan_ == nan_);
  put(out, 1, !(nan_ < 1) && !(nan_ > 1) && nan_ != nan_);
  put(out, 2, isnan(nan_) + isinf(inf) * 2 + isfinite(inf) * 4 + signbit(z) * 8);
  put(out, 3, z == 0.0f);
  put(out, 4, (int)fmin(nan_, 3.0f) + (int)fmax(2.0f, nan_));
  put(out, 5, inf > 1 ? 3 : 4);
  put(out, 6, nan_ > 1 ? 3 : 4);
  put(out, 7, -inf < z);
  put(out, 8, as_int(z) == 0x80000000);
  put(out, 9, 1 / 3 * 3.0f == 0);
  put(out, 10, (int)(0.1f + 0.2f == 0.3f));
  put(out, 11, (int)((float)16777217));
  put(out, 12, (int)-1.9f * 10 + (int)1.9f);
  float4 v = (float4)(nan_, 1, -inf, z);
  int4 w = v == v;
  put(out, 13, w.x * 1000 + w.y * 100 + w.z * 10 + w.w);
  w = isless(v, (float4)(0));
  put(out, 14, w.x * 1000 + w.y * 100 + w.z * 10 + w.w);
  put(out, 15, any(isnan(v)) + all(v == v) * 2);
}

// = 5021 5091 -1111 9962 355 254 253 -127873 3980 2091 231 550 5016 19 -6 6
kernel void vector_conditions(global int *out) {
  transmit int4 a = (int4)(1, -2, 0, 5);
  resizing_global_barrier();
  int4 b = a > 0 ? a : -a;
  put(out, 0, b.x + b.y * 10 + b.z * 100 + b.w * 1000);
  b = select(a, (int4)(9), a < 0);
  put(out, 1, b.x + b.y * 10 + b.z * 100 + b.w * 1000);
  b = (a && 1) + !a;
  put(out, 2, b.x + b.y * 10 + b.z * 100 + b.w * 1000);
  b = a << 2 >> 1;
  put(out, 3, b.x + b.y * 10 + b.z * 100 + b.w * 1000);
  uchar4 c = convert_uchar4_sat(a * 100);
  put(out, 4, c.x + c.y + c.z + c.w);
  c = convert_uchar4(a);
  put(out, 5, c.y);
  c += (uchar4)(255);
  put(out, 6, c.x * 1000 + c.y);
  char2 d = as_char2((short)0x7f80);
  put(out, 7, d.x * 1000 + d.y);
  b = a;
  b %= 2;
  b ^= a;
  put(out, 8, b.x + b.y * 10 + b.z * 100 + b.w * 1000);
  b = max(a, 1) - min(a, (int4)(0, 1, 2, 3)) * clamp(a, -1, 1);
  put(out, 9, b.x + b.y * 10 + b.z * 100 + b.w * 1000);
  int3 t = (int3)(1, 2, 3);
  t.zxy = t;
  put(out, 10, t.x * 100 + t.y * 10 + t.z);
  t = t.yzx + t.xxx;
  put(out, 11, t.x * 100 + t.y * 10 + t.z + (int)sizeof(t));
  int16 big = (int16)(a, a + 4, a.hi, a.lo, 0, 1, 2, 3);
  put(out, 12, big.sF + big.sa * 10 + big.s8 + big.hi.lo.y * 1000 + big.odd.s7);
  big.even.hi = (int4)(7);
  put(out, 13, big.s8 + big.se + big.s9);
  float2 f = convert_float2(a.xy) / 2;
  put(out, 14, (int)(f.x * 4) + (int)(f.y * 8));
  put(out, 15, (int)dot(f, f) + (int)length((float2)(3, 4)));
}

// = 227 255 172 254001 1 65535 8 8 -3 0 2 2 -2168 629 -78 -6
kernel void conversions_corner(global int *out) {
  transmit float f = 2.5f, g = -2.5f, big = 3e10f;
  resizing_global_barrier();
  put(out, 0, convert_int_rte(f) * 100 + convert_int_rtp(f) * 10 + convert_int_rtn(g));
  put(out, 1, convert_uchar_sat(big));
  put(out, 2, convert_char_sat(-big) + convert_short_sat(300.7f));
  put(out, 3, convert_uchar_sat_rte(254.5f) * 1000 + convert_uchar_sat_rtp(0.1f));
  put(out, 4, convert_int_sat(big) == INT_MAX);
  put(out, 5, convert_uint_sat(-1) + convert_ushort_sat(70000));
  put(out, 6, (int)convert_float_rtz(16777219) - 16777210);
  put(out, 7, (int)convert_float_rtp(16777217) - 16777210);
  put(out, 8, convert_long_rtn(g));
  put(out, 9, (uchar)f + (char)g);
  put(out, 10, convert_int(true) + (int)(bool)0.1f);
  bool b = 256;
  put(out, 11, b + (bool)2);
  put(out, 12, rint(f) + round(f) * 10 + trunc(g) * 100 + ceil(g) * 1000);
  int e;
  float m = frexp(10.0f, &e);
  put(out, 13, (int)(m * 1000) + e);
  float whole, part = modf(-3.75f, &whole);
  put(out, 14, (int)(part * 100) + (int)whole);
  int quo;
  float r = remquo(7.0f, 2.0f, &quo);
  put(out, 15, (int)r * 10 + (quo & 7));
}

// = 3 208 4 2 127 64 0 32767 8 1 -254 4080 -5 128 108 12
kernel void named_operations(global int *out) {
  transmit uint u = 0x80000001;
  resizing_global_barrier();
  put(out, 0, rotate(u, 1u));
  put(out, 1, clz(u >> 8) + popcount(u) * 100);
  put(out, 2, ctz(u << 4));
  put(out, 3, mul_hi(u, 4u));
  put(out, 4, add_sat((char)100, (char)100) - sub_sat((uchar)1, (uchar)2));
  put(out, 5, hadd(u, 3u) >> 24);
  put(out, 6, rhadd((char)-1, (char)0));
  put(out, 7, mad_sat((short)300, (short)300, (short)5));
  put(out, 8, mad_hi(u, 2u, 7u));
  put(out, 9, abs_diff(-2147483647, 2147483647) == 0xfffffffeu);
  put(out, 10, upsample((char)-1, (uchar)2));
  put(out, 11, bitselect(0xf0f0, 0x0ff0, 0xff00));
  put(out, 12, mul24(-3, 5) + mad24(2, 3, 4));
  ulong l = 1;
  put(out, 13, clz(l) + popcount(~l) + (int)(rotate(l, 63ul) >> 62));
  put(out, 14, min((uchar)200, (uchar)100) + max((char)-1, (char)1) + clamp(5, 7, 9));
  put(out, 15, select(1, 2, 0) * 10 + select((char)1, (char)2, (char)-128));
}

typedef struct { int a[3]; uchar b; long c; } mixed;
typedef struct { mixed m[2]; float4 f; char tail; } bigger;
int4 quad(int x) { return (int4)(x, x + 1, x + 2, x + 3); }
static inline int sum4(const int4 v) { return v.x + v.y + v.z + v.w; }
bigger fill(int x) { bigger b = {{{{x, x + 1, x + 2}, 3, 4}}, (float4)(1, 2, 3, 4), 'z'}; b.m[1] = b.m[0]; b.m[1].a[2]++; return b; }

// = 53 2345 127 8 2480 3 9 2 7 49 40 10
kernel void call_results(global int *out) {
  transmit int x = 2;
  resizing_global_barrier();
  put(out, 0, quad(x).y + quad(x).s3 * 10);
  put(out, 1, sum4(quad(x).wzyx * (int4)(1, 10, 100, 1000)));
  put(out, 2, fill(x).m[1].a[2] + fill(1).tail);
  put(out, 3, (int)fill(x).f.wzyx.x + fill(x).m[0].a[x]);
  put(out, 4, sizeof(mixed) * 100 + sizeof(bigger));
  put(out, 5, (x > 1 ? quad(1) : quad(5)).z);
  put(out, 6, ((int4)(1, 2, 3, 4)).hi.y + ((float2)(1.5f, 2.5f)).y * 2);
  put(out, 7, (int)fill(x).f.lo.hi);
  mixed copy[2];
  copy[0] = fill(7).m[0];
  copy[1] = *(copy + 0);
  copy[0].a[0] = 0;
  put(out, 8, copy[1].a[0] + copy[0].a[0]);
  bigger one = fill(3), two = one;
  one.m[0].a[1] = 9;
  put(out, 9, two.m[0].a[1] * 10 + one.m[0].a[1]);
  put(out, 10, (int)((char *)&one.m[1].c - (char *)&one));
  put(out, 11, ((mixed){{1, 2, 3}, 4, 5}).a[1] + ((mixed[2]){{{7}}, {{8}}})[1].a[0]);
}

void twist(int *restrict a, const int *b, int n) { while (n--) *a++ = *b++ * 2; }
int apply(int x, int how) {
  switch (how) {
    case 0: return x;
    case 1: { int y = x; x = 0; return y + x + 1; }
    default: if (how > 5) break;
      for (;; x++) if (x % how == 0) return x;
  }
  return -1;
}

// = 82 -135 11710 53 0 6 9 7 16 9 6 2 5 -32768 -32512 5
kernel void control_oddities(global int *out) {
  resizing_global_barrier();
  int a[4] = {1, 2, 3, 4}, b[4];
  twist(b, a, 4);
  put(out, 0, b[3] * 10 + b[0]);
  put(out, 1, apply(5, 0) + apply(5, 1) * 10 + apply(5, 4) * 100 + apply(5, 9) * 1000);
  int i = 0, n = 0;
  for (; i < 10; i++) {
    if (i & 1) continue;
    switch (i) { case 4: continue; case 6: i += 1; break; case 8: n += 100; break; }
    n += i;
  }

  put(out, 2, n * 100 + i);
  int x = 3;
  { int x = 5; n = x; }
  put(out, 3, n * 10 + x);
  put(out, 4, 0);
  unsigned char c = 250;
  for (n = 0; c >= 250; c++) n++;
  put(out, 5, n);
  int m[2][3] = {{1}, {4, 5}};
  int *p = &m[0][0];
  put(out, 6, p[3] + p[4] + p[1] + m[1][2]);
  p = m[1] - 2;
  put(out, 7, p[2] + (p < m[1]) + (int)(m[1] - p));
  int k = 0;
  k = 4; int q = k * k;
  put(out, 8, q);
  bool t = 3 > 2 == 1;
  t = !t ^ 1;
  put(out, 9, t + (t << 3));
  long big = 1L << 40;
  put(out, 10, (int)(big >> 38) + (big ? 1 : 0) + (int)(big != 0) + !big);
  if (big) n = 1; else n = 2;
  put(out, 11, n + (big && 1));
  ulong u = -1;
  put(out, 12, u > 0 ? (int)(u % 10) : -1);
  short s = 0x7fff;
  s++;
  put(out, 13, s);
  put(out, 14, (short)0xffff8001 + (uchar)-1);
  float f = 0;
  for (f = 0.5f; f < 3; f += 0.75f) n++;
  put(out, 15, n);
}
