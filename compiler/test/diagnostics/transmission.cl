// ---- a variable is not transmitted
kernel void f(global int *p, int n) {
  int level = 0;  // expected-note {{declare 'level' 'transmit' to hand its value to joining groups}}
  while (p[0] > 0) {
    p[get_global_id()] = level;  // expected-note {{read here}}
    resizing_global_barrier();  // expected-error {{'level' is read by groups that join at this resizing_global_barrier, but is neither 'transmit' nor computed again}}
  }
}
// ---- a loop counter is not transmitted
kernel void f(global int *p, int n) {
  int i;  // expected-note {{declare 'i' 'transmit'}}
  for (i = 0; i < n; i++)  // expected-note {{read here}}
    resizing_global_barrier();  // expected-error {{'i' is read by groups that join}}
}
// ---- a thread's id is not computed again
kernel void f(global int *p, int n) {
  transmit int level = 0;
  int tid = get_global_id();  // expected-note {{'tid' depends on the thread: compute it again after this resizing_global_barrier}}
  while (level < n) {
    p[tid] = level++;  // expected-note {{read here}}
    resizing_global_barrier();  // expected-error {{'tid' is read by groups that join}}
  }
}
// ---- a group's id is not computed again
kernel void f(global int *p, int n) {
  int queue = get_group_id();  // expected-note {{'queue' depends on the group: compute it again after this request_fork}}
  while (p[0] > 0) {
    offer_kill();
    request_fork();  // expected-error {{'queue' is read by groups that join at this request_fork}}
    p[queue]++;  // expected-note {{read here}}
  }
}
// ---- a variable of an inner scope
kernel void f(global int *p, int n) {
  for (int i = 0; i < n; i++)  // expected-note {{read here}} expected-note {{'i' is not in the root scope of the kernel}}
    resizing_global_barrier();  // expected-error {{'i' is read by groups that join}}
}
// ---- a variable of a function
void g(global int *p) {
  int x = p[1];  // expected-note {{'x' belongs to a function that the kernel calls}}
  resizing_global_barrier();  // expected-error {{'x' is read by groups that join}}
  p[0] = x;  // expected-note {{read here}}
}
kernel void f(global int *p) { g(p); }
// ---- a variable of the kernel, around a function in which groups join
void g(void) {
  resizing_global_barrier();  // expected-error {{'x' is read by groups that join}}
}
kernel void f(global int *p) {
  int x = p[1];  // expected-note {{declare 'x' 'transmit'}}
  g();
  p[0] = x;  // expected-note {{read here}}
}
// ---- a function's parameter that is only another name
// expected-no-diagnostics
void g(global int *data, int times) {
  resizing_global_barrier();
  data[get_global_id()] = times;
}
kernel void f(global int *p, int n) {
  transmit int i;
  for (i = 0; i < n; i++) g(p, i);
}
// ---- a variable that is computed again
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  transmit int level = 0;
  int tid;
  while (level < n) {
    tid = get_global_id();
    p[tid] = level++;
    resizing_global_barrier();
  }
}
// ---- no error: a variable that is dead at the point
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  int before = p[n];
  p[get_global_id()] = before;
  resizing_global_barrier();
  p[get_global_id()] = 1;
}
// ---- no error: kernel parameters need not be transmitted
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  resizing_global_barrier();
  p[get_global_id()] = n;
}
// ---- no error: at a kill no group joins, so nothing is transmitted
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  for (int i = 0; i < n; i++) offer_kill();
}
// ---- an array may be read
kernel void f(global int *p, int n) {
  int keys[2] = {1, 2};  // expected-note {{'keys' is an array: keep it in global memory, or compile with --transmit=live to transmit it}}
  resizing_global_barrier();  // expected-warning {{'keys' may be read by groups that join at this resizing_global_barrier, but is neither 'transmit' nor certainly written before}}
  p[get_global_id()] = keys[n];  // expected-note {{read here}}
}
// ---- a variable that a function fills may be read
void fill(int *x) { *x = 1; }
kernel void f(global int *p, int n) {
  int x;  // expected-note {{declare 'x' 'transmit'}}
  resizing_global_barrier();  // expected-warning {{'x' may be read by groups that join}}
  fill(&x);  // expected-note {{read here}}
  p[get_global_id()] = x;
}
// ---- a transmitted variable that differs between threads
kernel void f(global int *p, int n) {
  transmit int mine = get_local_id();  // expected-note {{'mine' gets a value that differs here}}
  resizing_global_barrier();  // expected-error {{'mine' is transmitted here, but differs between the threads of a group: joining threads would all get thread 0's value}}
  p[get_global_id()] = mine;
}
// ---- a transmitted variable that only some threads assign
kernel void f(global int *p, int n) {
  transmit int best = 0;
  if (get_local_id() == 3) best = 1;  // expected-note {{'best' gets a value that differs here}}
  resizing_global_barrier();  // expected-error {{'best' is transmitted here, but differs}}
  p[get_global_id()] = best;
}
// ---- a transmitted variable assigned in a loop whose length depends on the thread
kernel void f(global int *p, int n) {
  transmit int count = 0;
  for (int i = get_local_id(); i < n; i++) count++;  // expected-note {{'count' gets a value that differs here}}
  resizing_global_barrier();  // expected-error {{'count' is transmitted here, but differs}}
  p[get_global_id()] = count;
}
// ---- a transmitted variable that differs between groups
kernel void f(global int *p, int n) {
  transmit int queue = get_group_id();  // expected-note {{'queue' gets a value that differs here}}
  request_fork();  // expected-warning {{'queue' is transmitted here, but differs between groups: joining groups get the value of the group that forks}}
  p[queue] = 1;
}
// ---- transmit in an inner scope
kernel void f(global int *p, int n) {
  if (n) {
    transmit int x = 1;  // expected-error {{'transmit' is for variables of the root scope of a kernel, and 'x' is not one}}
    resizing_global_barrier();
    p[0] = x;
  }
}
// ---- transmit in a function
void g(void) {
  transmit int x = 1;  // expected-error {{'transmit' is for variables of the root scope of a kernel, and 'x' is not one}}
}
// ---- transmit in program scope
transmit constant int x = 1;  // expected-error {{'transmit' is for variables of the root scope of a kernel, and 'x' is not one}}
// ---- transmit on a parameter
kernel void f(transmit int n) {  // expected-error {{'transmit' on parameter 'n': joining groups have the kernel's parameters anyway}}
}
// ---- transmit on an array
kernel void f(global int *p, int n) {
  transmit int keys[4] = {0};  // expected-error {{'transmit' on array 'keys': keep it in global memory, or transmit its elements one by one}}
  resizing_global_barrier();
  p[0] = keys[n];
}
// ---- transmit on local memory
kernel void f(global int *p) {
  transmit local int shared;  // expected-error {{'transmit' on 'shared', which is in local memory: a joining group has local memory of its own}}
}
// ---- transmit on a pointer to local memory
kernel void f(global int *p, int n) {
  local int shared[4];
  transmit local int *at = shared;  // expected-error {{'at' points to local memory, so it cannot be transmitted}}
  resizing_global_barrier();
  p[0] = at[n];
}
// ---- transmit on a pointer to private memory
kernel void f(global int *p, int n) {
  int x = 3;
  transmit private int *at = &x;  // expected-error {{'at' points to private memory, so it cannot be transmitted}}
  resizing_global_barrier();
  p[0] = *at;
}
// ---- a transmitted variable that is never read
kernel void f(global int *p, int n) {
  transmit int level = 0;  // expected-warning {{'transmit' on 'level' has no effect: no joining group reads it}}
  p[level] = 1;
  resizing_global_barrier();
}
// ---- a transmitted variable that is always written before it is read
kernel void f(global int *p, int n) {
  transmit int i;
  transmit int tid;  // expected-warning {{'transmit' on 'tid' has no effect: no joining group reads it}}
  for (i = 0; i < n; i++) {
    resizing_global_barrier();
    tid = get_global_id();
    p[tid] = i;
  }
}
// ---- a transmitted variable in a kernel that no group joins
kernel void f(global int *p, int n) {
  transmit int level = n;  // expected-warning {{'transmit' on 'level' has no effect: no group can join kernel 'f'}}
  p[0] = level;
  offer_kill();
}
// ---- a transmitted variable in a kernel that no group joins, but that is suspended and resumed
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  transmit int level = n;
  offer_kill();
  p[0] = level;
}
// ---- one report for a variable, with all points
kernel void f(global int *p, int n) {
  int level = p[1];  // expected-note {{declare 'level' 'transmit'}}
  resizing_global_barrier();  // expected-error {{'level' is read by groups that join}}
  p[get_global_id()] = level;  // expected-note {{read here}}
  resizing_global_barrier();  // expected-note {{or join at this resizing_global_barrier}}
  p[get_global_id()] = level;
  request_fork();  // expected-note {{or join at this request_fork}}
  p[get_global_id()] = level;
}
// ---- a pointer to a private variable, declared without its address space
kernel void f(global int *p, int n) {
  int x = 3;  // expected-note {{declare 'x' 'transmit'}}
  transmit int *at = &x;  // expected-note {{'at' points to private memory, which a joining group does not share: set it again after this resizing_global_barrier}}
  resizing_global_barrier();  // expected-error {{'at' cannot be transmitted: it points to private memory here, which a joining group does not share}} expected-warning {{'x' may be read}}
  p[0] = *at;
  p[1] = x;  // expected-note {{read here}}
}
// ---- a pointer to a private variable, not transmitted
kernel void f(global int *p, int n) {
  int x = 3;
  int *at = &x;  // expected-note {{'at' points to private memory, which a joining group does not share: set it again after this resizing_global_barrier}}
  resizing_global_barrier();  // expected-error {{'at' is read by groups that join}}
  p[0] = *at;  // expected-note {{read here}}
}
// ---- a pointer into a private array, through a function
int *second(int *a) { return a + 1; }
kernel void f(global int *p, int n) {
  int a[4] = {n};
  transmit int *at = second(a);  // expected-note {{set it again after this request_fork}}
  request_fork();  // expected-error {{'at' cannot be transmitted: it points to private memory here}}
  p[0] = *at;
}
// ---- a structure that holds a pointer to a private variable
typedef struct { int *at; } holder;
kernel void f(global int *p, int n) {
  int x = 3;
  transmit holder h = {&x};  // expected-note {{'h' points to private memory}}
  request_fork();  // expected-error {{'h' cannot be transmitted: it points to private memory here}}
  p[0] = *h.at;
}
// ---- a structure whose type holds a pointer to local memory
typedef struct { local int *at; } holder;
kernel void f(global int *p, int n) {
  local int t[4];
  transmit holder h = {t};  // expected-error {{'h' points to local memory, so it cannot be transmitted}}
  request_fork();
  p[0] = *h.at;
}
// ---- a pointer to local memory, declared without its address space
kernel void f(global int *p, int n) {
  local int t[4];
  t[0] = 1;
  transmit int *at = t;  // expected-note {{'at' points to local memory, which a joining group does not share: set it again}}
  request_fork();  // expected-error {{'at' cannot be transmitted: it points to local memory here}}
  p[0] = *at;
}
// ---- a pointer to private memory that is then set to global memory
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  int x = 3;
  transmit int *at = &x;
  *at = 4;
  at = p + x;
  resizing_global_barrier();
  p[0] = *at;
}
// ---- a pointer to local memory that is read again
kernel void f(global int *p, int n) {
  local int t[4];
  local int *at = t + 1;  // expected-note {{'at' points to local memory, which a joining group does not share: set it again after this resizing_global_barrier}}
  resizing_global_barrier();  // expected-error {{'at' is read by groups that join}}
  at[0] = 1;  // expected-note {{read here}}
}
// ---- several variables in one declaration get no fix-it, because it would change all of them
kernel void f(global int *p, int n) {
  int level = p[1], keys[2] = {0};  // expected-note {{declare 'level' 'transmit'}}
  p[1] = keys[n];
  resizing_global_barrier();  // expected-error {{'level' is read by groups that join}}
  p[get_global_id()] = level;  // expected-note {{read here}}
}
// ---- no error: a named constant need not be transmitted
// expected-no-diagnostics
kernel void f(global int *p) {
  const int n = 16;
  const float4 v = (float4)(1, 2, 3, n);
  const int list[2] = {n, 2 * n};
  resizing_global_barrier();
  p[n] = list[1] + (int)v.w;
}
// ---- a const variable whose value is not a constant has to be transmitted
kernel void f(global int *p, int m) {
  const int n = m + 1;  // expected-note {{declare 'n' 'transmit' to hand its value to joining groups}}
  resizing_global_barrier();  // expected-error {{'n' is read by groups that join at this resizing_global_barrier, but is neither 'transmit' nor computed again}}
  p[0] = n;  // expected-note {{read here}}
}
// ---- the target of a compound assignment is read after the function
int g(global int *p) { resizing_global_barrier(); return p[0]; }
kernel void f(global int *p) {
  int n = 1;  // expected-note {{declare 'n' 'transmit' to hand its value to joining groups}}
  n += g(p);  // expected-error@-3 {{'n' is read by groups that join}} expected-note {{read here}}
  p[1] = n;
}
// ---- the index of a compound assignment's target is read after the function
int g(global int *p) { resizing_global_barrier(); return p[0]; }
kernel void f(global int *p) {
  int i = p[3];  // expected-note {{declare 'i' 'transmit' to hand its value to joining groups}}
  p[i] += g(p);  // expected-error@-3 {{'i' is read by groups that join}} expected-note {{read here}}
}
