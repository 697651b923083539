// ---- a parameter is assigned
kernel void f(global int *p, int n) {
  n = 3;  // expected-error {{parameter 'n' of a kernel is immutable: groups that join read it again; copy it into a variable}}
  resizing_global_barrier();
}  // expected-note@-3 {{'n' is declared here}}
// ---- a parameter is incremented
kernel void f(global int *p, int n) {  // expected-note {{'n' is declared here}}
  resizing_global_barrier();
  n++;  // expected-error {{parameter 'n' of a kernel is immutable}}
}
// ---- a pointer parameter is moved on
kernel void f(global int *p, int n) {  // expected-note {{'p' is declared here}}
  resizing_global_barrier();
  p += n;  // expected-error {{parameter 'p' of a kernel is immutable}}
}
// ---- part of a parameter is assigned
struct pair { int a, b; };
kernel void f(struct pair s) {  // expected-note {{'s' is declared here}}
  resizing_global_barrier();
  s.a = 1;  // expected-error {{parameter 's' of a kernel is immutable}}
}
// ---- an element of a vector parameter is assigned
kernel void f(float4 v) {  // expected-note {{'v' is declared here}}
  resizing_global_barrier();
  v.xy = (float2)(0);  // expected-error {{parameter 'v' of a kernel is immutable}}
}
// ---- the address of a parameter is taken
void g(int *x);
void g(int *x) { *x = 1; }
kernel void f(int n) {  // expected-note {{'n' is declared here}}
  resizing_global_barrier();
  g(&n);  // expected-error {{address of parameter 'n' taken: parameters of a kernel are immutable}}
}
// ---- no error: a write to a parameter's target is not a write to the parameter
// expected-no-diagnostics
kernel void f(global int *p, int n) { p[n] = 1; *p = 2; p[0]++; }
// ---- no error: a function may change its own parameters
// expected-no-diagnostics
int g(int x) { x++; return x; }
kernel void f(global int *p) { p[0] = g(p[0]); }
// ---- no error: a kernel that no group joins may change its parameters
// expected-no-diagnostics
void g(int *x) { *x = 1; }
kernel void f(global int *p, int n) { p += n; n++; g(&n); p[0] = n; }
// ---- local memory as a parameter
// expected-no-diagnostics
kernel void f(local int *shared, global int *p) {
  shared[get_local_id()] = p[get_global_id()];
  barrier(1);
  p[get_global_id()] = shared[0];
}
// ---- a pointer to a local parameter is transmitted
kernel void f(local int *shared, global int *p) {
  transmit local int *mine = shared;  // expected-error {{'mine' points to local memory, so it cannot be transmitted: a joining group has local memory of its own}}
  resizing_global_barrier();
  p[0] = mine[0];
}
// ---- an unknown kill order
kernel kill_order(lowest) void f(global int *p) {  // expected-error {{unknown kill_order(lowest): use kill_order(highest_first) or kill_order(any)}}
}
// ---- unknown survivors
kernel survivors(two) void f(global int *p) {  // expected-error {{unknown survivors(two): use survivors(keep_one) or survivors(may_all_leave)}}
}
// ---- a kill order on a function
kill_order(any) void g(void) {  // expected-error {{kill_order applies to kernels only, and 'g' is not a kernel}}
}
// ---- the known traits
// expected-no-diagnostics
kernel kill_order(highest_first) survivors(may_all_leave) void f(global int *p) { offer_kill(); }
kernel kill_order(any) survivors(keep_one) void g(global int *p) { offer_kill(); request_fork(); }
