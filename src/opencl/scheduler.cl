// The workers of a megakernel: work-groups that are sent into jobs and tasks, either by the host or
// by one of them, the scheduler group. Orders and answers are atomics in fine-grained SVM.
// Invariant: only work-groups that have checked in are sent anywhere, so nothing waits for a
// work-group that the device never starts. This text is also C++ for the explorer
// (tests/opencl/scheduler_test.cpp).

#define COHORT_GATE_CLOSED 0x80000000u
#define COHORT_GO_HOME 0xffffffffu

enum { cohort_sent, cohort_in_first, cohort_in_joined, cohort_done };  // the progress of a visit
enum { cohort_refused, cohort_has_left, cohort_has_finished, cohort_has_ended };  // how a visit ended

// One worker's orders and answers. Visits are numbered from 1. The orders come from the scheduler: the host or the
// scheduler group.
typedef struct {
  // Number of the visit to make; written after the next fields.
  atomic_uint order __attribute__((aligned(128)));
  uint first;  // 1: enter by the check-in; 0: by the lobby
  uint serial;
  __global cohort_job* job;
  __global uchar* state;  // memory for any State
  uint visit;  // owned by the scheduler group, like the next two fields
  uint at;  // 1 + the index of its context; 0: idle
  uint in;                // 1: inside the kernel

  atomic_uint answer __attribute__((aligned(128)));  // 4 * visit + progress; written by the worker, after the next fields
  uint stay;
  uint joined;
} cohort_desk;

// A job or a task as the scheduler group knows it (section 4.2 of the paper): the host's claim, and its progress.
typedef struct {
  // Number of first groups, to be sent all at once; written after the next fields; 0 once sent.
  atomic_uint start __attribute__((aligned(128)));
  atomic_uint most;  // maximum number of workers that it can use; 0: all are to leave
  uint weight;  // share relative to other jobs
  uint rigid;   // 1: it has all of its workers from the start to the end
  uint serial;
  __global cohort_job* job;

  // Workers sent and not yet back; the scheduler writes this and the following fields.
  atomic_uint inside __attribute__((aligned(128)));
  atomic_uint over;  // 1: the last worker has come back
  atomic_uint members;  // workers inside the kernel
  atomic_uint joins;
  atomic_uint leaves;
  uint present;  // owned by the scheduler group, like the next fields: whether it has groups, or is to start
  uint starting;  // number of first groups that wait for workers
  uint claimed;  // number of workers that the job can use
  uint share;  // number of workers that the job should have
} cohort_context;

typedef struct {
  atomic_uint gate;  // number of groups that have checked in
  uint census;       // 1: groups are only counted
  uint desk_count;
  __global cohort_desk* desks;
  __global cohort_context* contexts;
  uint context_count;  // 0: the host schedules; otherwise the first group to check in schedules
  atomic_uint limit;  // maximum number of busy workers
} cohort_pool;

// Returns this group's desk, or null if the gate is closed. In a census there is no desk: the group
// stays until the host closes the gate, so the host counts the groups that run at the same time.
static __global cohort_desk* cohort_sign_on(__global cohort_pool* pool, uint* unit) {
  uint count = COHORT_LOAD(pool->gate, relaxed);
  do {
    const uint limit = pool->census ? COHORT_GATE_CLOSED : pool->desk_count;
    if (count >= limit) return 0;  // also true if COHORT_GATE_CLOSED is set
    // Pairs with the host's acquire: this group has checked in.
  } while (!COHORT_SWAP(pool->gate, count, count + 1, acq_rel));
  if (pool->census) COHORT_AWAIT(COHORT_LOAD(pool->gate, relaxed) & COHORT_GATE_CLOSED);
  *unit = count;
  return pool->census ? 0 : &pool->desks[count];
}

// Enters a job, by its check-in or its lobby.
static bool cohort_go_in(cohort_group* group, __global cohort_desk* desk, uint unit, uint visit) {
  group->job = desk->job;
  group->state = desk->state;
  group->unit = unit;
  group->range = 0;
  group->id = group->active = group->gen = group->kinds = group->entry = group->joined = group->left = 0;
  const bool in = (desk->first != 0 && cohort_check_in(group)) || cohort_wait_in_lobby(group, desk->serial, unit);
  desk->joined = group->joined;
  if (in) {
    const uint how = group->joined ? cohort_in_joined : cohort_in_first;
    // Pairs with the host's acquire, which sees this worker's progress.
    COHORT_STORE(desk->answer, 4 * visit + how, release);
  }
  return in;
}

static void cohort_come_out(cohort_group* group, __global cohort_desk* desk, bool was_in, uint visit) {
  uint stay = cohort_refused;
  if (was_in) {
    if (!group->left) {
      cohort_finish(group);
      stay = group->left ? cohort_has_ended : cohort_has_finished;
    } else {
      stay = cohort_faulted(cohort_look(group->job)) ? cohort_has_ended : cohort_has_left;
    }
  }
  desk->stay = stay;
  COHORT_STORE(desk->answer, 4 * visit + cohort_done, release);  // pairs with the host's acquire: it sees all of the worker's writes
}

// ---- The scheduler group

static uint cohort_here(__global cohort_pool* pool) {
  // Pairs with the release of the workers' check-in.
  return COHORT_LOAD(pool->gate, acquire) & ~COHORT_GATE_CLOSED;
}

// Processes workers that have entered or come back. Only this group changes these words of a context, so loads and
// stores suffice. Returns the number of busy workers.
static uint cohort_collect(__global cohort_pool* pool, uint here, bool* moved) {
  uint busy = 0;
  for (uint i = 1; i < here; ++i) {
    __global cohort_desk* desk = &pool->desks[i];
    if (desk->at == 0) continue;
    ++busy;
    __global cohort_context* context = &pool->contexts[desk->at - 1];
    const uint how = COHORT_LOAD(desk->answer, acquire) - 4 * desk->visit;  // pairs with the worker's releases
    if (how > cohort_done || how == cohort_sent) continue;
    const bool was_in = how != cohort_done || desk->stay != cohort_refused;
    if (was_in && !desk->in) {
      desk->in = 1;
      COHORT_ADD(context->members, 1u, relaxed);
      if (desk->joined) COHORT_ADD(context->joins, 1u, relaxed);
    }
    if (how != cohort_done) continue;
    if (desk->in) COHORT_SUB(context->members, 1u, relaxed);
    if (desk->stay == cohort_has_left) COHORT_ADD(context->leaves, 1u, relaxed);
    desk->at = desk->in = 0;
    --busy;
    *moved = true;
    // Pairs with the host's acquire: it sees all of the worker's writes. Not over while the first groups are still to
    // be sent.
    if (COHORT_SUB(context->inside, 1u, acq_rel) == 1) COHORT_STORE(context->over, 1u, release);
  }
  return busy;
}

static void cohort_dispatch(__global cohort_pool* pool, uint here, uint which, uint count, uint first) {
  __global cohort_context* context = &pool->contexts[which];
  COHORT_ADD(context->inside, count, acq_rel);  // before any of these workers can be back
  for (uint i = 1; i < here && count > 0; ++i) {
    __global cohort_desk* desk = &pool->desks[i];
    if (desk->at != 0) continue;
    --count;
    desk->at = which + 1;
    desk->job = context->job;
    desk->serial = context->serial;
    desk->first = first;
    if (++desk->visit == COHORT_GO_HOME) desk->visit = 1;
    COHORT_STORE(desk->order, desk->visit, release);  // pairs with the worker's acquire
  }
}

// Reads the host's claims. Returns true if any has changed.
static bool cohort_read_claims(__global cohort_pool* pool) {
  bool changed = false;
  for (uint i = 0; i < pool->context_count; ++i) {
    __global cohort_context* context = &pool->contexts[i];
    const uint starting = COHORT_LOAD(context->start, acquire);  // pairs with the host's release
    const uint inside = COHORT_LOAD(context->inside, relaxed);
    // Otherwise the host may be writing the other fields.
    const uint present = starting + inside != 0;
    uint claimed = 0;
    if (present && context->rigid) claimed = max(starting, inside);
    // Pairs with the host's release: it writes the flags first.
    // The first groups get their workers even if the job is to leave.
    if (present && !context->rigid) claimed = max(starting, COHORT_LOAD(context->most, acquire));
    changed |= present != context->present || starting != context->starting || claimed != context->claimed;
    context->present = present;
    context->starting = starting;
    context->claimed = claimed;
  }
  return changed;
}

// Decides how many workers each job should have: share_out() of src/scheduler/policy.cpp, for jobs
// that the host has started. Tasks and static launches have all of their workers, or wait for them.
// Every other job has one, or as many as it starts with, and the rest is shared by weight.
static void cohort_share_out(__global cohort_pool* pool, uint workers) {
  uint left = workers;
  for (uint i = 0; i < pool->context_count; ++i) {
    __global cohort_context* context = &pool->contexts[i];
    context->share = context->rigid ? context->claimed : max(context->starting, min(1u, context->claimed));
    left -= min(left, context->share);
  }
  while (left > 0) {
    __global cohort_context* poorest = 0;
    for (uint i = 0; i < pool->context_count; ++i) {
      __global cohort_context* context = &pool->contexts[i];
      if (context->share == 0 || context->share >= context->claimed) continue;
      const bool first = poorest == 0;
      if (first || (ulong)context->share * poorest->weight < (ulong)poorest->share * context->weight) poorest = context;
    }
    if (poorest == 0) break;
    ++poorest->share;
    --left;
  }
}

// Publishes to the groups of each job how many of them there should be.
static void cohort_publish(__global cohort_pool* pool) {
  for (uint i = 0; i < pool->context_count; ++i) {
    __global cohort_context* context = &pool->contexts[i];
    if (!context->present || context->rigid) continue;
    const cohort_roster roster = cohort_look_acquire(context->job);
    // Groups that have returned count in M, but are not workers any more.
    const uint returned = cohort_draining(roster) && context->share > 0 ? cohort_arrived_of(roster) : 0;
    const uint target = context->share + returned;
    if (COHORT_LOAD(context->job->share, relaxed) == target) continue;
    // Stored after the flags, which came with the claim. Pairs with the acquire in the offers.
    COHORT_STORE(context->job->share, target, release);
  }
}

// Sends idle workers: first to jobs that are about to start, then to jobs with fewer workers than
// their share.
static bool cohort_hand_out(__global cohort_pool* pool, uint here, uint workers, uint busy) {
  uint idle = workers > busy ? workers - busy : 0;
  bool moved = false;
  for (uint i = 0; i < pool->context_count && idle > 0; ++i) {
    __global cohort_context* context = &pool->contexts[i];
    const uint start = COHORT_LOAD(context->start, acquire);  // pairs with the host's release
    if (start == 0 || start > idle) continue;
    cohort_dispatch(pool, here, i, start, 1);
    COHORT_STORE(context->start, 0u, release);  // pairs with the host's acquire: the workers are counted
    idle -= start;
    moved = true;
  }
  for (uint i = 0; i < pool->context_count && idle > 0; ++i) {
    __global cohort_context* context = &pool->contexts[i];
    const uint inside = COHORT_LOAD(context->inside, relaxed);
    if (inside == 0 || context->rigid || inside >= context->share) continue;
    if (cohort_unwanted(context->job, context->serial)) continue;
    const uint count = min(idle, context->share - inside);
    cohort_dispatch(pool, here, i, count, 0);
    idle -= count;
    moved = true;
  }
  return moved;
}

// Runs until the host sends this group home, and then sends all others home.
static void cohort_schedule(__global cohort_pool* pool) {
  uint polls = 0;
  uint shared_out = 0;  // number of workers at the last decision
  while (COHORT_LOAD(pool->desks[0].order, acquire) != COHORT_GO_HOME) {  // pairs with the host's release
    const uint here = cohort_here(pool);
    bool moved = false;
    const uint busy = cohort_collect(pool, here, &moved);
    const uint workers = min(here - 1, COHORT_LOAD(pool->limit, relaxed));
    if (cohort_read_claims(pool) || moved || workers != shared_out) cohort_share_out(pool, shared_out = workers);
    cohort_publish(pool);
    if (cohort_hand_out(pool, here, workers, busy)) moved = true;
    polls = moved ? 0 : polls + 1;
    cohort_doze(polls);
  }
  const uint here = cohort_here(pool);
  for (uint i = 1; i < here; ++i) COHORT_STORE(pool->desks[i].order, COHORT_GO_HOME, release);
}
