// ---- local memory that is written before a point only
kernel void f(global int *p, int n) {
  local int t[64];  // expected-note {{'t' is declared here}}
  t[get_local_id()] = p[get_global_id()];
  barrier(CLK_LOCAL_MEM_FENCE);
  resizing_global_barrier();  // expected-warning {{'t' is in local memory, and groups that join at this resizing_global_barrier may read theirs before they write it}}
  p[get_global_id()] = t[0];  // expected-note {{read here}}
}
// ---- a variable in local memory
kernel void f(global int *p, int n) {
  local int total;  // expected-note {{'total' is declared here}}
  if (get_local_id() == 0) total = p[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  while (p[0] < n) {
    p[get_global_id()] = total;  // expected-note {{read here}}
    request_fork();  // expected-warning {{'total' is in local memory, and groups that join at this request_fork may read theirs}}
  }
}
// ---- one report names all points
kernel void f(global int *p, int n) {
  local int total;  // expected-note {{'total' is declared here}}
  if (get_local_id() == 0) total = p[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  request_fork();  // expected-warning {{'total' is in local memory}}
  resizing_global_barrier();  // expected-note {{or join at this resizing_global_barrier}}
  p[get_global_id()] = total;  // expected-note {{read here}}
}
// ---- no report: written again after the point, by one thread
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  local int total;
  while (p[0] < n) {
    if (get_local_id() == 0 && n > 1) total = p[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id()] = total;
    resizing_global_barrier();
  }
}
// ---- no report: written again after the point, in a loop
// expected-no-diagnostics
kernel void f(global int *p, int n) {
  local int t[64];
  while (p[0] < n) {
    for (int i = get_local_id(); i < 64; i += get_local_size()) t[i] = p[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id()] = t[1];
    resizing_global_barrier();
  }
}
// ---- local memory that is written again only under a condition
kernel void f(global int *p, int n) {
  local int total;  // expected-note {{'total' is declared here}}
  resizing_global_barrier();  // expected-warning {{'total' is in local memory}}
  if (n) total = p[0];
  p[get_global_id()] = total;  // expected-note {{read here}}
}
// ---- local memory that is read in a function
int first(local int *t) { return t[0]; }
kernel void f(global int *p, int n) {
  local int t[64];  // expected-note {{'t' is declared here}}
  t[get_local_id()] = 1;
  resizing_global_barrier();  // expected-warning {{'t' is in local memory}}
  p[get_global_id()] = first(t);  // expected-note {{read here}}
}
// ---- no report: written again in a function
// expected-no-diagnostics
int first(local int *t) {
  t[get_local_id()] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  return t[0];
}
kernel void f(global int *p, int n) {
  local int t[64];
  while (p[0] < n) {
    p[get_global_id()] = first(t);
    resizing_global_barrier();
  }
}
// ---- local memory of a kernel, around a point in a function
void meet(global int *p, local int *t) {
  t[get_local_id()] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  resizing_global_barrier();  // expected-warning {{'t' is in local memory}}
}
kernel void f(global int *p, int n) {
  local int t[64];  // expected-note {{'t' is declared here}}
  meet(p, t);
  p[get_global_id()] = t[0];  // expected-note {{read here}}
}
// ---- local memory that is read by an atomic operation
kernel void f(global int *p, int n) {
  local int count;  // expected-note {{'count' is declared here}}
  if (get_local_id() == 0) count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  resizing_global_barrier();  // expected-warning {{'count' is in local memory}}
  p[get_global_id()] = atomic_inc(&count);  // expected-note {{read here}}
}
