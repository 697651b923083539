// Functions of OpenCL C on integers and, where they are exact, on floats.
#include "corpus.h"

// = 3 7 5 0 10
kernel void smaller_and_larger(global int *out) {
  transmit int a = 3, b = 7;
  resizing_global_barrier();
  put(out, 0, min(a, b));
  put(out, 1, max(a, b));
  put(out, 2, clamp(5, a, b));
  put(out, 3, clamp(-5, 0, 10));
  put(out, 4, clamp(50, 0, 10));
}

// = 5 10 255
kernel void absolute_values(global int *out) {
  transmit int a = -5;
  resizing_global_barrier();
  put(out, 0, abs(a));
  put(out, 1, abs_diff(a, 5));
  put(out, 2, abs_diff((char)-128, (char)127));
}

// = 255 0 -128 2147483647
kernel void saturated_sums(global int *out) {
  transmit uchar a = 200;
  transmit int big = 2147483647;
  resizing_global_barrier();
  put(out, 0, add_sat(a, a));
  put(out, 1, sub_sat(a, (uchar)255));
  put(out, 2, sub_sat((char)-100, (char)100));
  put(out, 3, add_sat(big, 1));
}

// = 3 4 -2 -1 200
kernel void averages(global int *out) {
  transmit int a = 3, b = 4;
  resizing_global_barrier();
  put(out, 0, hadd(a, b));
  put(out, 1, rhadd(a, b));
  put(out, 2, hadd(-1, -2));
  put(out, 3, rhadd(-1, -2));
  put(out, 4, hadd((uchar)150, (uchar)250));
}

// = 8 1 129 -2147483648
kernel void rotations(global int *out) {
  transmit uint a = 0x80000000u;
  resizing_global_barrier();
  put(out, 0, rotate(a, 4u));
  put(out, 1, rotate(a, 33u));
  put(out, 2, rotate((uchar)0xC0, (uchar)1));
  put(out, 3, rotate(1, -1));
}

// = 31 7 64 32 3 0
kernel void counted_bits(global int *out) {
  transmit uint a = 1;
  resizing_global_barrier();
  put(out, 0, clz(a));
  put(out, 1, clz((uchar)1));
  put(out, 2, (int)clz(0ul));
  put(out, 3, clz(0));
  put(out, 4, popcount(a + 6) + popcount((char)0));
  put(out, 5, ctz(a));
}

// = 1 0 -1 254
kernel void high_halves(global int *out) {
  transmit uint a = 0x80000000u;
  resizing_global_barrier();
  put(out, 0, mul_hi(a, 2u));
  put(out, 1, mul_hi(3, 4));
  put(out, 2, mul_hi(-1, 1));
  put(out, 3, mul_hi((uchar)255, (uchar)255));
}

// = 14 12
kernel void twenty_four_bits(global int *out) {
  transmit int a = 3;
  resizing_global_barrier();
  put(out, 0, mad24(a, 4, 2));
  put(out, 1, mul24(a, 4));
}

// = 2 1 -22
kernel void selections(global int *out) {
  transmit int a = 1, b = 2;
  resizing_global_barrier();
  put(out, 0, select(a, b, 1));
  put(out, 1, select(a, b, 0));
  put(out, 2, bitselect(-18, 10, 12));
}

// = 3 -4 4 3 -3
kernel void rounded_floats(global int *out) {
  transmit float a = 3.5f;
  resizing_global_barrier();
  put(out, 0, (int)floor(a));
  put(out, 1, (int)floor(-a));
  put(out, 2, (int)ceil(a));
  put(out, 3, (int)trunc(a));
  put(out, 4, (int)trunc(-a));
}

// = 4 2 -4 4
kernel void rounded_to_the_nearest(global int *out) {
  transmit float a = 2.5f;
  resizing_global_barrier();
  put(out, 0, (int)rint(a + 1));
  put(out, 1, (int)rint(a));
  put(out, 2, (int)round(-3.5f));
  put(out, 3, (int)round(a + 1));
}

// = 5 3 2 6
kernel void exact_floats(global int *out) {
  transmit float a = 9;
  resizing_global_barrier();
  put(out, 0, (int)fabs(4 - a));
  put(out, 1, (int)sqrt(a));
  put(out, 2, (int)fmin(a, 2.0f));
  put(out, 3, (int)fma(a, 2.0f, -12.0f));
}

// = 1 0 1 1 0
kernel void kinds_of_floats(global int *out) {
  transmit float a = 1.0f;
  resizing_global_barrier();
  float nothing = (a - 1) / (a - 1);
  put(out, 0, isnan(nothing));
  put(out, 1, isnan(a));
  put(out, 2, isinf(a / (a - 1)));
  put(out, 3, isfinite(a));
  put(out, 4, nothing == nothing);
}

// = 1 -1 12 2
kernel void powers_and_signs(global int *out) {
  transmit float a = 3.0f;
  resizing_global_barrier();
  put(out, 0, (int)sign(a));
  put(out, 1, (int)copysign(1.0f, -a));
  put(out, 2, (int)ldexp(a, 2));
  put(out, 3, (int)fmod(5.0f, a));
}

// = 5 15 1
kernel void mixtures(global int *out) {
  transmit float a = 0.5f;
  resizing_global_barrier();
  put(out, 0, (int)mix(0.0f, 10.0f, a));
  put(out, 1, (int)mad(a, 10.0f, 10.0f));
  put(out, 2, (int)step(0.25f, a));
}

// = 1056964608 100
kernel void bits_of_floats(global int *out) {
  transmit float a = 0.5f;
  resizing_global_barrier();
  put(out, 0, as_int(a));
  put(out, 1, (int)(as_float(0x42c80000)));
}
