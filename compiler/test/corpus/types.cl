// Conversions, structs, unions, enums, arrays and constants.
#include "corpus.h"

// = 44 -106 4464 1 -1
kernel void casts_between_integers(global int *out) {
  transmit int x = 300, y = 150, z = 70000;
  resizing_global_barrier();
  put(out, 0, (uchar)x);
  put(out, 1, (char)y);
  put(out, 2, (ushort)z);
  put(out, 3, (bool)x);
  put(out, 4, (int)(char)(uchar)255);
}

// = 3 -3 1069547520 2
kernel void casts_of_floats(global int *out) {
  transmit float f = 3.75f;
  resizing_global_barrier();
  put(out, 0, (int)f);
  put(out, 1, (int)-f);
  put(out, 2, as_int(1.5f));
  put(out, 3, (int)(float)2.5);
}

// = 255 0 127 44 -128
kernel void conversions_saturate(global int *out) {
  transmit int x = 300;
  resizing_global_barrier();
  put(out, 0, convert_uchar_sat(x));
  put(out, 1, convert_uchar_sat(-x));
  put(out, 2, convert_char_sat(x));
  put(out, 3, convert_uchar(x));
  put(out, 4, convert_char_sat(-1.0e9f));
}

// = -1 255 65535
kernel void assignments_convert(global int *out) {
  transmit int x = -1;
  resizing_global_barrier();
  char c = x;
  uchar u = x;
  ushort s = x;
  put(out, 0, c);
  put(out, 1, u);
  put(out, 2, s);
}

typedef struct {
  char tag;
  int number;
  short pair[2];
} item_t;

// = 1 20 3 4 12
kernel void struct_members(global int *out) {
  transmit item_t item = {1, 2, {3, 4}};
  resizing_global_barrier();
  item.number *= 10;
  resizing_global_barrier();
  put(out, 0, item.tag);
  put(out, 1, item.number);
  put(out, 2, item.pair[0]);
  put(out, 3, item.pair[1]);
  put(out, 4, sizeof(item_t));
}

// = 0 7 0 9
kernel void designated_and_missing_members(global int *out) {
  transmit item_t item = {.number = 7, .pair = {[1] = 9}};
  resizing_global_barrier();
  put(out, 0, item.tag);
  put(out, 1, item.number);
  put(out, 2, item.pair[0]);
  put(out, 3, item.pair[1]);
}

// = 2 5 5
kernel void structs_are_copied(global int *out) {
  transmit item_t a = {1, 2, {0, 0}};
  resizing_global_barrier();
  item_t b = a;
  b.number = 5;
  put(out, 0, a.number);
  put(out, 1, b.number);
  a = b;
  b.number = 6;
  put(out, 2, a.number);
}

// = 8 9
kernel void compound_literals(global int *out) {
  transmit item_t item = {0, 0, {0, 0}};
  item = (item_t){.number = 8, .pair = {9}};
  resizing_global_barrier();
  put(out, 0, item.number);
  put(out, 1, item.pair[0]);
}

struct node {
  int value;
  struct { int low, high; } range;
  item_t items[2];
};

// = 11 3 40 8
kernel void nested_structs(global int *out) {
  transmit struct node n = {1, {2, 3}, {{0, 4}, {0, 5}}};
  resizing_global_barrier();
  n.value += 10;
  n.items[0].number *= 10;
  n.items[1].pair[1] = n.items[1].number + n.range.high;
  resizing_global_barrier();
  put(out, 0, n.value);
  put(out, 1, n.range.high);
  put(out, 2, n.items[0].number);
  put(out, 3, n.items[1].pair[1]);
}

// = 6 7 6
kernel void pointers_to_structs(global int *out) {
  transmit item_t item = {1, 5, {0, 0}};
  resizing_global_barrier();
  item_t *p = &item;
  p->number++;
  (*p).pair[1] = 7;
  put(out, 0, item.number);
  put(out, 1, p->pair[1]);
  int *q = &p->number;
  put(out, 2, *q);
}

typedef union {
  uint word;
  uchar bytes[4];
  float real;
} pun_t;

// = 120 18 1065353216
kernel void unions_share_memory(global int *out) {
  transmit pun_t pun = {.word = 0x12345678};
  resizing_global_barrier();
  put(out, 0, pun.bytes[0]);
  put(out, 1, pun.bytes[3]);
  pun.real = 1.0f;
  put(out, 2, pun.word);
}

typedef enum { SMALL = -1, ZERO, ONE, BIG = 100, BIGGER } size_e;
enum colour { RED, GREEN = 5, BLUE };

// = -1 0 101 6 5
kernel void enumerators_count_up(global int *out) {
  transmit size_e size = SMALL;
  transmit enum colour colour = GREEN;
  resizing_global_barrier();
  put(out, 0, size);
  put(out, 1, ZERO);
  put(out, 2, BIGGER);
  put(out, 3, BLUE);
  put(out, 4, colour);
}

// = 1 2
kernel void enums_in_switches(global int *out) {
  transmit enum colour c = RED;
  transmit int i;
  for (i = 0; i < 2; i++) {
    switch (c) {
      case RED: put(out, 0, 1); c = BLUE; break;
      case GREEN: put(out, 0, 50); break;
      case BLUE: put(out, 1, 2);
    }
    resizing_global_barrier();
  }
}

typedef struct __attribute__((packed)) { char c; int i; } packed_t;
typedef struct __attribute__((aligned(16))) { char c; int i; } aligned_t;

// = 5 16 3 4
kernel void packed_and_aligned(global int *out) {
  transmit packed_t p = {3, 4};
  resizing_global_barrier();
  put(out, 0, sizeof(packed_t));
  put(out, 1, sizeof(aligned_t));
  put(out, 2, p.c);
  put(out, 3, p.i);
}

constant int powers[4] = {1, 10, 100, 1000};
constant float weights[2] = {0.5f, 2.0f};
constant item_t items[2] = {{1, 2, {3, 4}}, {5, 6, {7, 8}}};
constant int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};

// = 100 2 8 6
kernel void constants_of_the_file(global int *out) {
  transmit int i = 1;
  resizing_global_barrier();
  put(out, 0, powers[i + 1]);
  put(out, 1, (int)weights[i]);
  put(out, 2, items[i].pair[1]);
  put(out, 3, rows[i][2]);
}

// = 9 90
kernel void constants_of_the_kernel(global int *out) {
  constant int inside[2] = {9, 90};
  transmit int i = 0;
  resizing_global_barrier();
  put(out, 0, inside[i]);
  put(out, 1, inside[i + 1]);
}

int sum_of_constants(constant int *from, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += from[i];
  return sum;
}

// = 111 1100
kernel void pointers_to_constants(global int *out) {
  resizing_global_barrier();
  put(out, 0, sum_of_constants(powers, 3));
  put(out, 1, sum_of_constants(&powers[2], 2));
}

// = 6 30 2
kernel void arrays_of_arrays(global int *out) {
  resizing_global_barrier();
  int x[2][3] = {{1, 2, 3}, {10}};
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += x[0][i];
  put(out, 0, sum);
  x[1][2] = 20;
  put(out, 1, x[1][0] + x[1][1] + x[1][2]);
  int *row = x[0];
  put(out, 2, row[1]);
}

// = 3 0 12
kernel void partly_initialised_arrays(global int *out) {
  resizing_global_barrier();
  int x[] = {1, 2, 3};
  int y[4] = {3};
  put(out, 0, sizeof(x) / sizeof(x[0]));
  put(out, 1, y[3]);
  put(out, 2, sizeof x);
}

// = 10 3 4
kernel void pointers_walk(global int *out) {
  resizing_global_barrier();
  int x[4] = {1, 2, 3, 4}, sum = 0;
  for (int *p = x; p != x + 4; p++) sum += *p;
  put(out, 0, sum);
  int *q = &x[3];
  q--;
  put(out, 1, *q++);
  put(out, 2, *q);
}

// = 5 6
kernel void pointers_to_pointers(global int *out) {
  resizing_global_barrier();
  int x = 5, y = 6;
  int *p = &x;
  int **pp = &p;
  put(out, 0, **pp);
  *pp = &y;
  put(out, 1, *p);
}

// = 1 255 1 0
kernel void booleans(global int *out) {
  transmit bool b = true;
  resizing_global_barrier();
  put(out, 0, b);
  b = !b;
  put(out, 1, b ? 0 : 255);
  b |= 4;
  put(out, 2, b);
  put(out, 3, b == 4);
}

// = 7
kernel void const_variables(global int *out) {
  const int x = 3;
  resizing_global_barrier();
  const int y = 4;
  put(out, 0, y + 3);
}

// = 2 30
kernel void types_inside_a_kernel(global int *out) {
  typedef struct { int a, b; } mine;
  enum { TWO = 2, THREE };
  resizing_global_barrier();
  mine m = {TWO, THREE * 10};
  put(out, 0, m.a);
  put(out, 1, m.b);
}

// = 1 4
kernel void unsigned_chars_wrap(global int *out) {
  transmit uchar u = 254;
  transmit char c = 2;
  resizing_global_barrier();
  u += 3;
  put(out, 0, u);
  c <<= 1;
  put(out, 1, c);
}
