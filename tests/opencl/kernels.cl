// Kernels of the OpenCL engine's own tests: tasks alongside jobs, and kernels that break rules or never end.

// A job that runs until *stop is set, and counts its rounds. One thread per group reads *stop, so that all its threads
// see the same value.
kernel void spin_at_barriers(global uint *rounds, global uint *stop) {
  transmit uint r = 0;
  while (true) {
    if (get_global_id() == 0) {
      rounds[0] = r + 1;
      rounds[1] = *(volatile global uint *)stop;
    }
    r++;
    global_barrier();
    if (rounds[1] != 0) break;
    resizing_global_barrier();
  }
}

// The same with offer_kill and request_fork instead of barriers.
kernel void spin_at_offers(global uint *rounds, global uint *stop) {
  while (*(volatile global uint *)stop == 0) {
    offer_kill();
    request_fork();
    if (get_local_id() == 0) atomic_inc(rounds);
  }
}

// A task whose groups meet in a barrier.
kernel void meet(global uint *before, global uint *wrong) {
  atomic_inc(before);
  global_barrier();
  if (atomic_or(before, 0u) != get_global_size()) atomic_inc(wrong);
}

// Ends only when *stop is set. Does not reach a primitive until then.
kernel void never_looks(global uint *stop) {
  while (atomic_or(stop, 0u) == 0u) {
  }
}

// Writes to an unmapped address.
kernel void crashes(ulong address) { *(volatile global uint *)address = 1; }

// One of two groups returns; the other arrives at a barrier. cohortc assumes that both read the same value from *word,
// but one group changes it before the other reads it.
kernel void leaves_others_waiting(global uint *tickets, global uint *word) {
  if (get_local_id() == 0) {
    uint ticket = atomic_inc(tickets);
    while (ticket == 1 && atomic_or(word, 0u) == 0u) {
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  uint seen = *(volatile global uint *)word;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_local_id() == 0) atomic_xchg(word, 1u);
  if (seen == 0) return;
  global_barrier();
}

kernel survivors(may_all_leave) kill_order(any) void may_empty(global uint *rounds, global uint *stop) {
  while (*(volatile global uint *)stop == 0) {
    offer_kill();
    request_fork();
    if (get_local_id() == 0) atomic_inc(rounds);
  }
}

// A barrier in a function that returns a value. When the job is cancelled, the function and the kernel return.
uint next_round(uint r) {
  global_barrier();
  return r + 1;
}

kernel void meets_in_a_function(global uint *rounds) {
  for (uint r = 0; ; r = next_round(r)) {
    if (get_global_id() == 0) *rounds = r;
  }
}
