// ---- a primitive in an expression
kernel void f(global int *p, int n) {
  n ? request_fork() : (void)0;  // expected-error {{'request_fork' must be a statement by itself: groups continue after it}}
}
// ---- a primitive in a loop's head
kernel void f(global int *p, int n) {
  for (int i = 0; i < n; i++, offer_kill());  // expected-error {{'offer_kill' must be a statement by itself}}
}
// ---- a function with a point in an expression
int g(void) { resizing_global_barrier(); return 1; }
kernel void f(global int *p) {
  p[0] = 1 + g();  // expected-error {{groups can join or leave in 'g', so its call must be a statement by itself, or all of the right-hand side of one}}
}
// ---- a function with a point in a condition
int g(void) { resizing_global_barrier(); return 1; }
kernel void f(global int *p) {
  while (g());  // expected-error {{groups can join or leave in 'g'}}
}
// ---- a function with a point as an argument
int g(void) { offer_kill(); return 1; }
int h(int x) { return x; }
kernel void f(global int *p) {
  p[0] = h(g());  // expected-error {{groups can join or leave in 'g'}}
}
// ---- a function with a point as a statement, an assignment, an initialiser and a result
// expected-no-diagnostics
int g(void) { request_fork(); return 1; }
int h(void) { return g(); }
kernel void f(global int *p) {
  g();
  p[0] = g();
  transmit int x = g();
  p[1] = h();
  p[x] = 2;
}
// ---- goto beside a point
kernel void f(global int *p) {
again:  // expected-error {{goto is not supported in 'f', where groups can join or leave; use loops and break}}
  offer_kill();
  if (p[0]) goto again;  // expected-error {{goto is not supported in 'f'}}
}
// ---- recursion
int g(int x);
int h(int x) { return g(x); }
int g(int x) { return x ? h(x - 1) : 0; }  // expected-error {{recursion is not allowed in OpenCL C: 'h' calls itself, directly or indirectly}}
kernel void f(global int *p) { p[0] = h(3); }
// ---- a function that is not defined
int g(int x);
kernel void f(global int *p) {
  p[0] = g(1);  // expected-error {{function 'g' is called but not defined in this file}}
}
// ---- a kernel that is called
// expected-no-diagnostics
kernel void g(global int *p) { p[0] = 1; }
kernel void f(global int *p) { g(p); }
// ---- a kernel with local memory that is called
kernel void g(global int *p) { local int x; x = 1; p[0] = x; }
kernel void f(global int *p) {
  g(p);  // expected-error {{kernel 'g' is called like a function, but has local memory of its own; move its body into a function that both call with their local memory}}
}
// ---- a barrier in kill order any
kernel kill_order(any) void f(global int *p) {
  global_barrier();  // expected-error {{'global_barrier' in a kernel of kill_order(any): groups join and leave in any order, so there is no set of groups to wait for}}
}
// ---- a resizing barrier in kill order any
kernel kill_order(any) void f(global int *p) {
  resizing_global_barrier();  // expected-error {{'resizing_global_barrier' in a kernel of kill_order(any)}}
}
// ---- a stride in kill order any
kernel kill_order(any) void f(global int *p, int n) {
  for (int i = get_global_id(); i < n; i += get_global_size()) p[i] = 1;  // expected-error {{'get_global_size' in a kernel of kill_order(any): its ids are not dense, so a stride would skip items; take work from a queue}}
  offer_kill();
}
// ---- a barrier in a function of a kernel of kill order any
void g(void) { global_barrier(); }  // expected-error {{'global_barrier' in a kernel of kill_order(any)}}
kernel kill_order(any) void f(global int *p) { g(); }
// ---- a variable in program scope
global int counter;  // expected-error {{variable 'counter' in program scope is not supported unless it is 'constant'; pass a pointer to the kernel}}
// ---- constants in program scope
// expected-no-diagnostics
enum { three = 3 };
const int size = 4 * three;
const float weights[3] = {0.5f, 1.0f, INFINITY};
const int twice = 2 * sizeof(int);
kernel void f(global float *p) { p[twice] = weights[size % 3]; }
// ---- the address of a constant in program scope
const int numbers[2] = {1, 2};  // expected-note {{'numbers' is declared here}}
int first(global const int *p) { return *p; }
kernel void f(global int *p) {
  p[0] = first(numbers);  // expected-error {{the address of 'numbers' is used, so declare it 'constant'}}
}
// ---- a constant in program scope that is not one
const int *global_pointer;  // expected-error {{variable 'global_pointer' in program scope is not supported}}
// ---- a second dimension in a kernel that does not declare it
void g(global int *p) {
  p[get_local_id(1)] = 1;  // expected-error {{kernel 'f' uses dimension 1, but groups join and leave along dimension 0: declare the shape of a group with reqd_work_group_size}}
}
kernel void f(global int *p) { g(p); resizing_global_barrier(); }
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void h(global int *p) { g(p); resizing_global_barrier(); }
kernel void i(global int *p) { g(p); }
// ---- an image
kernel void f(read_only image2d_t image) {  // expected-error {{type '__read_only image2d_t' is not supported}}
}
// ---- half precision
// expected-no-diagnostics
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void f(global half *p, global float *q) {
  half x = p[0] + 1.0h;
  half4 v = vload4(0, p);
  q[0] = vload_half(1, p) + (float)x;
  vstore_half4_rtz(convert_float4(v * v), 0, p);
}
// ---- a function of halfs
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void f(global half *p) {
  p[0] = sin(p[1]);  // expected-error {{a built-in function of half values is not supported}}
}
// ---- asynchronous copies
// expected-no-diagnostics
kernel void f(global int *p) {
  local int shared[4];
  event_t done = async_work_group_copy(shared, p, 4, 0);
  wait_group_events(1, &done);
  p[0] = shared[3];
}
// ---- an event across a resizing point
kernel void f(global int *p) {
  local int shared[4];
  transmit event_t done = async_work_group_copy(shared, p, 4, 0);  // expected-error {{'transmit' on 'done': wait for the event before groups may join or leave}}
  resizing_global_barrier();
  wait_group_events(1, &done);
}
// ---- a copy by some threads only
kernel void f(global int *p) {
  local int shared[4];
  if (get_local_id() == 0)  // expected-note {{this differs between the threads of a group}}
    async_work_group_copy(shared, p, 4, 0);  // expected-error {{'async_work_group_copy' must be reached by all threads of a group, but control flow depends on the thread here}}
}
// ---- sub-groups
// expected-no-diagnostics
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void f(global int *p) { p[get_sub_group_id()] = sub_group_reduce_add(p[0]); }
// ---- a sub-group function that some threads reach
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void f(global int *p) {
  if (get_local_id() == 0)  // expected-note {{this differs between the threads of a group}}
    p[0] = sub_group_any(1);  // expected-error {{'sub_group_any' must be reached by all threads of a group, but control flow depends on the thread here}}
}
// ---- a barrier behind a condition of a sub-group
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void f(global int *p) {
  if (sub_group_any(p[0]))  // expected-note {{this differs between the threads of a group}}
    barrier(1);  // expected-error {{'barrier' must be reached by all threads of a group, but control flow depends on the thread here}}
}
// ---- a change of a volatile vector
kernel void f(volatile global int4 *p, volatile global int4 *q) {
  *p = *q;
  p->x = q->y;
  *p += *q;  // expected-error {{this change of a volatile vector is not supported}}
  p->xy = q->xy;  // expected-error {{this change of a volatile vector is not supported}}
}
// ---- a vector that is printed
kernel void f(int4 v) {
  printf("%v4d\n", v);  // expected-error {{printing a vector is not supported}}
}
// ---- assembly
kernel void f(global int *p) {
  __asm__("nop");  // expected-error {{assembly is not supported}}
}
// ---- a statement in an expression
kernel void f(global int *p) {
  p[0] = ({ int x = 1; x; });  // expected-error {{a statement in an expression is not supported}}
}
// ---- ?: without a middle operand
kernel void f(global int *p) {
  p[0] = p[1] ?: 2;  // expected-error {{?: without a middle operand is not supported}}
}
// ---- a range of cases
kernel void f(global int *p) {
  switch (p[0]) { case 1 ... 3: p[1] = 2; }  // expected-error {{a range of cases is not supported}}
}
// ---- arguments of a primitive
kernel void f(global int *p) {
  offer_kill(p);  // expected-error {{too many arguments to function call, expected 0, have 1}}
}  // expected-note@* {{'offer_kill' declared here}}
// ---- Clang's own errors come through
kernel void f(global int *p) {
  int x = y;  // expected-error {{use of undeclared identifier 'y'}}
}
// ---- a name of the dialect is free for a user's variable
// expected-no-diagnostics
kernel void f(global int *p) { int query = 1; p[query] = query; }
// ---- a call without its argument, which C allows where there is no prototype
int g(x) { return x; }
kernel void f(global int *p) {
  p[0] = g();  // expected-warning {{too few arguments in call}} expected-error {{a call without the arguments of its function is not supported}}
}
// ---- a component by its number in a choice of components
kernel void f(global int4 *p, int i) {
  int4 v = p[0];
  v[i] = v.hi[i];
  v.hi.x = 1;
  v.hi[i] = 1;  // expected-error {{a change of a component by its number in a choice of components is not supported}}
  p->xz[1]++;   // expected-error {{a change of a component by its number in a choice of components is not supported}}
  p[0] = v;
}
