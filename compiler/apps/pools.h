// Task pools for work stealing, one per group slot, each under a lock. A group pops from its own pool, else steals, first where it
// stole last; new tasks go to its own pool, or to the next that has room. Tasks are numbers. `lost` tells the host of a task that
// no pool had room for.
#include "atomics.h"

typedef struct {
  uint lock;
  uint count;
  uint victim;    // how far from this pool its group stole last
  uint line[13];  // to itself
} pool;

void lock_pool(global pool *p) {
  while (atomic_exchange_explicit((global atomic_uint *)&p->lock, 1u, memory_order_acquire, memory_scope_device) != 0u) {
  }
}

void unlock_pool(global pool *p) {
  atomic_store_explicit((global atomic_uint *)&p->lock, 0u, memory_order_release, memory_scope_device);
}

// By one thread. False: there was nothing.
bool pop(global pool *p, global uint *its_tasks, uint *task) {
  if (peek(&p->count) == 0) return false;
  lock_pool(p);
  uint size = peek(&p->count);
  bool has = size > 0;
  if (has) {
    *task = its_tasks[size - 1];
    poke(&p->count, size - 1);
  }
  unlock_pool(p);
  return has;
}

// By one thread. False: there was nothing anywhere.
bool pop_or_steal(global pool *pools, global uint *tasks, uint count, uint room, uint own, uint *task) {
  if (pop(&pools[own], tasks + own * room, task)) return true;
  uint far = max(pools[own].victim, 1u);
  for (uint i = 1; i < count; i++, far = far + 1 < count ? far + 1 : 1) {
    uint which = own + far < count ? own + far : own + far - count;
    if (!pop(&pools[which], tasks + which * room, task)) continue;
    pools[own].victim = far;
    return true;
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
