// ---- a primitive in a branch on the thread
kernel void f(global int *p) {
  if (get_local_id() == 0)  // expected-note {{this differs between the threads of a group}}
    offer_kill();           // expected-error {{'offer_kill' must be reached by all threads of a group, but control flow depends on the thread here}}
}
// ---- a condition on a variable that depends on the thread
kernel void f(global int *p, int n) {
  int tid = get_global_id();
  if (tid < n) {  // expected-note {{this differs}}
    resizing_global_barrier();  // expected-error {{'resizing_global_barrier' must be reached by all threads}}
  }
}
// ---- a primitive in a loop whose length depends on the thread
kernel void f(global int *p, int n) {
  for (int i = get_local_id(); i < n; i += get_local_size())  // expected-note {{this differs}}
    request_fork();  // expected-error {{'request_fork' must be reached by all threads}}
}
// ---- a primitive after a return of some threads
kernel void f(global int *p, int n) {
  if (get_global_id() >= n) return;  // expected-note {{this differs}}
  global_barrier();  // expected-error {{'global_barrier' must be reached by all threads}}
}
// ---- a primitive after a break of some threads
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) {
    resizing_global_barrier();  // expected-error {{'resizing_global_barrier' must be reached by all threads}}
    if (p[get_global_id()] == i) break;  // expected-note {{this differs}}
  }
}
// ---- a primitive after a continue of some threads, in the same round
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) {
    if (p[get_global_id()] == i) continue;  // expected-note {{this differs}}
    resizing_global_barrier();  // expected-error {{'resizing_global_barrier' must be reached by all threads}}
  }
}
// ---- no error: threads meet again before the place where some continue
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) {
    resizing_global_barrier();
    if (p[get_global_id()] == i) continue;
    p[get_global_id()] = i;
  }
}
// ---- no error: threads meet again after a loop that they leave one by one
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  for (int i = get_local_id(); i < n; i++) if (p[i]) break;
  global_barrier();
}
// ---- a primitive in a switch on the thread
kernel void f(global int *p) {
  switch (get_local_id()) {  // expected-note {{this differs}}
    case 0: global_barrier();  // expected-error {{'global_barrier' must be reached by all threads}}
  }
}
// ---- a primitive after && and a condition on the thread
kernel void f(global int *p) {
  if (get_local_id() == 0 && query())  // expected-note {{this differs}} expected-error {{'query' must be reached by all threads}}
    p[0] = 1;
}
// ---- a condition on the result of an atomic operation
kernel void f(global int *p, int n) {
  while (atomic_inc(p) < n) {  // expected-note {{this differs}}
    offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}}
  }
}
// ---- a barrier of the group in a branch on the thread
kernel void f(global int *p) {
  if (get_local_id() > 1)  // expected-note {{this differs}}
    barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}}
}
// ---- a primitive in a function that some threads call
void g(void) {
  global_barrier();  // expected-error {{'global_barrier' must be reached by all threads}}
}
kernel void f(global int *p) {
  if (get_local_id() == 0) g();  // expected-note {{this differs}} expected-note {{reached through this call of 'g'}}
}
// ---- a function's argument that depends on the thread
void g(int x) {
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
kernel void f(global int *p) {
  int mine = get_local_id();
  g(mine);  // expected-note {{reached through this call of 'g'}}
}
// ---- a function's result that depends on the thread
int first(void) { return get_local_id() == 0; }
kernel void f(global int *p) {
  if (first())  // expected-note {{this differs}}
    offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}}
}
// ---- a value written by some threads only
kernel void f(global int *p) {
  int x = 0;
  if (get_local_id() == 0) x = 1;
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a value written through a pointer
void set(int *x) { *x = get_local_id(); }
kernel void f(global int *p) {
  int x = 0;
  set(&x);
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- no error: a variable is set again, to the same value in all threads
// expected-no-diagnostics
kernel void f(global int *p) {
  int x = get_local_id();
  p[x] = 1;
  x = 0;
  if (x == 0) offer_kill();
}
// ---- no error: all threads read the same place
// expected-no-diagnostics
kernel void f(global int *p) {
  local int flag;
  for (;;) {
    if (get_local_id() == 0) flag = atomic_inc(p);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (p[0] < 10 && flag < 3) break;
    offer_kill();
    request_fork();
  }
}
// ---- no error: a group function has the same result in all threads
// expected-no-diagnostics
kernel void f(global int *p) {
  int mine = get_local_id();
  if (work_group_reduce_add(mine) > 3) offer_kill();
}
// ---- a global barrier in a branch on the group
kernel void f(global int *p) {
  if (get_group_id() == 0)  // expected-note {{this differs between groups}}
    global_barrier();  // expected-error {{'global_barrier' must be reached by all groups, but control flow depends on the group here}}
}
// ---- no error: a kill in a branch on the group, as in the paper
// expected-no-diagnostics
kernel survivors(may_all_leave) void f(global int *p) {
  if (get_group_id() != 0) offer_kill();
}
// ---- the number of groups, if groups come and go at any time
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) request_fork();
  if (get_num_groups() > 2)  // expected-note {{this differs between groups}}
    global_barrier();  // expected-error {{'global_barrier' must be reached by all groups}}
}
// ---- no error: the number of groups between resizing barriers
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  if (get_num_groups() > 2) resizing_global_barrier();
}
// ---- a value from an array to which a pointer points
kernel void f(global int *p) {
  int a[2] = {0, 0};
  int *q = a;
  q[0] = get_local_id();
  if (a[0]) barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a value written through a pointer in a structure
typedef struct { int *at; } holder;
kernel void f(global int *p) {
  int x = 0;
  holder h = {&x};
  *h.at = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a value written through a pointer to a pointer
kernel void f(global int *p) {
  int x = 0;
  int *q = &x;
  int **r = &q;
  **r = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a value written through a pointer that a function returns
int *same(int *x) { return x; }
kernel void f(global int *p) {
  int x = 0;
  *same(&x) = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a value written through a number that was a pointer
kernel void f(global int *p) {
  int x = 0;
  ulong number = (ulong)&x;
  *(int *)number = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a value written through a pointer that lies in other memory
kernel void f(global ulong *p) {
  int x = 0;
  p[get_global_id()] = (ulong)&x;
  *(int *)p[get_global_id()] = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a value written through a literal without a name
kernel void f(global int *p) {
  int *q = (int[]){0, 0};
  q[1] = get_local_id();
  if (q[1]) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a value written by a built-in function
kernel void f(global int *p) {
  int x[4] = {0};
  vstore4((int4)(get_local_id()), 0, x);
  if (x[2]) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a pointer that differs between threads
kernel void f(global int *p) {
  int a[2] = {0, 1};
  int *q = a + get_local_id();
  if (*q) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- no error: a value that a function stores through a pointer is the same in all threads
// expected-no-diagnostics
void sum(local int *t, int *mine, int *total) {
  t[get_local_id()] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  *mine = t[get_local_id()];
  *total = *t;
}
kernel void f(global int *p) {
  local int t[64];
  int mine, total;
  sum(t, &mine, &total);
  if (total) barrier(CLK_LOCAL_MEM_FENCE);
  p[get_global_id()] = mine;
}
// ---- a value that a function stores through a pointer differs between threads
void sum(local int *t, int *mine, int *total) {
  *mine = t[get_local_id()];
  *total = *t;
}
kernel void f(global int *p) {
  local int t[64];
  int mine, total;
  sum(t, &mine, &total);
  if (mine) barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a function that is called for two variables
void write(int *x, int y) { *x = y; }
kernel void f(global int *p) {
  int a, b;
  write(&a, 1);
  write(&b, get_local_id());
  if (a) offer_kill();
  if (b) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- no error: a function replaces a value that differs
// expected-no-diagnostics
void write(int *x, int y) { *x = y; }
kernel void f(global int *p) {
  int a = get_local_id();
  write(&a, 1);
  if (a) offer_kill();
}
// ---- a write to one of two variables, which each thread chooses
kernel void f(global int *p) {
  int a = 0, b = 0;
  int *q = get_local_id() ? &a : &b;
  *q = 1;
  if (a) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- no error: a function swaps structures by address
// expected-no-diagnostics
typedef struct { global int *item, *size; } list;
void swap(list *a, list *b) { list last = *a; *a = *b; *b = last; }
kernel void f(global int *p, global int *q) {
  transmit list in = {p, q};
  transmit list out = {q, p};
  while (*in.size > 0) {
    out.item[get_global_id()] = 1;
    swap(&in, &out);
    resizing_global_barrier();
  }
}
// ---- a value that differs comes back by a goto
kernel void f(global int *p) {
  int x = 0;
again:
  if (x) barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}} expected-note {{this differs}}
  x = get_local_id();
  if (p[0]) goto again;
}
// ---- a barrier after a goto of some threads
kernel void f(global int *p) {
  if (get_local_id() > 3) goto end;  // expected-note {{this differs}}
  barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}}
end:
  p[get_global_id()] = 1;
}
// ---- no error: a barrier before a goto of some threads
// expected-no-diagnostics
kernel void f(global int *p) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id() > 3) goto end;
  p[0] = 1;
end:
  p[get_global_id()] = 1;
}
// ---- a barrier in the round after a return of some threads
kernel void f(global int *p) {
  while (p[0]) {
    barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}}
    if (p[get_global_id()]) return;  // expected-note {{this differs}}
  }
}
// ---- a barrier in the round after a goto of some threads
kernel void f(global int *p) {
  while (p[0]) {
    barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}}
    if (p[get_global_id()]) goto end;  // expected-note {{this differs}}
  }
end:
  p[1] = 1;
}
