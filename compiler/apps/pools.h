// Task pools for work stealing, one per group slot, each with a lock. A group pops the task it pushed last. If its pool is
// empty, it steals the task that another group pushed first, usually the largest, and starts looking where it last found one.
// New tasks go to the group's own pool, or to the next one that has room. Tasks are numbers. `left` is the amount of work that
// is not done. `lost` tells the host that no pool had room for a task.
#include "atomics.h"

#define NO_TASK 0xffffffffu
#define ALL_DONE 0xfffffffeu

typedef struct {
  uint lock;
  uint count;
  uint victim;    // distance from this pool to the one from which its group stole last
  uint first;     // position of the oldest task in the circular buffer
  uint line[12];  // fills the cache line
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

// The place of the task that is `behind` positions after the oldest. Call it with the lock held.
global uint *place_of(global pool *p, global uint *its_tasks, uint room, uint behind) {
  return &its_tasks[(p->first + behind) % room];
}

// One thread only: takes the newest task.
uint pop(global pool *p, global uint *its_tasks, uint room) {
  if (peek(&p->count) == 0) return NO_TASK;
  lock_pool(p);
  uint size = peek(&p->count), task = NO_TASK;
  if (size > 0) {
    task = *place_of(p, its_tasks, room, size - 1);
    poke(&p->count, size - 1);
  }
  unlock_pool(p);
  return task;
}

// One thread only: takes the oldest task. Does not wait for the lock: its holder is about to take or add a task, and the caller
// can try again.
uint steal(global pool *p, global uint *its_tasks, uint room) {
  if (peek(&p->count) == 0 || !try_lock_pool(p)) return NO_TASK;
  uint size = peek(&p->count), task = NO_TASK;
  if (size > 0) {
    task = *place_of(p, its_tasks, room, 0);
    p->first = (p->first + 1) % room;
    poke(&p->count, size - 1);
  }
  unlock_pool(p);
  return task;
}

// Called by all threads of a group, which meet here. Returns a task for the group, NO_TASK, or ALL_DONE if all groups should
// stop. The threads search for a pool to steal from together, each testing a different one.
uint pop_or_steal(global pool *pools, global uint *tasks, uint count, uint room, uint own, global uint *left, global uint *lost) {
  uint task = NO_TASK, victim = 0;
  if (get_local_id() == 0) {
    uint stopped = peek(lost);  // used only if there is a task, so the next loads need not wait for this one
    task = pop(&pools[own], tasks + own * room, room);
    if (task == NO_TASK) {
      victim = (own + pools[own].victim) % count;
      task = steal(&pools[victim], tasks + victim * room, room);
    }
    if (stopped != 0 || (task == NO_TASK && peek(left) == 0)) task = ALL_DONE;
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
    task = steal(&pools[victim], tasks + victim * room, room);
  }
  return work_group_broadcast(task, 0);
}

// One thread only: pushes the tasks `first` + i for each bit i of `which` (up to eight), such that the lowest is popped first.
void push_tasks(global pool *pools, global uint *tasks, uint count, uint room, uint own, uint first, uint which, global uint *lost) {
  for (uint far = 0; far < count && which != 0; far++) {
    uint where = (own + far) % count;
    global pool *p = &pools[where];
    lock_pool(p);
    uint size = peek(&p->count);
    for (uint i = 8; i-- > 0 && size < room;) {
      if ((which >> i & 1u) == 0) continue;
      *place_of(p, tasks + where * room, room, size++) = first + i;
      which -= 1u << i;
    }
    poke(&p->count, size);
    unlock_pool(p);
  }
  if (which != 0) poke(lost, 1);
}
