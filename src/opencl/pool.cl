// The megakernel: a pool of workers, each a work-group that the host sends into jobs and tasks. The host's orders and
// the workers' answers are atomics in fine-grained SVM. This text follows the protocol, the programs, and two generated
// parts: cohort_locals, the local memory of any of their kernels, and cohort_enter, which calls the kernel of a job.
// Invariant: only work-groups that have checked in are sent anywhere, so nothing waits for a work-group that the device
// never starts.

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

// A job or a task as the scheduler group knows it (section 4.2 of the paper): the host's requests, and their progress.
typedef struct {
  // Number of first groups, to be sent all at once; written after the next fields; 0 once sent.
  atomic_uint start __attribute__((aligned(128)));
  atomic_uint wanted;  // number of workers wanted once it has started
  uint serial;
  __global cohort_job* job;

  // Workers sent and not yet back; the scheduler writes this and the following fields.
  atomic_uint inside __attribute__((aligned(128)));
  atomic_uint over;  // 1: the last worker has come back
  atomic_uint members;  // workers inside the kernel
  atomic_uint joins;
  atomic_uint leaves;
} cohort_context;

typedef struct {
  atomic_uint gate;  // number of groups that have checked in
  uint desk_count;
  __global cohort_desk* desks;
  __global cohort_context* contexts;
  uint context_count;  // 0: the host schedules; otherwise the first group to check in schedules
  atomic_uint limit;  // maximum number of busy workers
} cohort_pool;

// Returns this group's desk, or null if the gate is closed.
static __global cohort_desk* cohort_sign_on(__global cohort_pool* pool, uint* unit) {
  uint count = COHORT_LOAD(pool->gate, relaxed);
  do {
    if (count >= pool->desk_count) return 0;  // also true if COHORT_GATE_CLOSED is set
  // Pairs with the host's acquire: this group has checked in.
  } while (!COHORT_SWAP(pool->gate, count, count + 1, acq_rel));
  *unit = count;
  return &pool->desks[count];
}

// Enters a job, by its check-in or its lobby.
static bool cohort_go_in(cohort_group* group, __global cohort_desk* desk, uint unit, uint visit) {
  group->job = desk->job;
  group->state = desk->state;
  group->unit = unit;
  group->range = 0;
  group->id = group->active = group->gen = group->kinds = group->joined = group->left = 0;
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

// Sends idle workers: first to jobs that are about to start, then to jobs with fewer workers than
// wanted.
static bool cohort_hand_out(__global cohort_pool* pool, uint here, uint busy) {
  const uint limit = min(here - 1, COHORT_LOAD(pool->limit, relaxed));
  uint idle = limit > busy ? limit - busy : 0;
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
    const uint wanted = COHORT_LOAD(context->wanted, acquire);
    if (inside == 0 || inside >= wanted || cohort_unwanted(context->job, context->serial)) continue;
    const uint count = min(idle, wanted - inside);
    cohort_dispatch(pool, here, i, count, 0);
    idle -= count;
    moved = true;
  }
  return moved;
}

// Runs until the host sends this group home, and then sends all others home.
static void cohort_schedule(__global cohort_pool* pool) {
  uint polls = 0;
  while (COHORT_LOAD(pool->desks[0].order, acquire) != COHORT_GO_HOME) {  // pairs with the host's release
    const uint here = cohort_here(pool);
    bool moved = false;
    const uint busy = cohort_collect(pool, here, &moved);
    if (cohort_hand_out(pool, here, busy)) moved = true;
    polls = moved ? 0 : polls + 1;
    cohort_doze(polls);
  }
  const uint here = cohort_here(pool);
  for (uint i = 1; i < here; ++i) COHORT_STORE(pool->desks[i].order, COHORT_GO_HOME, release);
}

// `scratch` has a word per thread, and one more. `more_local` is memory for parameters of kernels,
// aligned for any type.
__kernel void cohort_megakernel(__global cohort_pool* pool, __local ulong* scratch, __local ulong16* more_local) {
  __local cohort_member member;
  __local cohort_locals locals;
  __local uint visit;
  __local uint inside;
  __global cohort_desk* desk = 0;
  uint unit = 0;
  uint last = 0;
  if (cohort_leads()) {
    member.scratch = scratch;
    member.more_local = (__local uchar*)more_local;
    desk = cohort_sign_on(pool, &unit);
    if (desk != 0 && unit == 0 && pool->context_count != 0) {
      cohort_schedule(pool);
      desk = 0;
    }
    visit = desk == 0 ? COHORT_GO_HOME : 0;
  }
  COHORT_MEET();
  while (visit != COHORT_GO_HOME) {
    if (cohort_leads()) {
      uint order;
      COHORT_AWAIT((order = COHORT_LOAD(desk->order, acquire), order != last));  // pairs with the host's release
      last = order;
      inside = order != COHORT_GO_HOME && cohort_go_in(&member, desk, unit, order);
      if (order != COHORT_GO_HOME && !inside) cohort_come_out(&member, desk, false, order);
    }
    COHORT_MEET();
    if (inside) cohort_enter(&member, &locals);
    COHORT_MEET();
    if (cohort_leads()) {
      if (inside) cohort_come_out(&member, desk, true, last);
      visit = last;
    }
    COHORT_MEET();
  }
}

// Tells the host how this compiler lays out the shared structures.
__kernel void cohort_layout(__global uint* sizes) {
  __global cohort_job* job = 0;
  __global cohort_desk* desk = 0;
  uint at = 0;
#define COHORT_OFFSET(base, field) sizes[at++] = (uint)((ulong)&base->field - (ulong)base)
  COHORT_OFFSET(job, roster);
  COHORT_OFFSET(job, share);
  COHORT_OFFSET(job, serial);
  COHORT_OFFSET(job, fork_lock);
  COHORT_OFFSET(job, fault);
  COHORT_OFFSET(job, which);
  COHORT_OFFSET(job, restarted);
  COHORT_OFFSET(job, boxes);
  COHORT_OFFSET(job, events);
  COHORT_OFFSET(job, event_count);
  sizes[at++] = sizeof(cohort_job);
  COHORT_OFFSET(desk, order);
  COHORT_OFFSET(desk, state);
  COHORT_OFFSET(desk, answer);
  COHORT_OFFSET(desk, joined);
  sizes[at++] = sizeof(cohort_desk);
  __global cohort_context* context = 0;
  COHORT_OFFSET(context, job);
  COHORT_OFFSET(context, inside);
  COHORT_OFFSET(context, leaves);
  sizes[at++] = sizeof(cohort_context);
  __global cohort_pool* pool = 0;
  COHORT_OFFSET(pool, limit);
  sizes[at++] = sizeof(cohort_event);
  cohort_state_sizes(&sizes[at]);
}
