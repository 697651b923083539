// The megakernel: a pool of workers, each a work-group that goes where the host sends it. The host's orders and the workers'
// answers are atomics in fine-grained SVM. Comes after the protocol, the programs, and two things made for them:
// cohort_locals, the local memory of any of their kernels, and cohort_enter, which calls the kernel of a job.
// Invariant: only work-groups that have checked in are sent anywhere, so nobody waits for one that the device never starts.

#define COHORT_GATE_CLOSED 0x80000000u
#define COHORT_GO_HOME 0xffffffffu

enum { cohort_sent, cohort_in_first, cohort_in_joined, cohort_done };             // how far a visit has come
enum { cohort_refused, cohort_has_left, cohort_has_finished, cohort_has_ended };  // how it went

// One worker's orders and answers. A visit has a number, from 1 on.
typedef struct {
  atomic_uint order __attribute__((aligned(128)));  // the visit to make; by the host, after the fields that follow
  uint first;                                       // to the check-in rather than the lobby
  uint serial;
  __global cohort_job* job;
  __global uchar* state;  // room for any State

  atomic_uint answer __attribute__((aligned(128)));  // 4 * visit + how far; by the worker, after the fields that follow
  uint stay;
  uint joined;
} cohort_desk;

typedef struct {
  atomic_uint gate;  // groups that have checked in
  uint desk_count;
  __global cohort_desk* desks;
} cohort_pool;

// This group's desk; null: the gate is closed.
static __global cohort_desk* cohort_sign_on(__global cohort_pool* pool, uint* unit) {
  uint count = COHORT_LOAD(pool->gate, relaxed);
  do {
    if (count >= pool->desk_count) return 0;  // COHORT_GATE_CLOSED too
  } while (!COHORT_SWAP(pool->gate, count, count + 1, acq_rel));  // the host's acquire: it is here
  *unit = count;
  return &pool->desks[count];
}

// Goes into a job: to its check-in or its lobby.
static bool cohort_go_in(cohort_group* group, __global cohort_desk* desk, uint unit, uint visit) {
  group->job = desk->job;
  group->state = desk->state;
  group->unit = unit;
  group->id = group->active = group->gen = group->kinds = group->joined = group->left = 0;
  const bool in = (desk->first != 0 && cohort_check_in(group)) || cohort_wait_in_lobby(group, desk->serial, unit);
  desk->joined = group->joined;
  if (in) {
    const uint how = group->joined ? cohort_in_joined : cohort_in_first;
    COHORT_STORE(desk->answer, 4 * visit + how, release);  // pairs with the host's acquire
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
  COHORT_STORE(desk->answer, 4 * visit + cohort_done, release);  // pairs with the host's acquire: all its work is seen
}

// `scratch`: a word for each thread, and one.
__kernel void cohort_megakernel(__global cohort_pool* pool, __local ulong* scratch) {
  __local cohort_member member;
  __local cohort_locals locals;
  __local uint visit;
  __local uint inside;
  __global cohort_desk* desk = 0;
  uint unit = 0;
  uint last = 0;
  if (cohort_leads()) {
    member.scratch = scratch;
    desk = cohort_sign_on(pool, &unit);
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

// What the host has to know of how this compiler lays things out.
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
  sizes[at++] = sizeof(cohort_event);
  cohort_state_sizes(&sizes[at]);
}
