// For --transmit=live: every variable that joining groups need is transmitted, wherever it is declared.
#include "corpus.h"

// = 6
kernel void variables_of_inner_blocks(global int *out) {
  for (int i = 0; i < 2; i++) {
    int x = i + 1;
    {
      int y = x * 2;
      resizing_global_barrier();
      put(out, 0, i == 0 ? 6 : x + y);
    }
  }
}

// = 10 20 30
kernel void arrays(global int *out) {
  int x[3] = {1, 2, 3};
  resizing_global_barrier();
  for (int i = 0; i < 3; i++) x[i] *= 10;
  resizing_global_barrier();
  for (int i = 0; i < 3; i++) put(out, i, x[i]);
}

typedef struct { int key; int2 both; short more[3]; } thing_t;

// = 5 6 7 9
kernel void arrays_of_structs(global int *out) {
  thing_t x[2] = {{1, (int2)(2, 3), {4}}, {5, (int2)(6, 7), {8, 9}}};
  resizing_global_barrier();
  put(out, 0, x[1].key);
  put(out, 1, x[1].both.x);
  put(out, 2, x[1].both.y);
  put(out, 3, x[1].more[1]);
}

int remembers(int a) {
  int b = a * 2;
  resizing_global_barrier();
  int c = a + b;
  resizing_global_barrier();
  return a + b + c;
}

// = 18
kernel void variables_of_functions(global int *out) {
  int x = remembers(3);
  put(out, 0, x);
}

int loops(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    resizing_global_barrier();
    sum += i;
  }
  return sum;
}

// = 10 6
kernel void loops_in_functions(global int *out) {
  int x = loops(5);
  int y;
  y = loops(4);
  put(out, 0, x);
  put(out, 1, y);
}

int outer(int n) {
  int sum = 0;
  while (n > 0) {
    int more = loops(n);
    sum += more;
    n--;
  }
  return sum;
}

// = 10
kernel void functions_in_functions(global int *out) {
  int x = outer(4);
  put(out, 0, x);
}

// = 24
kernel void loops_with_their_own_counters(global int *out) {
  int n = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++) {
        resizing_global_barrier();
        n++;
      }
  put(out, 0, n);
}

// = 33
kernel void variables_of_cases(global int *out) {
  int n = 0;
  for (int i = 0; i < 2; i++) {
    switch (i) {
      case 0: {
        int x = 11;
        resizing_global_barrier();
        n += x;
        break;
      }
      default: {
        int y = 2 * n;
        resizing_global_barrier();
        n += y;
      }
    }
  }
  put(out, 0, n);
}

// = 1 3
kernel void variables_of_the_same_name(global int *out) {
  int x = 1;
  {
    int x = 3;
    resizing_global_barrier();
    put(out, 1, x);
  }
  put(out, 0, x);
}

// = 7
kernel void parameters_that_change(global int *out) {
  int n = loops(3) ;
  n += 4;
  resizing_global_barrier();
  put(out, 0, n);
}

// = 12
kernel void vectors_and_floats(global int *out) {
  int4 v = (int4)(1, 2, 3, 4);
  float f = 0.5f;
  resizing_global_barrier();
  v *= 2;
  f *= 4;
  resizing_global_barrier();
  put(out, 0, v.w + v.x + (int)f);
}

// = 15
kernel void offers(global int *out) {
  int n = 0;
  for (int i = 0; i < 5; i++) {
    int before = n;
    offer_kill();
    request_fork();
    n = before + i + 1;
  }
  put(out, 0, n);
}

// = 3 4
kernel void results_in_branches(global int *out) {
  for (int i = 0; i < 2; i++) {
    int x = 0;
    if (i == 0) x = loops(3);
    else x = loops(2) ;
    x += i == 1 ? 3 : 0;
    put(out, i, x);
  }
}
