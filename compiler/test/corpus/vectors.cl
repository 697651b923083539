// Vectors: components, operators, conversions.
#include "corpus.h"

// = 1 2 3 4
kernel void components(global int *out) {
  transmit int4 v = (int4)(1, 2, 3, 4);
  resizing_global_barrier();
  put(out, 0, v.x);
  put(out, 1, v.s1);
  put(out, 2, v.z);
  put(out, 3, v.w);
}

// = 4321 3412 2244
kernel void swizzles(global int *out) {
  transmit int4 v = (int4)(1, 2, 3, 4);
  resizing_global_barrier();
  int4 w = v.wzyx;
  put(out, 0, w.x * 1000 + w.y * 100 + w.z * 10 + w.w);
  w = (int4)(v.hi, v.lo);
  put(out, 1, w.x * 1000 + w.y * 100 + w.z * 10 + w.w);
  w = v.odd.xxyy;
  put(out, 2, w.x * 1000 + w.y * 100 + w.z * 10 + w.w);
}

// = 9 8 3 4
kernel void swizzles_are_written(global int *out) {
  transmit int4 v = (int4)(1, 2, 3, 4);
  resizing_global_barrier();
  v.yx = (int2)(8, 9);
  resizing_global_barrier();
  put(out, 0, v.x);
  put(out, 1, v.y);
  put(out, 2, v.z);
  put(out, 3, v.s3);
}

// = 11 102 13 104
kernel void swizzles_are_added_to(global int *out) {
  transmit int4 v = (int4)(1, 2, 3, 4);
  resizing_global_barrier();
  v.even += 10;
  v.odd += (int2)(100);
  put(out, 0, v.x);
  put(out, 1, v.y);
  put(out, 2, v.z);
  put(out, 3, v.w);
}

// = 5 5 5 7
kernel void built_from_parts(global int *out) {
  transmit int2 two = (int2)(5);
  resizing_global_barrier();
  int4 v = (int4)(two, 5, 7);
  put(out, 0, v.x);
  put(out, 1, v.y);
  put(out, 2, v.z);
  put(out, 3, v.w);
}

// = 6 -4 5 0 1
kernel void arithmetic(global int *out) {
  transmit int2 a = (int2)(1, 10), b = (int2)(5, 2);
  resizing_global_barrier();
  put(out, 0, (a + b).x);
  put(out, 1, (a - b).x);
  put(out, 2, (a / b).y);
  put(out, 3, (a % b).y);
  put(out, 4, (a & b).x);
}

// = 3 20 -1 -10
kernel void scalars_are_widened(global int *out) {
  transmit int2 v = (int2)(1, 10);
  resizing_global_barrier();
  put(out, 0, (v + 2).x);
  put(out, 1, (2 * v).y);
  v = -v;
  put(out, 2, v.x);
  put(out, 3, v.y);
}

// = -1 0 0 -1 1 0
kernel void comparisons_give_minus_one(global int *out) {
  transmit int2 a = (int2)(1, 5), b = (int2)(3, 3);
  resizing_global_barrier();
  int2 less = a < b, more = a > b;
  put(out, 0, less.x);
  put(out, 1, less.y);
  put(out, 2, more.x);
  put(out, 3, more.y);
  put(out, 4, any(less));
  put(out, 5, all(less));
}

// = 3 5
kernel void choices_are_by_component(global int *out) {
  transmit int2 a = (int2)(1, 5), b = (int2)(3, 3);
  resizing_global_barrier();
  int2 v = a > b ? a : b;
  put(out, 0, v.x);
  put(out, 1, v.y);
}

// = 0 -1 -1
kernel void logic_by_component(global int *out) {
  transmit int2 a = (int2)(1, 0), b = (int2)(0, 7);
  resizing_global_barrier();
  put(out, 0, (a && b).x);
  put(out, 1, (a || b).y);
  put(out, 2, (!a).y);
}

// = 4 44 1
kernel void narrow_components_wrap(global int *out) {
  transmit uchar4 v = (uchar4)(250, 200, 1, 0);
  resizing_global_barrier();
  v += (uchar)10;
  put(out, 0, v.x);
  v.y += 90;
  put(out, 1, v.y);
  put(out, 2, v.s2 - 10);
}

// = 44 255 3
kernel void conversions(global int *out) {
  transmit int4 v = (int4)(300, 300, 3, 4);
  resizing_global_barrier();
  uchar4 u = convert_uchar4(v);
  put(out, 0, u.x);
  u = convert_uchar4_sat(v);
  put(out, 1, u.y);
  float4 f = convert_float4(v) / 300.0f * 3.0f;
  put(out, 2, (int)f.x);
}

// = 1065353216 1073741824
kernel void the_same_bits(global int *out) {
  transmit float2 f = (float2)(1.0f, 2.0f);
  resizing_global_barrier();
  int2 v = as_int2(f);
  put(out, 0, v.x);
  put(out, 1, v.y);
}

// = 1 2 3 10
kernel void three_components(global int *out) {
  transmit int3 v = (int3)(1, 2, 3);
  resizing_global_barrier();
  put(out, 0, v.x);
  put(out, 1, v.y);
  put(out, 2, v.z);
  v *= v;
  put(out, 3, v.x + v.z);
}

// = 120 7 8
kernel void sixteen_components(global int *out) {
  transmit int16 v = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  resizing_global_barrier();
  int8 h = v.lo + v.hi;
  int4 q = h.lo + h.hi;
  int2 p = q.lo + q.hi;
  put(out, 0, p.x + p.y);
  put(out, 1, v.s7);
  put(out, 2, v.hi.s0);
}

// = 15 14
kernel void hexadecimal_components(global int *out) {
  transmit uchar16 v = (uchar16)(0);
  resizing_global_barrier();
  v.sF = 15;
  v.se = 14;
  put(out, 0, v.sf);
  put(out, 1, v.sE);
}

// = 6 40 9 1
kernel void loads_and_stores(global int *out) {
  resizing_global_barrier();
  int x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int2 v = vload2(2, x);
  put(out, 0, v.y);
  vstore2(v * (int2)(10, 1) - (int2)(10, 0), 0, x);
  put(out, 1, x[0]);
  vstore4((int4)(9), 1, x);
  put(out, 2, x[7]);
  put(out, 3, vload3(1, x).x == 4);
}

// = 32 3 5
kernel void geometry(global int *out) {
  transmit float4 a = (float4)(1, 2, 3, 0), b = (float4)(4, 5, 6, 0);
  resizing_global_barrier();
  put(out, 0, (int)dot(a, b));
  put(out, 1, (int)-cross(a, b).x);
  put(out, 2, (int)length((float2)(3, 4)));
}

// = 5 -1 8
kernel void functions_by_component(global int *out) {
  transmit int4 v = (int4)(-5, -1, 3, 8);
  resizing_global_barrier();
  put(out, 0, (int)abs(v).x);
  put(out, 1, min(v, 0).y);
  put(out, 2, max(v, (int4)(4)).w);
}

// = 1 20
kernel void select_looks_at_the_sign(global int *out) {
  transmit int2 a = (int2)(1, 2), b = (int2)(10, 20);
  resizing_global_barrier();
  int2 v = select(a, b, (int2)(1, -1));
  put(out, 0, v.x);
  put(out, 1, v.y);
}

// = 2 16 -2
kernel void shifts_by_component(global int *out) {
  transmit int2 v = (int2)(1, 2);
  resizing_global_barrier();
  put(out, 0, (v << 1).x);
  put(out, 1, (v << (int2)(0, 3)).y);
  put(out, 2, (-v >> 1).y - 1);
}

// = 12 7
kernel void vectors_in_arrays(global int *out) {
  resizing_global_barrier();
  int2 x[3] = {(int2)(1, 2), (int2)(3, 4), (int2)(5, 6)};
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += x[i].y;
  put(out, 0, sum);
  x[1].x += x[1].y;
  put(out, 1, x[1].x);
}

typedef struct { int2 at; float4 colour; } dot_t;

// = 7 2
kernel void vectors_in_structs(global int *out) {
  transmit dot_t d = {(int2)(3, 4), (float4)(0.5f)};
  resizing_global_barrier();
  put(out, 0, d.at.x + d.at.y);
  put(out, 1, (int)dot(d.colour, (float4)(1)));
}

int2 swapped(int2 v) { return v.yx; }

// = 2 1
kernel void vectors_to_and_from_functions(global int *out) {
  transmit int2 v = (int2)(1, 2);
  resizing_global_barrier();
  v = swapped(v);
  resizing_global_barrier();
  put(out, 0, v.x);
  put(out, 1, v.y);
}

// = 3 10
kernel void components_are_counted_up(global int *out) {
  transmit int2 v = (int2)(2, 9);
  resizing_global_barrier();
  v.x++;
  ++v.y;
  put(out, 0, v.x);
  put(out, 1, v.y);
}
