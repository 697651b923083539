// Task pools for work stealing, one per group slot, each under a lock. A group pops from its own pool, else steals, first where it
// stole last; new tasks go to its own pool, or to the next that has room. Tasks are numbers. `lost` tells the host of a task that
// no pool had room for.
#include "atomics.h"

#define NO_TASK 0xffffffffu

typedef struct {
  uint lock;
  uint count;
  uint victim;    // how far from this pool its group stole last
  uint line[13];  // to itself
} pool;

bool try_lock_pool(global pool *p) {
  return atomic_exchange_explicit((global atomic_uint *)&p->lock, 1u, memory_order_acquire, memory_scope_device) == 0u;
}

void lock_pool(global pool *p) {
  while (!try_lock_pool(p)) {
  }
}

void unlock_pool(global pool *p) {
  atomic_store_explicit((global atomic_uint *)&p->lock, 0u, memory_order_release, memory_scope_device);
}

// By one thread that has the lock, and gives it back.
uint last_of_locked(global pool *p, global uint *its_tasks) {
  uint size = peek(&p->count), task = NO_TASK;
  if (size > 0) {
    task = its_tasks[size - 1];
    poke(&p->count, size - 1);
  }
  unlock_pool(p);
  return task;
}

// By one thread.
uint pop(global pool *p, global uint *its_tasks) {
  if (peek(&p->count) == 0) return NO_TASK;
  lock_pool(p);
  return last_of_locked(p, its_tasks);
}

// By one thread. Does not wait for the lock: whoever has it takes or adds, and one can look again.
uint steal(global pool *p, global uint *its_tasks) {
  if (peek(&p->count) == 0 || !try_lock_pool(p)) return NO_TASK;
  return last_of_locked(p, its_tasks);
}

// By all threads of a group: a task for it, or NO_TASK. They seek a pool to steal from together, each at another one.
uint pop_or_steal(global pool *pools, global uint *tasks, uint count, uint room, uint own) {
  uint task = NO_TASK, victim = 0;
  if (get_local_id() == 0) {
    task = pop(&pools[own], tasks + own * room);
    if (task == NO_TASK) {
      victim = (own + pools[own].victim) % count;
      task = steal(&pools[victim], tasks + victim * room);
    }
  }
  task = work_group_broadcast(task, 0);
  if (task != NO_TASK) return task;
  victim = work_group_broadcast(victim, 0);
  uint steps = get_local_id();
  while (steps < count && peek(&pools[(victim + steps) % count].count) == 0) steps += get_local_size();
  steps = work_group_reduce_min(steps);
  if (get_local_id() == 0 && steps < count) {
    victim = (victim + steps) % count;
    pools[own].victim = (victim + count - own) % count;
    task = steal(&pools[victim], tasks + victim * room);
  }
  return work_group_broadcast(task, 0);
}

// By one thread: the tasks `first` + i for the bits i, up to eight, of `which`, the lowest to be popped first.
void push_tasks(global pool *pools, global uint *tasks, uint count, uint room, uint own, uint first, uint which, global uint *lost) {
  for (uint far = 0; far < count && which != 0; far++) {
    uint where = (own + far) % count;
    global pool *p = &pools[where];
    lock_pool(p);
    uint size = peek(&p->count);
    for (uint i = 8; i-- > 0 && size < room;) {
      if ((which >> i & 1u) == 0) continue;
      tasks[where * room + size++] = first + i;
      which -= 1u << i;
    }
    poke(&p->count, size);
    unlock_pool(p);
  }
  if (which != 0) poke(lost, 1);
}
