// Relaxed loads and stores of words that other threads change at the same time.
uint peek(global uint *at) { return atomic_load_explicit((global atomic_uint *)at, memory_order_relaxed, memory_scope_device); }

void poke(global uint *at, uint value) {
  atomic_store_explicit((global atomic_uint *)at, value, memory_order_relaxed, memory_scope_device);
}
