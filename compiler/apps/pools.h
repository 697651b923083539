// Task pools for work stealing, one per group slot, each under a lock. A group pops from its own pool, else steals; new tasks go
// to its own pool, or to the next that has room. Tasks are numbers. `lost` tells the host of a task that no pool had room for.
typedef struct {
  uint lock;
  uint count;
} pool;

void lock_pool(global pool *p) {
  while (atomic_cmpxchg(&p->lock, 0u, 1u) != 0u) {
  }
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
}

void unlock_pool(global pool *p) {
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
  atomic_xchg(&p->lock, 0u);
}

// By one thread. False: there was nothing anywhere.
bool pop_or_steal(global pool *pools, global uint *tasks, uint count, uint room, uint own, uint *task) {
  for (uint i = 0; i < count; i++) {
    uint which = (own + i) % count;
    global pool *p = &pools[which];
    if (atomic_or(&p->count, 0u) == 0u) continue;
    lock_pool(p);
    bool has = p->count > 0;
    if (has) *task = tasks[which * room + --p->count];
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
    bool has_room = p->count < room;
    if (has_room) tasks[which * room + p->count++] = task;
    unlock_pool(p);
    if (has_room) return;
  }
  atomic_xchg(lost, 1u);
}
