// ---- a primitive in a branch on the thread
kernel void f(global int *p) {
  if (get_local_id() == 0)  // expected-note {{this differs between the threads of a group}}
    offer_kill();           // expected-error {{'offer_kill' must be reached by all threads of a group, but control flow depends on the thread here}}
}
// ---- through a variable
kernel void f(global int *p, int n) {
  int tid = get_global_id();
  if (tid < n) {  // expected-note {{this differs}}
    resizing_global_barrier();  // expected-error {{'resizing_global_barrier' must be reached by all threads}}
  }
}
// ---- in a loop whose length depends on the thread
kernel void f(global int *p, int n) {
  for (int i = get_local_id(); i < n; i += get_local_size())  // expected-note {{this differs}}
    request_fork();  // expected-error {{'request_fork' must be reached by all threads}}
}
// ---- after a return of some threads
kernel void f(global int *p, int n) {
  if (get_global_id() >= n) return;  // expected-note {{this differs}}
  global_barrier();  // expected-error {{'global_barrier' must be reached by all threads}}
}
// ---- after a break of some threads
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) {
    resizing_global_barrier();  // expected-error {{'resizing_global_barrier' must be reached by all threads}}
    if (p[get_global_id()] == i) break;  // expected-note {{this differs}}
  }
}
// ---- after a continue of some threads, in the same round
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) {
    if (p[get_global_id()] == i) continue;  // expected-note {{this differs}}
    resizing_global_barrier();  // expected-error {{'resizing_global_barrier' must be reached by all threads}}
  }
}
// ---- before a continue of some threads they are together again
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) {
    resizing_global_barrier();
    if (p[get_global_id()] == i) continue;
    p[get_global_id()] = i;
  }
}
// ---- after a loop that threads leave one by one they are together again
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  for (int i = get_local_id(); i < n; i++) if (p[i]) break;
  global_barrier();
}
// ---- in a switch on the thread
kernel void f(global int *p) {
  switch (get_local_id()) {  // expected-note {{this differs}}
    case 0: global_barrier();  // expected-error {{'global_barrier' must be reached by all threads}}
  }
}
// ---- on the right of &&
kernel void f(global int *p) {
  if (get_local_id() == 0 && query())  // expected-note {{this differs}} expected-error {{'query' must be reached by all threads}}
    p[0] = 1;
}
// ---- on what an atomic operation gave
kernel void f(global int *p, int n) {
  while (atomic_inc(p) < n) {  // expected-note {{this differs}}
    offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}}
  }
}
// ---- a barrier of the group counts too
kernel void f(global int *p) {
  if (get_local_id() > 1)  // expected-note {{this differs}}
    barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}}
}
// ---- in a function called by some threads
void g(void) {
  global_barrier();  // expected-error {{'global_barrier' must be reached by all threads}}
}
kernel void f(global int *p) {
  if (get_local_id() == 0) g();  // expected-note {{this differs}} expected-note {{reached through this call of 'g'}}
}
// ---- a function's argument depends on the thread
void g(int x) {
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
kernel void f(global int *p) {
  int mine = get_local_id();
  g(mine);  // expected-note {{reached through this call of 'g'}}
}
// ---- a function's result depends on the thread
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
// ---- written through a pointer
void set(int *x) { *x = get_local_id(); }
kernel void f(global int *p) {
  int x = 0;
  set(&x);
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- a variable that is set anew is the same for all again
// expected-no-diagnostics
kernel void f(global int *p) {
  int x = get_local_id();
  p[x] = 1;
  x = 0;
  if (x == 0) offer_kill();
}
// ---- what is read from one place is the same for all
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
// ---- a group function's result is the same for all threads
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
// ---- a kill in a branch on the group is what the paper does
// expected-no-diagnostics
kernel survivors(may_all_leave) void f(global int *p) {
  if (get_group_id() != 0) offer_kill();
}
// ---- the number of groups differs where groups come and go at any time
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) request_fork();
  if (get_num_groups() > 2)  // expected-note {{this differs between groups}}
    global_barrier();  // expected-error {{'global_barrier' must be reached by all groups}}
}
// ---- between resizing barriers it does not
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  if (get_num_groups() > 2) resizing_global_barrier();
}
// ---- through an array that a pointer points to
kernel void f(global int *p) {
  int a[2] = {0, 0};
  int *q = a;
  q[0] = get_local_id();
  if (a[0]) barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}} expected-note {{this differs}}
}
// ---- through a pointer in a structure
typedef struct { int *at; } holder;
kernel void f(global int *p) {
  int x = 0;
  holder h = {&x};
  *h.at = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- through a pointer to a pointer
kernel void f(global int *p) {
  int x = 0;
  int *q = &x;
  int **r = &q;
  **r = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- through a pointer that a function hands back
int *same(int *x) { return x; }
kernel void f(global int *p) {
  int x = 0;
  *same(&x) = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- through a number that was a pointer
kernel void f(global int *p) {
  int x = 0;
  ulong number = (ulong)&x;
  *(int *)number = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- through a pointer that lies in other memory
kernel void f(global ulong *p) {
  int x = 0;
  p[get_global_id()] = (ulong)&x;
  *(int *)p[get_global_id()] = get_local_id();
  if (x) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- through a literal without a name
kernel void f(global int *p) {
  int *q = (int[]){0, 0};
  q[1] = get_local_id();
  if (q[1]) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- by a built-in function
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
// ---- a value that comes out of a pointer, the same for all threads
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
// ---- its neighbour differs
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
// ---- a value that a function replaces
// expected-no-diagnostics
void write(int *x, int y) { *x = y; }
kernel void f(global int *p) {
  int a = get_local_id();
  write(&a, 1);
  if (a) offer_kill();
}
// ---- one of two variables, by a choice of the threads
kernel void f(global int *p) {
  int a = 0, b = 0;
  int *q = get_local_id() ? &a : &b;
  *q = 1;
  if (a) offer_kill();  // expected-error {{'offer_kill' must be reached by all threads}} expected-note {{this differs}}
}
// ---- structures that are swapped by address
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
// ---- by a goto back
kernel void f(global int *p) {
  int x = 0;
again:
  if (x) barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}} expected-note {{this differs}}
  x = get_local_id();
  if (p[0]) goto again;
}
// ---- by a goto of some threads
kernel void f(global int *p) {
  if (get_local_id() > 3) goto end;  // expected-note {{this differs}}
  barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}}
end:
  p[get_global_id()] = 1;
}
// ---- before a goto of some threads
// expected-no-diagnostics
kernel void f(global int *p) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id() > 3) goto end;
  p[0] = 1;
end:
  p[get_global_id()] = 1;
}
// ---- in the round after a return of some threads
kernel void f(global int *p) {
  while (p[0]) {
    barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}}
    if (p[get_global_id()]) return;  // expected-note {{this differs}}
  }
}
// ---- in the round after a goto of some threads
kernel void f(global int *p) {
  while (p[0]) {
    barrier(CLK_LOCAL_MEM_FENCE);  // expected-error {{'barrier' must be reached by all threads}}
    if (p[get_global_id()]) goto end;  // expected-note {{this differs}}
  }
end:
  p[1] = 1;
}
