// ---- live reports what it transmits
kernel void f(global int *p, int n) {  // expected-remark {{kernel 'f' transmits level, i}}
  int level = p[0];
  for (int i = 0; i < n; i++) {
    resizing_global_barrier();
    p[get_global_id()] = level;
  }
}
// ---- live transmits nothing that is dead
kernel void f(global int *p, int n) {  // expected-remark {{kernel 'f' transmits nothing}}
  int level = p[0];
  p[get_global_id()] = level;
  resizing_global_barrier();
}
// ---- live cannot transmit a variable that differs between threads
kernel void f(global int *p, int n) {  // expected-remark {{kernel 'f' transmits tid}}
  int tid = get_global_id();  // expected-note {{'tid' gets a value that differs here}}
  resizing_global_barrier();  // expected-error {{'tid' is transmitted here, but differs between the threads of a group}}
  p[tid] = 1;
}
// ---- live cannot transmit a pointer to local memory
kernel void f(global int *p, int n) {  // expected-remark {{kernel 'f' transmits at}}
  local int shared[4];
  local int *at = shared;  // expected-note {{'at' points to local memory, which a joining group does not share: set it again after this resizing_global_barrier}}
  resizing_global_barrier();  // expected-error {{'at' cannot be transmitted: it points to local memory here, which a joining group does not share}}
  p[0] = at[n];
}
