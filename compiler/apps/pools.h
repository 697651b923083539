// Task pools for work stealing, one per group slot, each under a lock. A group pops from its own pool, else steals; new tasks go
// to its own pool, or to the next that has room. Tasks are numbers. `lost` tells the host of a task that no pool had room for.
#include "atomics.h"

typedef struct {
  uint lock;
  uint count;
  uint line[14];  // to itself
} pool;

void lock_pool(global pool *p) {
  while (atomic_exchange_explicit((global atomic_uint *)&p->lock, 1u, memory_order_acquire, memory_scope_device) != 0u) {
  }
}

void unlock_pool(global pool *p) {
  atomic_store_explicit((global atomic_uint *)&p->lock, 0u, memory_order_release, memory_scope_device);
}

// By one thread. False: there was nothing anywhere.
bool pop_or_steal(global pool *pools, global uint *tasks, uint count, uint room, uint own, uint *task) {
  for (uint i = 0; i < count; i++) {
    uint which = (own + i) % count;
    global pool *p = &pools[which];
    if (peek(&p->count) == 0) continue;
    lock_pool(p);
    uint size = peek(&p->count);
    bool has = size > 0;
    if (has) {
      *task = tasks[which * room + size - 1];
      poke(&p->count, size - 1);
    }
    unlock_pool(p);
    if (has) return true;
  }
  return false;
}

// By one thread.
void push_task(global pool *pools, global uint *tasks, uint count, uint room, uint own, uint task, global uint *lost) {
  for (uint i = 0; i < count; i++) {
    uint which = (own + i) % count;
    global pool *p = &pools[which];
    lock_pool(p);
    uint size = peek(&p->count);
    bool has_room = size < room;
    if (has_room) {
      tasks[which * room + size] = task;
      poke(&p->count, size + 1);
    }
    unlock_pool(p);
    if (has_room) return;
  }
  poke(lost, 1);
}
