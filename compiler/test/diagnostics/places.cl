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
int g(int x) { return x ? h(x - 1) : 0; }  // expected-error {{recursion, here of 'h', is not allowed in OpenCL C}}
kernel void f(global int *p) { p[0] = h(3); }
// ---- a function that is not defined
int g(int x);
kernel void f(global int *p) {
  p[0] = g(1);  // expected-error {{function 'g' is called but not defined in this file}}
}
// ---- a kernel that is called
kernel void g(global int *p) { p[0] = 1; }
kernel void f(global int *p) {
  g(p);  // expected-error {{kernel 'g' is called like a function; move its body into a function that both call}}
}
// ---- a barrier in kill order any
kernel kill_order(any) void f(global int *p) {
  global_barrier();  // expected-error {{'global_barrier' in a kernel of kill_order(any): groups come and go in any order, so there is no set of groups to wait for}}
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
// ---- an image
kernel void f(read_only image2d_t image) {  // expected-error {{type '__read_only image2d_t' is not supported}}
}
// ---- half precision
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void f(global half *p) {  // expected-error {{type 'half' is not supported}}
  half x = p[0];  // expected-error {{type 'half' is not supported}}
}
// ---- an event
kernel void f(global int *p) {
  local int shared[4];
  event_t done = async_work_group_copy(shared, p, 4, 0);  // expected-error {{type 'event_t' is not supported}} expected-error {{built-in function 'async_work_group_copy' is not supported}}
}
// ---- a sub-group function
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void f(global int *p) {
  p[0] = get_sub_group_id();  // expected-error {{built-in function 'get_sub_group_id' is not supported}}
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
