// Points in every kind of control flow.
#include "corpus.h"

// = 10
kernel void for_loop(global int *out) {
  transmit int sum = 0;
  transmit int i;
  for (i = 0; i < 5; i++) {
    sum += i;
    resizing_global_barrier();
  }
  put(out, 0, sum);
}

// = 36
kernel void nested_for_loops(global int *out) {
  transmit int sum = 0, i, j;
  for (i = 0; i < 3; i++) {
    for (j = 0; j < 4; j++) {
      resizing_global_barrier();
      sum += i + j + (j == 3 ? i : 0);
    }
    sum += 1;
    resizing_global_barrier();
  }
  put(out, 0, sum);
}

// = 128 7
kernel void while_loop(global int *out) {
  transmit int x = 1, n = 0;
  while (x < 100) {
    x *= 2;
    resizing_global_barrier();
    n++;
  }
  put(out, 0, x);
  put(out, 1, n);
}

// = 15
kernel void do_loop(global int *out) {
  transmit int x = 0;
  do {
    x += 5;
    resizing_global_barrier();
  } while (x < 12);
  put(out, 0, x);
}

// = 1
kernel void do_loop_once(global int *out) {
  transmit int n = 0;
  do {
    n++;
    resizing_global_barrier();
  } while (false);
  put(out, 0, n);
}

// = 7 2
kernel void loop_without_parts(global int *out) {
  transmit int x = 1, n = 0;
  for (;;) {
    x = 2 * x + 1;
    if (x > 5) break;
    resizing_global_barrier();
    n += 2;
  }
  put(out, 0, x);
  put(out, 1, n);
}

// = 6
kernel void break_leaves_the_inner_loop(global int *out) {
  transmit int n = 0, i, j;
  for (i = 0; i < 3; i++) {
    for (j = 0; j < 10; j++) {
      if (j == 2) break;
      resizing_global_barrier();
      n++;
    }
  }
  put(out, 0, n);
}

// = 9 5
kernel void continue_still_increments(global int *out) {
  transmit int sum = 0, i;
  for (i = 0; i < 5; i++) {
    if (i == 1) continue;
    resizing_global_barrier();
    sum += i;
  }
  put(out, 0, sum);
  put(out, 1, i);
}

// = 8
kernel void continue_in_while(global int *out) {
  transmit int i = 0, sum = 0;
  while (i < 5) {
    i++;
    resizing_global_barrier();
    if (i % 2 == 0) continue;
    sum += i;
    if (i == 5) sum -= 1;
  }
  put(out, 0, sum);
}

// = 5 3
kernel void continue_in_do_checks_the_condition(global int *out) {
  transmit int i = 0, n = 0;
  do {
    i++;
    if (i > 3) continue;
    resizing_global_barrier();
    n++;
  } while (i < 5);
  put(out, 0, i);
  put(out, 1, n);
}

// = 321
kernel void points_in_all_branches(global int *out) {
  transmit int digits = 0, i;
  for (i = 0; i < 3; i++) {
    if (i == 0) {
      digits += 1;
      resizing_global_barrier();
    } else if (i == 1) {
      resizing_global_barrier();
      digits += 20;
    } else {
      resizing_global_barrier();
      digits += 300;
      resizing_global_barrier();
    }
  }
  put(out, 0, digits);
}

// = 4
kernel void point_in_the_else_branch(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 4; i++) {
    if (i > 5) {
      n = 100;
    } else {
      resizing_global_barrier();
    }
    n++;
  }
  put(out, 0, n);
}

// = 3
kernel void branches_without_braces(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 3; i++)
    if (i == 1)
      resizing_global_barrier();
    else
      n++;
  resizing_global_barrier();
  if (n == 2) n++;
  put(out, 0, n);
}

// = 12
kernel void else_belongs_to_the_inner_if(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 4; i++) {
    resizing_global_barrier();
    if (i > 0)
      if (i > 2)
        n += 10;
      else
        n += 1;
  }
  put(out, 0, n);
}

// = 1234
kernel void switch_with_points(global int *out) {
  transmit int digits = 0, i;
  for (i = 1; i <= 4; i++) {
    switch (i) {
      case 1:
        digits += 1000;
        resizing_global_barrier();
        break;
      case 2:
        resizing_global_barrier();
        digits += 200;
        break;
      case 3: {
        resizing_global_barrier();
        digits += 30;
        break;
      }
      default: digits += 4; resizing_global_barrier();
    }
  }
  put(out, 0, digits);
}

// = 111 11 1
kernel void cases_fall_through(global int *out) {
  transmit int i;
  for (i = 0; i < 3; i++) {
    int n = 0;
    switch (i) {
      case 0: n += 100;
      case 1: n += 10;
      default: n += 1;
    }
    put(out, i, n);
    resizing_global_barrier();
  }
}

// = 33
kernel void falls_through_a_point(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 3; i++) {
    switch (i) {
      case 0:
        n += 1;
        resizing_global_barrier();
      case 1:
        n += 10;
        resizing_global_barrier();
      case 2:
        n += 2;
        if (i == 2) n += 6;
    }
  }
  put(out, 0, n);
}

// = 5 2 7
kernel void default_comes_first(global int *out) {
  transmit int i;
  for (i = 0; i < 3; i++) {
    int n = 0;
    switch (i) {
      default: n += 5; break;
      case 1: n += 2; break;
      case 2: n += 7;
    }
    put(out, i, n);
    resizing_global_barrier();
  }
}

// = 12 2 1
kernel void default_falls_into_a_case(global int *out) {
  transmit int i;
  for (i = 0; i < 3; i++) {
    int n = 0;
    switch (i) {
      case 2: n += 1; break;
      default: n += 10;
      case 1: n += 2;
    }
    put(out, i, n);
    resizing_global_barrier();
  }
}

// = 0
kernel void no_case_matches(global int *out) {
  transmit int n = 0;
  resizing_global_barrier();
  switch (n + 9) {
    case 1: n = 1; resizing_global_barrier(); break;
    case 2: n = 2;
  }
  put(out, 0, n);
}

// = 24
kernel void continue_in_a_switch(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 6; i++) {
    switch (i % 3) {
      case 0: continue;
      case 1: resizing_global_barrier(); n += 1; break;
      default: n += 10; continue;
    }
    n += 1;
  }
  put(out, 0, n);
}

// = 3
kernel void break_leaves_the_switch_only(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 3; i++) {
    switch (i) {
      case 1: break;
      default: resizing_global_barrier(); break;
    }
    n++;
  }
  put(out, 0, n);
}

// = 112
kernel void switch_in_a_switch(global int *out) {
  transmit int n = 0, i, j;
  for (i = 0; i < 2; i++) {
    for (j = 0; j < 2; j++) {
      switch (i) {
        case 0:
          switch (j) {
            case 0: n += 1; resizing_global_barrier(); break;
            case 1: resizing_global_barrier(); n += 1;
          }
          break;
        case 1:
          switch (j) {
            case 0: n += 10; break;
            default: resizing_global_barrier(); n += 100;
          }
      }
    }
  }
  put(out, 0, n);
}

// = 9
kernel void loop_in_a_switch_in_a_loop(global int *out) {
  transmit int n = 0, i, j;
  for (i = 0; i < 3; i++) {
    switch (i) {
      case 1:
        for (j = 0; j < 4; j++) {
          if (j == 3) break;
          resizing_global_barrier();
          n += 2;
        }
        break;
      default: n += 1; break;
    }
    n += i == 2;
  }
  put(out, 0, n);
}

// = 1 2 3
kernel void switch_on_other_types(global int *out) {
  transmit int n = 0;
  resizing_global_barrier();
  char c = (char)(n - 1);
  switch (c) { case -1: n = 1; break; case 1: n = 9; }
  put(out, 0, n);
  ulong wide = 1ul << 40;
  switch (wide) { case 1ul << 40: n = 2; break; default: n = 8; }
  put(out, 1, n);
  bool yes = n == 2;
  switch (yes) { case true: n = 3; break; case false: n = 7; }
  put(out, 2, n);
}

// = 4
kernel void returns_from_inside_loops(global int *out) {
  transmit int i, j;
  for (i = 0;; i++) {
    for (j = 0; j < 3; j++) {
      resizing_global_barrier();
      if (i == 1 && j == 1) {
        put(out, 0, i + j + 2);
        return;
      }
    }
  }
}

// = 10 7
kernel void commas_in_a_for(global int *out) {
  transmit int i, j, sum = 0;
  for (i = 0, j = 10; i < j; i += 2, j--) {
    sum += 1;
    resizing_global_barrier();
  }
  put(out, 0, i + sum - 2);
  put(out, 1, j + 1);
}

// = 5
kernel void empty_bodies(global int *out) {
  transmit int i;
  for (i = 0; i < 5; i++);
  resizing_global_barrier();
  while (i > 5);
  if (i == 5);
  {}
  put(out, 0, i);
}

// = 0
kernel void loop_that_never_runs(global int *out) {
  transmit int n = 0, i;
  resizing_global_barrier();
  for (i = 0; i < n; i++) {
    resizing_global_barrier();
    n++;
  }
  put(out, 0, n);
}

// = 31 2
kernel void blocks_hide_variables(global int *out) {
  transmit int x = 1, total = 0;
  resizing_global_barrier();
  {
    int x = 10;
    {
      int x = 20;
      total += x;
    }
    total += x;
  }
  total += x;
  for (int x = 0; x < 1; x++) total += x;
  resizing_global_barrier();
  put(out, 0, total);
  put(out, 1, x + 1);
}

// = 60
kernel void three_loops_deep(global int *out) {
  transmit int n = 0, i, j, k;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 4; j++)
      for (k = 0; k < 5; k++) {
        n++;
        if (k % 2 == 1) resizing_global_barrier();
      }
  put(out, 0, n);
}

// = 13
kernel void conditions_are_evaluated_once(global int *out) {
  transmit int n = 0, i = 0;
  while (n++ < 5) {
    resizing_global_barrier();
    if (i++ == 3) i += 4;
  }
  put(out, 0, n + (i == 9 ? 7 : 0));
}
