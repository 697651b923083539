// Operators: precedence, the operands that are evaluated, and the types of results.
#include "corpus.h"

// = 7 9 1 -1
kernel void precedence_of_arithmetic(global int *out) {
  transmit int a = 1, b = 2, c = 3;
  resizing_global_barrier();
  put(out, 0, a + b * c);
  put(out, 1, (a + b) * c);
  put(out, 2, c - b % c * 1 - (a - a));
  put(out, 3, a - (b - a) - a);
}

// = 6 0 -4 2
kernel void subtraction_and_division_from_the_left(global int *out) {
  transmit int a = 12, b = 4, c = 2;
  resizing_global_barrier();
  put(out, 0, a - b - c);
  put(out, 1, a / (b * 4) / c);
  put(out, 2, a - (b - -c) * c - b);
  put(out, 3, a / (b + c));
}

// = 1 20 7 1
kernel void shifts_and_sums(global int *out) {
  transmit int a = 5, b = 2;
  resizing_global_barrier();
  put(out, 0, a >> b);
  put(out, 1, a << b);
  put(out, 2, (a << 1) - b - 1);
  put(out, 3, a >> b - 1 + 1);
}

// = 0 1 5 7 6
kernel void bits_and_comparisons(global int *out) {
  transmit int a = 5, b = 3;
  resizing_global_barrier();
  put(out, 0, a & b == 0);
  put(out, 1, (a & b) == 1);
  put(out, 2, a & ~2);
  put(out, 3, a | b & 2);
  put(out, 4, a ^ b);
}

// = 1 0 1 0
kernel void chained_comparisons(global int *out) {
  transmit int a = 5, b = 3;
  resizing_global_barrier();
  put(out, 0, a > b > 0);
  put(out, 1, a > b == b > a);
  put(out, 2, 1 < 2 == true);
  put(out, 3, !a == b);
}

// = 1 10 11
kernel void logic_stops_early(global int *out) {
  transmit int n = 0;
  resizing_global_barrier();
  int zero = 0;
  if (zero && n++) n = 100;
  if (!zero || n++) n += 1;
  put(out, 0, n);
  int m = 10;
  (void)(zero && (m = 0));
  put(out, 1, m);
  (void)(zero || (m = 11));
  put(out, 2, m);
}

// = 1 1 0 1
kernel void logic_gives_zero_or_one(global int *out) {
  transmit int a = 7;
  resizing_global_barrier();
  put(out, 0, !!a);
  put(out, 1, a && -1);
  put(out, 2, !a || 0);
  put(out, 3, (a > 2) + (a < 2));
}

// = 2 3 40
kernel void choice_evaluates_one_side(global int *out) {
  transmit int a = 1, b = 1;
  resizing_global_barrier();
  int c = a == b ? a++ : b++;
  put(out, 0, a);
  put(out, 1, a + b);
  put(out, 2, c == 2 ? 10 : a == 1 ? 30 : b == 1 ? 40 : 50);
}

// = 5 6 6 5 5
kernel void before_and_after(global int *out) {
  transmit int a = 5;
  resizing_global_barrier();
  put(out, 0, a++);
  put(out, 1, a);
  put(out, 2, a--);
  put(out, 3, a);
  put(out, 4, ++a - 1);
}

// = 9 4 36 9 1 72 4 4 7 2
kernel void compound_assignments(global int *out) {
  transmit int a = 6;
  resizing_global_barrier();
  int x = a; x += 3; put(out, 0, x);
  x = a; x -= 2; put(out, 1, x);
  x = a; x *= a; put(out, 2, x);
  x /= 4; put(out, 3, x);
  x %= 4; put(out, 4, x);
  x = 9; x <<= 3; put(out, 5, x);
  x >>= 4; put(out, 6, x);
  x = 6; x &= 12; put(out, 7, x);
  x |= 3; put(out, 8, x);
  x ^= 5; put(out, 9, x);
}

// = 44 -2
kernel void compound_assignment_converts(global int *out) {
  transmit uchar byte = 200;
  resizing_global_barrier();
  byte += 100;
  put(out, 0, byte);
  short s = -1;
  s *= 2.5f;
  put(out, 1, s);
}

// = 4 4 8
kernel void assignments_have_values(global int *out) {
  transmit int a, b;
  resizing_global_barrier();
  a = b = 4;
  put(out, 0, a);
  put(out, 1, b);
  put(out, 2, (a = 3) + 5);
}

// = 3 7
kernel void commas(global int *out) {
  transmit int a = 1;
  resizing_global_barrier();
  int b = (a++, a + 1);
  put(out, 0, b);
  put(out, 1, (b = 6, b + 1));
}

// = -5 5 -6 0 1
kernel void prefixes(global int *out) {
  transmit int a = 5;
  resizing_global_barrier();
  put(out, 0, -a);
  put(out, 1, - -a);
  put(out, 2, ~a);
  put(out, 3, !a);
  put(out, 4, - - -a + a + 1);
}

// = -2 -1 2 1 -2
kernel void division_goes_toward_zero(global int *out) {
  transmit int a = -7, b = 3;
  resizing_global_barrier();
  put(out, 0, a / b);
  put(out, 1, a % b);
  put(out, 2, -a / b);
  put(out, 3, -a % b);
  put(out, 4, -a / -b);
}

// = 1 0 1 1
kernel void signed_meets_unsigned(global int *out) {
  transmit int a = -1;
  transmit uint b = 1;
  resizing_global_barrier();
  put(out, 0, a > b);
  put(out, 1, a < (long)b - 3);
  put(out, 2, (uchar)a > (char)1);
  put(out, 3, a / b == 4294967295u);
}

// = 400 -56 65536 -1
kernel void small_types_are_promoted(global int *out) {
  transmit uchar a = 200;
  transmit ushort b = 65535;
  resizing_global_barrier();
  put(out, 0, a + a);
  put(out, 1, (char)(a));
  put(out, 2, b + 1);
  put(out, 3, (short)b);
}

// = 1 -1 7 1
kernel void shifts_keep_the_sign(global int *out) {
  transmit int a = -8;
  transmit uint b = 0x80000000u;
  resizing_global_barrier();
  put(out, 0, b >> 31);
  put(out, 1, a >> 10);
  put(out, 2, (uint)a >> 29);
  put(out, 3, (a >> 3) + 2);
}

// = 2 4 1
kernel void shift_counts_are_taken_modulo_the_width(global int *out) {
  transmit uint count = 33;
  transmit ulong wide = 66;
  resizing_global_barrier();
  put(out, 0, 1u << count);
  put(out, 1, (int)(1ul << wide));
  put(out, 2, (int)(0x80000000u >> (count + 30)));
}

// = 1 65536 0
kernel void longs(global int *out) {
  transmit long a = 1l << 40;
  transmit ulong b = ~0ul;
  resizing_global_barrier();
  put(out, 0, a > 0x7fffffff);
  put(out, 1, (int)(a >> 24));
  put(out, 2, (int)(b + 1));
}

// = 10 97 10 92 0 255
kernel void literals(global int *out) {
  resizing_global_barrier();
  put(out, 0, 012);
  put(out, 1, 'a');
  put(out, 2, '\n');
  put(out, 3, '\\');
  put(out, 4, '\0');
  put(out, 5, 0xFFu);
}

// = 4 8 16 12 1 20
kernel void sizes(global int *out) {
  int a[5];
  resizing_global_barrier();
  short s = 0;
  put(out, 0, sizeof(int));
  put(out, 1, sizeof(long));
  put(out, 2, sizeof(float4));
  put(out, 3, sizeof(int) * 3);
  put(out, 4, sizeof(s) / 2);
  put(out, 5, sizeof a);
}

// = 3 1
kernel void sizeof_does_not_evaluate(global int *out) {
  transmit int a = 3;
  resizing_global_barrier();
  int size = sizeof(a++);
  put(out, 0, a);
  put(out, 1, size == 4);
}

#define SUM 1 + 2
#define TWICE(x) 2 * x

// = 5 7 8
kernel void macros_are_text(global int *out) {
  resizing_global_barrier();
  put(out, 0, SUM * 2);
  put(out, 1, TWICE(SUM) + 3);
  put(out, 2, TWICE(4));
}

// = 210
kernel void a_long_sum(global int *out) {
  transmit int x = 1;
  resizing_global_barrier();
  put(out, 0, x + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20);
}

// = 29
kernel void many_parentheses(global int *out) {
  transmit int x = 2;
  resizing_global_barrier();
  put(out, 0, ((((x + (1)) * ((x))) + ((x * (x)))) * ((3)) - (((1)))));
}

// = 6 0
kernel void indices_either_way(global int *out) {
  resizing_global_barrier();
  int x[4] = {5, 6, 7, 8};
  int *p = x + 1;
  put(out, 0, 0[p]);
  put(out, 1, (int)(p - x) - 1);
}

// = 1 0 1
kernel void truth_of_other_types(global int *out) {
  transmit float f = 0.5f;
  resizing_global_barrier();
  put(out, 0, f && 1);
  bool b = 0.0f;
  put(out, 1, b);
  b = 256;
  put(out, 2, b);
}
