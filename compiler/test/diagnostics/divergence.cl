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
  if (get_local_id() == 0) flag = atomic_inc(p);
  barrier(CLK_LOCAL_MEM_FENCE);
  while (p[0] < 10 && flag < 3) {
    offer_kill();
    request_fork();
    barrier(CLK_LOCAL_MEM_FENCE);
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
