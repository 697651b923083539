// Task pools for work stealing, one per group slot, each under a lock. A group pops what it pushed last, else steals what another
// pushed first, which mostly is the largest, and first where it stole last; new tasks go to its own pool, or to the next that has
// room. Tasks are numbers. `left` is work that is not done, and `lost` tells the host of a task that no pool had room for.
#include "atomics.h"

#define NO_TASK 0xffffffffu
#define ALL_DONE 0xfffffffeu

typedef struct {
  uint lock;
  uint count;
  uint victim;    // how far from this pool its group stole last
  uint first;     // where the oldest task is; behind the last place of the room comes the first
  uint line[12];  // to itself
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

// Where the task is that is so many behind the oldest one. By who has the lock.
global uint *place_of(global pool *p, global uint *its_tasks, uint room, uint behind) {
  return &its_tasks[(p->first + behind) % room];
}

// By one thread: the last task.
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

// By one thread: the first. Does not wait for the lock: whoever has it takes or adds, and one can look again.
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

// By all threads of a group, who meet here: a task for it, NO_TASK, or ALL_DONE when everybody stops. They seek a pool to steal from
// together, each at another one.
uint pop_or_steal(global pool *pools, global uint *tasks, uint count, uint room, uint own, global uint *left, global uint *lost) {
  uint task = NO_TASK, victim = 0;
  if (get_local_id() == 0) {
    uint stopped = peek(lost);  // looked at when there is a task: the next loads need not wait for it
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

// By one thread: the tasks `first` + i for the bits i, up to eight, of `which`, the lowest to be popped first.
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
