// Functions: those with points are written in place of their calls, the others are called.
#include "corpus.h"

void step(void) { resizing_global_barrier(); }

// = 3
kernel void statement(global int *out) {
  transmit int i;
  for (i = 0; i < 3; i++) step();
  put(out, 0, i);
}

int next(int x) {
  if (x == 100) return 0;
  resizing_global_barrier();
  return 1;
}

// = 4
kernel void value_is_assigned(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 4; i++) {
    int one;
    one = next(i);
    n += one;
  }
  put(out, 0, n);
}

// = 5
kernel void value_initialises(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 5; i++) {
    int one = next(i);
    n += one;
  }
  put(out, 0, n);
}

int passes_on(int x) { return next(x); }

// = 2
kernel void value_is_returned(global int *out) {
  transmit int n;
  n = passes_on(7);
  n += 1;
  resizing_global_barrier();
  put(out, 0, n);
}

int sign_of(int x) {
  if (x < 0) {
    resizing_global_barrier();
    return -1;
  }
  if (x > 0) {
    resizing_global_barrier();
    resizing_global_barrier();
    return 1;
  }
  return 0;
}

// = -1 0 1
kernel void returns_from_branches(global int *out) {
  transmit int i;
  for (i = -1; i <= 1; i++) {
    int sign = sign_of(i);
    put(out, i + 1, sign);
  }
}

// = 3
kernel void value_is_not_used(global int *out) {
  transmit int i;
  for (i = 0; i < 3; i++) sign_of(i - 1);
  put(out, 0, i);
}

int first_of(global int *out, int which) {
  switch (which) {
    case 0: resizing_global_barrier(); return 10;
    case 1: return 20;
    default: break;
  }
  resizing_global_barrier();
  return 30;
}

// = 10 20 30
kernel void returns_from_a_switch(global int *out) {
  transmit int i;
  for (i = 0; i < 3; i++) {
    int value;
    value = first_of(out, i);
    put(out, i, value);
  }
}

void twice(void) {
  step();
  step();
}
void four_times(void) {
  twice();
  { twice(); }
}

// = 8
kernel void functions_in_functions(global int *out) {
  transmit int i;
  four_times();
  for (i = 0; i < 8; i++) four_times();
  put(out, 0, i);
}

// = 1 2
kernel void called_in_both_branches(global int *out) {
  transmit int i;
  for (i = 0; i < 2; i++) {
    int x;
    if (i == 0) x = sign_of(5);
    else x = sign_of(-5);
    put(out, i, x < 0 ? 2 : x);
  }
}

int counts_down(int n) {
  int steps = 0;
  while (n > 0) {
    n -= 3;
    steps++;
  }
  return steps * 10 - n;
}

// = 42 7
kernel void parameters_are_variables(global int *out) {
  transmit int n = 10;
  resizing_global_barrier();
  put(out, 0, counts_down(n));
  put(out, 1, n - 3);
}

int square(int x) { return x * x; }

// = 81 17
kernel void calls_as_arguments(global int *out) {
  transmit int x = 3;
  resizing_global_barrier();
  put(out, 0, square(square(x)));
  put(out, 1, square(square(2)) + square(1));
}

// = 9 25
kernel void arguments_without_parentheses(global int *out) {
  transmit int x = 2;
  resizing_global_barrier();
  put(out, 0, square(1 + 2));
  put(out, 1, square(x + 3));
}

uchar narrow(uchar x) { return x + 1; }
float half_of(float x) { return x / 2; }
bool odd(int x) { return x & 1; }
long widen(short x) { return x; }

// = 45 0 3 1 0 -5536
kernel void arguments_and_results_are_converted(global int *out) {
  transmit int x = 300;
  resizing_global_barrier();
  put(out, 0, narrow(x));
  put(out, 1, narrow(255));
  put(out, 2, (int)(half_of(3) * 2));
  put(out, 3, odd(7));
  put(out, 4, odd(x));
  put(out, 5, (int)widen(x * 200));
}

void add_to(int *sum, int x) { *sum += x; }
void swap_ints(int *a, int *b) {
  int c = *a;
  *a = *b;
  *b = c;
}

// = 7 5
kernel void writes_through_pointers(global int *out) {
  transmit int a = 5, b = 3;
  resizing_global_barrier();
  add_to(&b, 4);
  swap_ints(&a, &b);
  resizing_global_barrier();
  put(out, 0, a);
  put(out, 1, b);
}

int total(const int *x, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}
void negate(int x[3]) {
  for (int i = 0; i < 3; i++) x[i] = -x[i];
}

// = 6 -6 -5
kernel void gets_arrays(global int *out) {
  resizing_global_barrier();
  int x[3] = {1, 2, 3};
  put(out, 0, total(x, 3));
  negate(x);
  put(out, 1, total(x, 3));
  put(out, 2, total(x + 1, 2));
}

typedef struct { int x, y; } point_t;
point_t mirrored(point_t p) {
  p.x = -p.x;
  return p;
}
int sum_of(point_t p) { return p.x + p.y; }

// = -2 2 7
kernel void structs_by_value(global int *out) {
  transmit point_t p = {2, 5};
  resizing_global_barrier();
  point_t q = mirrored(p);
  put(out, 0, q.x);
  put(out, 1, p.x);
  put(out, 2, sum_of(p));
}

point_t moved(point_t p) {
  p.x += 1;
  resizing_global_barrier();
  point_t q = {4, 5};
  return q;
}

// = 4 5
kernel void struct_from_a_function_with_a_point(global int *out) {
  transmit point_t p = {1, 2};
  p = moved(p);
  resizing_global_barrier();
  put(out, 0, p.x);
  put(out, 1, p.y);
}

int later(int x);
int earlier(int x) { return x == 0 ? 100 : later(x); }
int later(int x) { return x + 1; }

// = 100 6
kernel void declared_before_they_are_defined(global int *out) {
  resizing_global_barrier();
  put(out, 0, earlier(0));
  put(out, 1, earlier(5));
}

inline int quick(int x) { return x + 2; }
static int hidden(int x) { return quick(x) * 2; }

// = 10
kernel void inline_and_static(global int *out) {
  resizing_global_barrier();
  put(out, 0, hidden(3));
}

int __attribute__((overloadable)) width(char x) { return 1; }
int __attribute__((overloadable)) width(int x) { return 4; }
int __attribute__((overloadable)) width(int2 x) { return 8; }

// = 148
kernel void overloaded(global int *out) {
  resizing_global_barrier();
  put(out, 0, width((char)0) * 100 + width(0) * 10 + width((int2)(0)));
}

int collatz(int x) {
  int steps = 0;
again:
  if (x == 1) goto done;
  x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  steps++;
  goto again;
done:
  return steps;
}

// = 8 111
kernel void jumps(global int *out) {
  resizing_global_barrier();
  put(out, 0, collatz(6));
  put(out, 1, collatz(27));
}

int first_above(const int *x, int limit) {
  int found = -1;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (x[3 * i + j] > limit) {
        found = 10 * i + j;
        goto out_of_both;
      }
out_of_both:
  return found;
}

// = 12 -1
kernel void jumps_out_of_loops(global int *out) {
  resizing_global_barrier();
  int x[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  put(out, 0, first_above(x, 4));
  put(out, 1, first_above(x, 9));
}

int where(void) { return (int)get_local_id(0) * 0 + 1; }

// = 3
kernel void asks_for_ids(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 3; i++) {
    resizing_global_barrier();
    n += i + 1 > n ? 1 : 0;
  }
  put(out, 0, n * where());
}

void meet(void) { global_barrier(); }

// = 2
kernel void meets_in_a_function(global int *out) {
  transmit int i;
  for (i = 0; i < 2; i++) {
    meet();
    resizing_global_barrier();
    meet();
  }
  put(out, 0, i);
}
