// The protocol of include/cohort/protocol in OpenCL C 3.0: roster, lobby, kill, fork, barrier and
// paper_barriers, in this order, each written like its header. Template parameters become fields of
// the job. Host and device share these words by fine-grained SVM. Invariant: thread 0 acts for its
// group, between two meetings of the group. Every atomic is visible to the host. This text is also
// C++ for the explorer, which supplies its own atomics, waiting and watched memory
// (tests/opencl/protocol_test.cpp).

#if !defined(COHORT_EXPLORED)
#define COHORT_SCOPE memory_scope_all_svm_devices
#define COHORT_LOAD(word, order) atomic_load_explicit(&(word), memory_order_##order, COHORT_SCOPE)
#define COHORT_STORE(word, value, order) atomic_store_explicit(&(word), value, memory_order_##order, COHORT_SCOPE)
#define COHORT_ADD(word, value, order) atomic_fetch_add_explicit(&(word), value, memory_order_##order, COHORT_SCOPE)
#define COHORT_SUB(word, value, order) atomic_fetch_sub_explicit(&(word), value, memory_order_##order, COHORT_SCOPE)
#define COHORT_OR(word, value, order) atomic_fetch_or_explicit(&(word), value, memory_order_##order, COHORT_SCOPE)
#define COHORT_AND(word, value, order) atomic_fetch_and_explicit(&(word), value, memory_order_##order, COHORT_SCOPE)
#define COHORT_EXCHANGE(word, value, order) atomic_exchange_explicit(&(word), value, memory_order_##order, COHORT_SCOPE)
#define COHORT_SWAP(word, old, value, order) \
  atomic_compare_exchange_strong_explicit(&(word), &(old), value, memory_order_##order, memory_order_relaxed, COHORT_SCOPE)

// On PoCL a group is a thread of the host: after waiting in vain for a while, it lets other threads run.
#if defined(COHORT_HOST_THREADS) && defined(__linux__) && defined(__x86_64__)
static void cohort_relax(uint polls) {
  long result;
  if (polls >= 500) __asm__ volatile("syscall" : "=a"(result) : "a"(24l) : "rcx", "r11", "memory");  // sched_yield
}
// A thread that sleeps runs at once when it wakes. A thread that has only yielded waits for its turn among the
// computing threads.
static void cohort_doze(uint polls) {
  long result;
  const long time[2] = {0, 20000};  // nanoseconds
  if (polls >= 500)
    __asm__ volatile("syscall" : "=a"(result) : "a"(35l), "D"(time), "S"(0l) : "rcx", "r11", "memory");  // nanosleep
}
static ulong cohort_nanoseconds(void) {
  long result;
  long time[2];
  __asm__ volatile("syscall" : "=a"(result) : "a"(228l), "D"(1l), "S"(time) : "rcx", "r11", "memory");  // clock_gettime
  return (ulong)time[0] * 1000000000ul + (ulong)time[1];
}
// Counts one more poll. Other threads may run for long between two polls, so from then on elapsed
// time counts instead, 10 ns per poll (nanoseconds_per_poll in body.cpp).
static ulong cohort_poll(ulong polls, ulong* since) {
  if (polls < 500) return polls + 1;
  cohort_relax(500);
  const ulong now = cohort_nanoseconds();
  if (*since == 0) *since = now;
  return 501 + (now - *since) / 10;
}
#else
static void cohort_relax(uint polls) {}
static void cohort_doze(uint polls) {}
static ulong cohort_poll(ulong polls, ulong* since) { return polls + 1; }
#endif
// Waits until `done`, an expression that loads words, is true. The second form gives up after a
// number of polls.
#define COHORT_AWAIT(done) \
  for (uint polls = 0; !(done); ++polls) cohort_relax(polls)
#define COHORT_AWAIT_FOR(looks, done) \
  for (ulong cohort_polls = 0, cohort_since = 0; cohort_polls < (looks) && !(done); \
       cohort_polls = cohort_poll(cohort_polls, &cohort_since)) { \
  }
#endif

// A group of one thread has no meetings, which also saves the compiler work.
#if defined(COHORT_ALONE)
#define barrier(...)
#define work_group_barrier(...)
#endif
// Thread 0's next release covers every thread's writes, and every thread sees what thread 0 has acquired.
#define COHORT_MEET() work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, COHORT_SCOPE)

// ---- roster.hpp: gen:30 | arrived:16 | kind:2 | FAULT DRAIN GATHER | active:13

typedef ulong cohort_roster;

#define COHORT_GATHER (1ul << 13)
#define COHORT_DRAIN (1ul << 14)
#define COHORT_FAULT (1ul << 15)
#define COHORT_ONE_ARRIVAL (1ul << 18)
#define COHORT_GEN_MASK 0x3fffffffu

static uint cohort_active_of(cohort_roster roster) { return (uint)(roster & 0x1ffful); }
static uint cohort_arrived_of(cohort_roster roster) { return (uint)(roster >> 18) & 0xffffu; }
static uint cohort_gen_of(cohort_roster roster) { return (uint)(roster >> 34); }
static uint cohort_kind_of(cohort_roster roster, uint gen) { return (uint)(roster >> (16 + (gen & 1u))) & 1u; }
static bool cohort_gathering(cohort_roster roster) { return (roster & COHORT_GATHER) != 0; }
static bool cohort_draining(cohort_roster roster) { return (roster & COHORT_DRAIN) != 0; }
static bool cohort_faulted(cohort_roster roster) { return (roster & COHORT_FAULT) != 0; }
static uint cohort_live_of(cohort_roster roster) {
  return cohort_active_of(roster) - (cohort_draining(roster) ? cohort_arrived_of(roster) : 0u);
}
static bool cohort_finished(cohort_roster roster) {
  return cohort_draining(roster) && cohort_arrived_of(roster) == cohort_active_of(roster);
}
static cohort_roster cohort_with_active(cohort_roster roster, uint active) { return (roster & ~0x1ffful) | active; }
// The next generation: no group has arrived, `active` groups continue.
static cohort_roster cohort_released(cohort_roster roster, uint active) {
  return cohort_with_active(roster - ((ulong)cohort_arrived_of(roster) << 18) + (1ul << 34), active);
}

// ---- shared.hpp

enum { cohort_plain, cohort_resizing };  // protocol::Kind
enum {                                   // protocol::Fault
  cohort_no_fault,
  cohort_cancelled,
  cohort_exception,
  cohort_returned_in_barrier,
  cohort_barrier_after_return,
  cohort_divergent_barrier,
  cohort_divergent_group,
  cohort_used_after_leaving,
  cohort_lost_group
};
enum { cohort_empty, cohort_waiting, cohort_claimed, cohort_admitted };  // protocol::Seat
enum { cohort_stay, cohort_leave, cohort_halt, cohort_gone };            // protocol::Verdict
enum { cohort_run, cohort_slave, cohort_modelled };                      // protocol::Entry
enum {                                                                   // protocol::Trace
  cohort_t_start,
  cohort_t_join,
  cohort_t_offer,
  cohort_t_kill,
  cohort_t_fork,
  cohort_t_arrive,
  cohort_t_resize,
  cohort_t_pass,
  cohort_t_shed,
  cohort_t_finish,
  cohort_t_fault
};
enum {  // Traits, as the host writes them.
  cohort_kill_any = 1,
  cohort_may_all_leave = 2,
  cohort_fixed = 4,
  cohort_query_barrier = 8,
  cohort_plain_barrier = 16,
  cohort_modelled_barrier = 32,
  cohort_paper_barrier = 8 | 16 | 32
};

#define COHORT_SUSPEND 1u
#define COHORT_NO_ID 0xffffffffu
#define COHORT_NO_DEPOSIT 0xffffffffu
#define COHORT_FAULT_WAITING 0x80000000u

typedef struct {
  atomic_uint seat;
  uint id;
  uint gen;
  uint entry;
} cohort_box;

typedef struct {
  uint what;
  uint group;
  uint active;
  uint unit;
  ulong value;
} cohort_event;

// protocol::Shared, followed by data that is typed in C++. The host compares the offsets before it uses them.
typedef struct {
  atomic_ulong roster __attribute__((aligned(128)));
  atomic_uint vote[4];

  atomic_uint share __attribute__((aligned(128)));
  atomic_uint flags;
  atomic_uint waiting;
  atomic_uint closed;
  atomic_uint serial;

  atomic_uint fork_lock __attribute__((aligned(128)));
  atomic_uint departing;
  atomic_uint deposit_gen;
  atomic_uint settled;
  atomic_uint kept_flag;
  atomic_ulong fault;  // protocol::FaultRecord: gen:32 | group + 1:24 | fault:8

  uint which __attribute__((aligned(128)));  // index of the kernel in the megakernel
  uint traits;
  uint state_size;
  uint state_stride;  // distance between two States, in bytes
  uint max_groups;
  uint quorum;
  ulong offer_polls;  // how often a surplus group polls for its turn in one offer
  uint restarted;
  __global cohort_box* boxes;
  __global atomic_ulong* free_ids;
  __global uchar* deposit;     // two States, by parity of the generation
  __global uchar* kept;        // one State
  __global uchar* box_states;  // one State for each box
  __global void* arguments;
  __global cohort_event* events;
  uint event_limit;

  atomic_uint event_count __attribute__((aligned(128)));
} cohort_job;

// A range of work-items over which a kernel without resizing points runs. Its work-groups are
// numbered.
typedef struct {
  atomic_ulong next;  // number of the work-group that is taken next
  uint groups[3];
  uint dimensions;    // 0 if there is no range
} cohort_range;

// One group's own view, in local memory. Only thread 0 changes it, inside a primitive.
typedef struct {
  __global cohort_job* job;
  __global uchar* state;  // State with which the kernel starts
  uint unit;
  uint id;
  uint active;
  uint gen;
  uint kinds;
  uint entry;  // where a joined group starts
  uint joined;
  uint left;
  uint answer;  // result of the last primitive, for all threads
  __local ulong* scratch;  // a word per thread, and one more
  __local uchar* more_local;  // local memory for parameters of kernels
  __global const cohort_range* range;  // range on which the group works, or null
  ulong work;                          // number of its current work-group in that range
} cohort_member;
typedef __local cohort_member cohort_group;

#if defined(COHORT_ALONE)
static bool cohort_leads(void) { return true; }
#else
static bool cohort_leads(void) { return get_local_linear_id() == 0; }
#endif

static cohort_roster cohort_look(__global cohort_job* job) { return COHORT_LOAD(job->roster, relaxed); }
static cohort_roster cohort_look_acquire(__global cohort_job* job) { return COHORT_LOAD(job->roster, acquire); }
static bool cohort_suspending(__global cohort_job* job) {
  return (COHORT_LOAD(job->flags, relaxed) & COHORT_SUSPEND) != 0;
}

#if !defined(COHORT_EXPLORED)
static void cohort_trace(cohort_group* group, uint what, ulong value) {
  __global cohort_job* job = group->job;
  if (job->event_limit == 0) return;
  const uint at = COHORT_ADD(job->event_count, 1u, acq_rel);  // an event recorded after this one has a higher number
  if (at >= job->event_limit) return;
  const cohort_event event = {what, group->id, group->active, group->unit, value};
  job->events[at] = event;
}

// States are copied byte by byte, since bytes may alias anything. This happens only for joins and suspends.
static void cohort_keep(__global uchar* to, const void* from, uint size) {
  for (uint i = 0; i < size; ++i) to[i] = ((const uchar*)from)[i];
}
static void cohort_copy(__global uchar* to, __global const uchar* from, uint size) {
  for (uint i = 0; i < size; ++i) to[i] = from[i];
}
#endif

static void cohort_close(__global cohort_job* job) {
  COHORT_STORE(job->closed, 1u, release);  // pairs with the acquire load in the lobby
}

// Ends the job for all groups: waiting groups leave, the others leave at their next primitive.
static void cohort_raise(__global cohort_job* job, ulong fault) {
  ulong none = cohort_no_fault;
  const bool first = COHORT_SWAP(job->fault, none, fault, relaxed);
  COHORT_OR(job->roster, COHORT_FAULT, acq_rel);             // pairs with the acquire polls of all waiters
  // Makes forks take their slow path, which checks for faults. Added only once: the count may be below 0 for a moment,
  // when a group is claimed before it is counted.
  if (first) COHORT_ADD(job->waiting, COHORT_FAULT_WAITING, relaxed);
  cohort_close(job);
}

// This group leaves because of a fault that was raised by any group or by the host.
static void cohort_abandon(cohort_group* group) {
  if (group->left) return;
  cohort_trace(group, cohort_t_fault, COHORT_LOAD(group->job->fault, relaxed) & 0xFF);
  group->left = 1;
  group->id = COHORT_NO_ID;
}

static uint cohort_break_contract(cohort_group* group, uint fault) {
  cohort_raise(group->job, (ulong)group->gen << 32 | (ulong)((group->id + 1) & 0xFFFFFF) << 8 | fault);
  cohort_abandon(group);
  return cohort_gone;
}

// ---- ids.hpp: a bitmap of free ids, for kill order any

// Called under fork_lock.
static uint cohort_take_id(__global cohort_job* job) {
  for (uint word = 0; word < (job->max_groups + 63) / 64; ++word) {
    const ulong free = COHORT_LOAD(job->free_ids[word], relaxed);
    for (uint bit = 0; bit < 64; ++bit) {
      const ulong mask = 1ul << bit;
      if ((free & mask) == 0) continue;
      COHORT_AND(job->free_ids[word], ~mask, acq_rel);  // acquire pairs with cohort_free_id's release
      return word * 64 + bit;
    }
  }
  return COHORT_NO_ID;
}

static void cohort_free_id(__global cohort_job* job, uint id) {
  // Release pairs with cohort_take_id's acquire: everything that the last holder of the id did
  // happens before the next one takes the id.
  COHORT_OR(job->free_ids[id / 64], 1ul << (id % 64), acq_rel);
}

// ---- lobby.hpp

// Takes an id of the first set while GATHER is up. The whole quorum is on its way: the host has sent it.
static bool cohort_check_in(cohort_group* group) {
  __global cohort_job* job = group->job;
  cohort_roster old = cohort_look(job);
  cohort_roster next;
  do {
    if (!cohort_gathering(old) || cohort_faulted(old) || cohort_active_of(old) == job->quorum) return false;
    next = cohort_with_active(old, cohort_active_of(old) + 1);
    if (cohort_active_of(next) == job->quorum) {
      next &= ~COHORT_GATHER;
      COHORT_STORE(job->settled, job->quorum, relaxed);  // published by the swap below
    }
    // Release pairs with the acquire below: everything that led to the launch happens before the
    // first groups start.
  } while (!COHORT_SWAP(job->roster, old, next, acq_rel));
  group->id = cohort_active_of(old);
  cohort_roster now;
  COHORT_AWAIT((now = cohort_look_acquire(job), !cohort_gathering(now) || cohort_faulted(now)));
  if (cohort_faulted(now)) {
    cohort_abandon(group);
    return false;
  }
  group->gen = cohort_gen_of(now);
  // All first groups must work with the same M. The roster's count may already be lower, if a quick
  // group has left again.
  group->active = COHORT_LOAD(job->settled, relaxed);
  group->joined = job->restarted;
  cohort_copy(group->state, job->kept, job->state_size);
  cohort_trace(group, cohort_t_start, group->active);
  return true;
}

// Whether a group in the lobby should leave, because no group will admit it, or because its unit is
// wanted elsewhere.
static bool cohort_unwanted(__global cohort_job* job, uint serial) {
  if (COHORT_LOAD(job->closed, acquire) != 0 || COHORT_LOAD(job->serial, acquire) != serial) return true;
  const cohort_roster now = cohort_look_acquire(job);
  const uint active = cohort_gathering(now) ? job->quorum : cohort_active_of(now);
  return cohort_draining(now) || active + COHORT_LOAD(job->waiting, acquire) > COHORT_LOAD(job->share, acquire);
}

// Returns true if admitted; `group` is then filled in. Returns false if not wanted; then nothing
// has changed.
static bool cohort_wait_in_lobby(cohort_group* group, uint serial, uint hint) {
  __global cohort_job* job = group->job;
  uint seat = hint % job->max_groups;
  for (uint tried = 0;; ++tried) {
    if (cohort_unwanted(job, serial) || tried == job->max_groups) return false;
    uint empty = cohort_empty;
    // Acquire pairs with the last admitted waiter's release of this box.
    if (COHORT_SWAP(job->boxes[seat].seat, empty, cohort_waiting, acq_rel)) break;
    seat = seat + 1 == job->max_groups ? 0 : seat + 1;
  }
  // Counted after the box is filled in, so that a fork that sees the count finds the box.
  COHORT_ADD(job->waiting, 1u, acq_rel);

  __global cohort_box* box = &job->boxes[seat];
  for (;;) {
    uint now;
    // Pairs with the release in cohort_admit().
    COHORT_AWAIT((now = COHORT_LOAD(box->seat, acquire),
                  now == cohort_admitted || (now == cohort_waiting && cohort_unwanted(job, serial))));
    if (now == cohort_admitted) break;
    if (COHORT_SWAP(box->seat, now, cohort_empty, acq_rel)) {
      COHORT_SUB(job->waiting, 1u, acq_rel);
      return false;
    }
  }
  group->id = box->id;
  group->entry = box->entry;
  group->gen = box->gen;
  cohort_copy(group->state, job->box_states + seat * job->state_stride, job->state_size);
  COHORT_STORE(box->seat, cohort_empty, release);  // pairs with the next waiter's acquire: this group has read the box

  const cohort_roster roster = cohort_look_acquire(job);
  if (cohort_faulted(roster)) {
    cohort_abandon(group);
    return false;
  }
  group->joined = 1;
  group->active = cohort_active_of(roster);
  cohort_trace(group, cohort_t_join, group->gen);
  return true;
}

// Claims up to `wanted` waiting groups. Called under fork_lock.
static uint cohort_claim(__global cohort_job* job, uint wanted) {
  uint claimed = 0;
  for (uint i = 0; i < job->max_groups && claimed < wanted; ++i) {
    uint seat = COHORT_LOAD(job->boxes[i].seat, relaxed);
    if (seat == cohort_waiting && COHORT_SWAP(job->boxes[i].seat, seat, cohort_claimed, acq_rel)) {
      COHORT_SUB(job->waiting, 1u, acq_rel);
      ++claimed;
    }
  }
  return claimed;
}

static void cohort_unclaim(__global cohort_job* job, __global cohort_box* box) {
  COHORT_STORE(box->seat, cohort_waiting, release);  // pairs with the waiter's acquire poll
  COHORT_ADD(job->waiting, 1u, acq_rel);
}

// Admits every claimed group. Their ids count up from `id`; with kill order any, each keeps the id
// that it has been given.
static void cohort_admit(cohort_group* group, __global const uchar* deposited, const void* state, uint gen, uint entry,
                         uint id) {
  __global cohort_job* job = group->job;
  const bool any = (job->traits & cohort_kill_any) != 0;
  for (uint i = 0; i < job->max_groups; ++i) {
    __global cohort_box* box = &job->boxes[i];
    if (COHORT_LOAD(box->seat, relaxed) != cohort_claimed) continue;
    if (!any) box->id = id++;
    box->gen = gen;
    box->entry = entry;
    __global uchar* to = job->box_states + i * job->state_stride;
    if (state != 0) {
      cohort_keep(to, state, job->state_size);
    } else {
      cohort_copy(to, deposited, job->state_size);
    }
    COHORT_STORE(box->seat, cohort_admitted, release);  // pairs with the joiner's acquire: it sees id and State
  }
}

// ---- kill.hpp

// Removes this group from the roster, in one swap. Returns false if the roster has changed; `old` then holds its
// current value.
static bool cohort_take_away(cohort_group* group, cohort_roster* old) {
  __global cohort_job* job = group->job;
  const uint active = cohort_active_of(*old) - 1;
  cohort_roster next = cohort_with_active(*old, active);
  const bool releases = !cohort_draining(*old) && active > 0 && cohort_arrived_of(*old) == active;
  if (releases) {
    next = cohort_released(*old, active);
    // Published by the swap. Every other group is waiting in the barrier, so this is the only writer.
    COHORT_STORE(job->settled, active, relaxed);
    // Marks the deposit as used, so that no resize takes it.
    COHORT_STORE(job->deposit_gen, COHORT_NO_DEPOSIT, relaxed);
  }
  // Release: the groups that this swap releases, and the next holder of this id, see what this group did. Acquire: this
  // is the group's last access to the roster, and pairs with the arrivals that the swap may complete.
  if (!COHORT_SWAP(job->roster, *old, next, acq_rel)) return false;
  group->active = active;
  cohort_trace(group, cohort_t_kill, active == 0 ? COHORT_LOAD(job->kept_flag, relaxed) : 0u);
  if (job->traits & cohort_kill_any) cohort_free_id(job, group->id);
  group->left = 1;
  group->id = COHORT_NO_ID;
  if (active == 0 || cohort_finished(next)) cohort_close(job);
  return true;
}

static uint cohort_offer_kill_led(cohort_group* group, const void* state, ulong patience) {
  __global cohort_job* job = group->job;
  if (group->left) return cohort_break_contract(group, cohort_used_after_leaving);
  const bool any = (job->traits & cohort_kill_any) != 0;
  bool waited = false;
  cohort_roster old = cohort_look(job);
  for (;;) {
    if (cohort_faulted(old)) {
      cohort_abandon(group);
      return cohort_leave;
    }
    group->active = cohort_active_of(old);
    const uint target = COHORT_LOAD(job->share, acquire);  // pairs with the host's release: it writes the flags first
    const bool surplus = any ? group->active > target : group->id >= target;
    if (!surplus) return cohort_stay;

    if (any || group->active == group->id + 1) {
      if (cohort_live_of(old) == 1) {
        // The last group saves its state for a resume. Not under DRAIN: a group that has returned cannot be resumed.
        if (cohort_suspending(job) && !cohort_draining(old)) {
          cohort_look_acquire(job);  // pairs with the release of the groups that have left: at their start they read the previous value of `kept`
          cohort_keep(job->kept, state, job->state_size);
          COHORT_STORE(job->kept_flag, 1u, relaxed);  // read by the host after this group is out
        } else if (!(job->traits & cohort_may_all_leave)) {
          return cohort_stay;
        }
      }
      if (cohort_take_away(group, &old)) return cohort_leave;
      continue;
    }
    // Wait in the offer for this group's turn, unless another group waits for this one in a barrier
    // or has returned. Never wait long: the group whose turn it is may itself be waiting for
    // something that this one has yet to do.
    if (waited || patience == 0 || cohort_arrived_of(old) != 0) return cohort_stay;
    waited = true;
    cohort_roster now;
    COHORT_AWAIT_FOR(patience,
                     (now = cohort_look_acquire(job), cohort_active_of(now) <= group->id + 1 || cohort_arrived_of(now) != 0 ||
                                                          cohort_faulted(now) || group->id < COHORT_LOAD(job->share, acquire)));
    old = cohort_look(job);
  }
}

// Called when the group has returned from the kernel. The job is finished when all groups have.
static void cohort_finish(cohort_group* group) {
  __global cohort_job* job = group->job;
  cohort_roster old = cohort_look(job);
  bool counted = false;
  while (!counted && !cohort_draining(old) && !cohort_faulted(old)) {
    if (cohort_arrived_of(old) != 0) {  // groups in a barrier wait for this one, which will never arrive
      cohort_break_contract(group, cohort_returned_in_barrier);
      return;
    }
    // The first group to return sets DRAIN and starts the count. The same swap confirms that no group is in a barrier.
    // Release pairs with the acquire of the last group to return: it closes the job after the work of all groups.
    const cohort_roster first = (old | COHORT_DRAIN) + COHORT_ONE_ARRIVAL;
    counted = COHORT_SWAP(job->roster, old, first, acq_rel);
  }
  // Later groups need not swap. A group that arrives at a barrier now ends the job with a fault, so `arrived` counts
  // only groups that have returned.
  if (!counted && !cohort_faulted(old)) old = COHORT_ADD(job->roster, COHORT_ONE_ARRIVAL, acq_rel);
  if (cohort_faulted(old)) {
    cohort_abandon(group);
    return;
  }
  cohort_trace(group, cohort_t_finish, 0);
  if (cohort_finished((old | COHORT_DRAIN) + COHORT_ONE_ARRIVAL)) cohort_close(job);
}

// ---- fork.hpp

// Whether M may grow now. It may not grow after a group has returned, because new groups would
// never meet that group. It may not grow under a suspend, nor while a group removed at an earlier
// barrier has yet to notice: that group would take the new M for its own.
static bool cohort_may_grow(__global cohort_job* job, cohort_roster roster) {
  return !cohort_draining(roster) && !cohort_faulted(roster) &&
         cohort_active_of(roster) < COHORT_LOAD(job->share, relaxed) && !cohort_suspending(job) &&
         // Pairs with the release of the groups that leave.
         COHORT_LOAD(job->departing, acquire) == 0;
}

// Gives ids to the claimed groups (kill order any). A group goes back to waiting if the id that it
// needs is still held by a group that is leaving.
static uint cohort_name_claimed(__global cohort_job* job) {
  uint named = 0;
  for (uint i = 0; i < job->max_groups; ++i) {
    __global cohort_box* box = &job->boxes[i];
    if (COHORT_LOAD(box->seat, relaxed) != cohort_claimed) continue;
    box->id = cohort_take_id(job);
    if (box->id == COHORT_NO_ID) {
      cohort_unclaim(job, box);
    } else {
      ++named;
    }
  }
  return named;
}

static void cohort_unclaim_all(__global cohort_job* job) {
  for (uint i = 0; i < job->max_groups; ++i) {
    __global cohort_box* box = &job->boxes[i];
    if (COHORT_LOAD(box->seat, relaxed) != cohort_claimed) continue;
    if (job->traits & cohort_kill_any) cohort_free_id(job, box->id);
    cohort_unclaim(job, box);
  }
}

static void cohort_fork_locked(cohort_group* group, const void* state, uint gen, uint entry) {
  __global cohort_job* job = group->job;
  cohort_roster old = cohort_look(job);
  if (!cohort_may_grow(job, old)) return;
  const uint active = cohort_active_of(old);
  const uint target = COHORT_LOAD(job->share, relaxed);
  uint claimed = target > active ? cohort_claim(job, target - active) : 0;
  if (job->traits & cohort_kill_any) claimed = cohort_name_claimed(job);
  if (claimed == 0) return;
  cohort_roster next;
  do {
    if (!cohort_may_grow(job, old) || cohort_active_of(old) + claimed > job->max_groups) {
      cohort_unclaim_all(job);
      return;
    }
    next = cohort_with_active(old, cohort_active_of(old) + claimed);
    // Acquire: pairs with the release by which the previous holders of these ids left, so the new
    // holders come after them.
  } while (!COHORT_SWAP(job->roster, old, next, acq_rel));
  group->active = cohort_active_of(next);
  cohort_trace(group, cohort_t_fork, claimed);
  cohort_admit(group, 0, state, gen, entry, cohort_active_of(old));
}

static uint cohort_request_fork_led(cohort_group* group, const void* state, uint entry) {
  __global cohort_job* job = group->job;
  if (COHORT_LOAD(job->waiting, relaxed) == 0) return cohort_stay;
  const cohort_roster now = cohort_look(job);
  if (group->left) cohort_break_contract(group, cohort_used_after_leaving);
  if (group->left || cohort_faulted(now)) {
    cohort_abandon(group);
    return cohort_gone;
  }
  group->active = cohort_active_of(now);
  if (!cohort_may_grow(job, now)) return cohort_stay;
  if (COHORT_EXCHANGE(job->fork_lock, 1u, acq_rel) != 0) return cohort_stay;  // acquire pairs with the unlock
  cohort_fork_locked(group, state, cohort_gen_of(now), entry);
  COHORT_STORE(job->fork_lock, 0u, release);  // pairs with the next holder's acquire: boxes and ids are settled
  return cohort_stay;
}

// ---- barrier.hpp, for kernels whose M may change: the group that completes the count decides what
// happens next

// Group 0 announces the kind of the barrier. Returns what group 0 adds to the roster for that, and
// 0 for the other groups.
static ulong cohort_announcement(cohort_group* group, uint kind) {
  if (group->id != 0) return 0;
  const uint bit = group->gen & 1u;
  const ulong was = (group->kinds >> bit) & 1u;
  group->kinds = (group->kinds & ~(1u << bit)) | (kind << bit);
  return ((ulong)kind - was) << (16 + bit);
}

// Called after the release: the group enters the next generation, or finds that it has to leave.
static uint cohort_pass(cohort_group* group, cohort_roster now, uint kind) {
  __global cohort_job* job = group->job;
  if (cohort_faulted(now)) {
    cohort_abandon(group);
    return cohort_gone;
  }
  if (!(job->traits & cohort_kill_any) && group->id >= cohort_active_of(now)) {
    if (kind != cohort_resizing) return cohort_break_contract(group, cohort_divergent_barrier);
    group->active = cohort_active_of(now);
    // Relaxed: published by the release.
    cohort_trace(group, cohort_t_shed, COHORT_LOAD(job->kept_flag, relaxed));
    group->left = 1;
    group->id = COHORT_NO_ID;
    // Pairs with may_grow and resize: they may give this id again.
    COHORT_SUB(job->departing, 1u, release);
    return cohort_leave;
  }
  if (cohort_kind_of(now, group->gen) != kind) return cohort_break_contract(group, cohort_divergent_barrier);
  group->gen = (group->gen + 1) & COHORT_GEN_MASK;
  // M as of the release. The roster may be ahead of it if a quick group has already been killed. `settled` is not: the
  // next release has to wait for this group.
  group->active = COHORT_LOAD(job->settled, relaxed);
  cohort_trace(group, cohort_t_pass, group->gen);
  return cohort_stay;
}

// The last group to arrive sets M and releases the barrier, in one read-modify-write. `now` is the full roster.
static cohort_roster cohort_resize(cohort_group* group, cohort_roster now) {
  __global cohort_job* job = group->job;
  const uint gen = group->gen;
  const uint active = cohort_active_of(now);
  __global uchar* deposited = job->deposit + (gen & 1u) * job->state_stride;
  const bool has_deposit = COHORT_LOAD(job->deposit_gen, relaxed) == gen;  // ordered by group 0's arrival
  // A deposit serves one barrier only: its generation number comes again after 2^30 barriers.
  COHORT_STORE(job->deposit_gen, COHORT_NO_DEPOSIT, relaxed);  // published by the release below
  const uint target = COHORT_LOAD(job->share, acquire);  // pairs with the host's release: it writes the flags first
  uint next = active;
  if (target < active) {
    const bool keeps = target == 0 && cohort_suspending(job) && has_deposit;
    const bool empties = keeps || ((job->traits & cohort_may_all_leave) && !cohort_suspending(job));
    next = target == 0 && !empties ? 1 : target;
    if (keeps) {
      cohort_copy(job->kept, deposited, job->state_size);
      COHORT_STORE(job->kept_flag, 1u, relaxed);  // read by the host after all groups are out
    }
    COHORT_ADD(job->departing, active - next, relaxed);  // published by the release below
  } else if (target > active && has_deposit && COHORT_LOAD(job->departing, acquire) == 0) {  // pairs with the groups that leave
    // The lock is free, since all groups are in the barrier. Hold it until all joining groups are admitted: a group
    // that is released here may fork at once, and would take the boxes claimed here for its own.
    COHORT_EXCHANGE(job->fork_lock, 1u, acq_rel);  // pairs with the unlock
    next = active + cohort_claim(job, min(target, job->max_groups) - active);
    // Pairs with the acquire of the next holder.
    if (next == active) COHORT_STORE(job->fork_lock, 0u, release);
  }
  group->active = next;
  cohort_trace(group, cohort_t_resize, active);  // before another group can act on it
  const cohort_roster released = cohort_released(now, next);
  COHORT_STORE(job->settled, next, relaxed);  // published by the next line
  COHORT_ADD(job->roster, released - now, acq_rel);  // pairs with the waiters' acquire
  if (next > active) {
    cohort_admit(group, deposited, 0, cohort_gen_of(released), cohort_run, active);
    COHORT_STORE(job->fork_lock, 0u, release);  // pairs with the acquire of the next holder
  }
  if (next == 0) cohort_close(job);
  return released;
}

static cohort_roster cohort_release(cohort_group* group, cohort_roster now) {
  // All groups are in the barrier, so only FAULT can change the word. An addition leaves that bit alone.
  const cohort_roster released = cohort_released(now, cohort_active_of(now));
  COHORT_STORE(group->job->settled, cohort_active_of(now), relaxed);  // published by the next line
  COHORT_ADD(group->job->roster, released - now, acq_rel);            // pairs with the waiters' acquire
  return released;
}

// The global barrier (`state` is null) and our one-pass resizing barrier.
static uint cohort_barrier_led(cohort_group* group, uint kind, const void* state) {
  __global cohort_job* job = group->job;
  if (group->left) return cohort_break_contract(group, cohort_used_after_leaving);
  const uint gen = group->gen;
  cohort_trace(group, cohort_t_arrive, gen);
  if (state != 0 && group->id == 0 && COHORT_LOAD(job->share, relaxed) != cohort_active_of(cohort_look(job))) {
    cohort_keep(job->deposit + (gen & 1u) * job->state_stride, state, job->state_size);
    COHORT_STORE(job->deposit_gen, gen, relaxed);  // published by the arrival that follows
  }
  const ulong add = COHORT_ONE_ARRIVAL + cohort_announcement(group, kind);
  // Release: publishes this group's writes. Acquire: shows the writes of all earlier arrivals, in
  // case this one is the last.
  const cohort_roster old = COHORT_ADD(job->roster, add, acq_rel);
  if (cohort_faulted(old)) {
    cohort_abandon(group);
    return cohort_gone;
  }
  if (cohort_draining(old)) return cohort_break_contract(group, cohort_barrier_after_return);
  cohort_roster now = old + add;
  if (cohort_arrived_of(now) == cohort_active_of(now)) {
    if (state != 0) {
      if (cohort_kind_of(now, gen) != kind) return cohort_break_contract(group, cohort_divergent_barrier);
      now = cohort_resize(group, now);
    } else {
      now = cohort_release(group, now);
    }
  } else {
    // Pairs with the releaser's read-modify-write, and so with all arrivals.
    COHORT_AWAIT((now = cohort_look_acquire(job), cohort_gen_of(now) != gen || cohort_faulted(now)));
  }
  return cohort_pass(group, now, kind);
}

// ---- paper_barriers.hpp: the paper's own resizing barriers. Compiled only if a kernel has one, since
// some compilers copy this code to every barrier of every kernel.

#if defined(COHORT_PAPER_BARRIERS)

// Leaves unconditionally, when its turn comes.
static uint cohort_leave_in_turn(cohort_group* group) {
  __global cohort_job* job = group->job;
  for (;;) {
    cohort_roster now;
    // Pairs with the release of the group above this one, which leaves first.
    COHORT_AWAIT((now = cohort_look_acquire(job), cohort_active_of(now) == group->id + 1 || cohort_faulted(now)));
    if (cohort_faulted(now)) {
      cohort_abandon(group);
      return cohort_leave;
    }
    if (!cohort_take_away(group, &now)) continue;
    COHORT_SUB(job->departing, 1u, release);  // pairs with may_grow: no group may join above this one
    return cohort_leave;
  }
}

// Called after the master's release: the group continues with the M that the master has published,
// or leaves.
static uint cohort_settle(cohort_group* group, cohort_roster now) {
  if (cohort_faulted(now)) {
    cohort_abandon(group);
    return cohort_gone;
  }
  if (cohort_kind_of(now, group->gen) != cohort_resizing) return cohort_break_contract(group, cohort_divergent_barrier);
  group->gen = (group->gen + 1) & COHORT_GEN_MASK;
  // Relaxed: ordered by the release, and stable until this group arrives again.
  group->active = COHORT_LOAD(group->job->settled, relaxed);
  cohort_trace(group, cohort_t_pass, group->gen);
  return group->id >= group->active ? cohort_leave_in_turn(group) : cohort_stay;
}

static uint cohort_await_master(cohort_group* group) {
  cohort_roster now;
  // Pairs with the master's release.
  COHORT_AWAIT((now = cohort_look_acquire(group->job), cohort_gen_of(now) != group->gen || cohort_faulted(now)));
  return cohort_settle(group, now);
}

// A slave of the master/slave barrier: signals, then waits to be released.
static uint cohort_slave_led(cohort_group* group) {
  cohort_trace(group, cohort_t_arrive, group->gen);
  // Release: the master sees this group's writes.
  const cohort_roster now = COHORT_ADD(group->job->roster, COHORT_ONE_ARRIVAL, acq_rel) + COHORT_ONE_ARRIVAL;
  if (cohort_draining(now)) return cohort_break_contract(group, cohort_barrier_after_return);
  // The master never counts itself. A full count means that it is at another barrier.
  if (cohort_arrived_of(now) == cohort_active_of(now)) return cohort_break_contract(group, cohort_divergent_barrier);
  return cohort_await_master(group);
}

// The master: waits for the slaves, forks, decides how many groups continue, and releases them.
static uint cohort_master_led(cohort_group* group, const void* state) {
  __global cohort_job* job = group->job;
  cohort_trace(group, cohort_t_arrive, group->gen);
  cohort_roster now;
  // Pairs with the slaves' arrivals.
  COHORT_AWAIT((now = cohort_look_acquire(job), cohort_arrived_of(now) + 1 == cohort_active_of(now) ||
                                                    cohort_draining(now) || cohort_faulted(now)));
  if (cohort_faulted(now)) {
    cohort_abandon(group);
    return cohort_gone;
  }
  if (cohort_draining(now)) return cohort_break_contract(group, cohort_barrier_after_return);

  if (cohort_request_fork_led(group, state, cohort_slave) == cohort_gone) return cohort_gone;
  now = cohort_look(job);  // relaxed: the slaves wait, so only this group's fork has changed M
  const uint active = cohort_active_of(now);
  // Pairs with the host's release: the host writes the flags first.
  const uint target = COHORT_LOAD(job->share, acquire);
  uint settled = active;
  if ((job->traits & cohort_query_barrier) && target < active) settled = target != 0 ? target : 1;
  if (cohort_suspending(job)) {  // if the flag is not visible yet, the next barrier sees it
    cohort_keep(job->kept, state, job->state_size);
    COHORT_STORE(job->kept_flag, 1u, relaxed);  // read by the host after all groups are out
    settled = 0;
  }
  COHORT_STORE(job->settled, settled, relaxed);  // published by the release, like the next line
  COHORT_ADD(job->departing, active - settled, relaxed);
  group->active = settled;
  cohort_trace(group, cohort_t_resize, active);  // traced before another group can act on the resize
  const cohort_roster released = cohort_released(now, active) + cohort_announcement(group, cohort_resizing);
  COHORT_ADD(job->roster, released - now, acq_rel);  // pairs with the slaves' acquire
  return cohort_settle(group, released);
}

// The second half of the modelled barrier, where the groups that it forked come in: barrier, kill,
// barrier.
static uint cohort_modelled_second_half(cohort_group* group, const void* state) {
  uint verdict = cohort_barrier_led(group, cohort_resizing, 0);
  // Group 0 stays, unless it is the last group and all may leave.
  if (verdict == cohort_stay) verdict = cohort_offer_kill_led(group, state, 0);
  return verdict == cohort_stay ? cohort_barrier_led(group, cohort_resizing, 0) : verdict;
}

// The resizing barrier as section 3.1 models it: barrier, fork, barrier, kill, barrier.
static uint cohort_modelled_led(cohort_group* group, const void* state) {
  const uint verdict = cohort_barrier_led(group, cohort_resizing, 0);
  if (verdict != cohort_stay) return verdict;
  if (group->id == 0 && cohort_request_fork_led(group, state, cohort_modelled) == cohort_gone) return cohort_gone;
  return cohort_modelled_second_half(group, state);
}

static uint cohort_paper_barrier_led(cohort_group* group, const void* state) {
  const uint traits = group->job->traits;
  if (group->left) return cohort_break_contract(group, cohort_used_after_leaving);
  if (traits & cohort_modelled_barrier) return cohort_modelled_led(group, state);
  if (group->id == 0) return cohort_master_led(group, state);
  if (traits & cohort_plain_barrier) {
    const uint verdict = cohort_offer_kill_led(group, state, 0);
    if (verdict != cohort_stay) return verdict;
  }
  return cohort_slave_led(group);
}

#endif

// Takes a joined group from where it was forked to the start of its kernel. Returns false if the
// group has left on the way.
static bool cohort_come_in(cohort_group* group) {
#if defined(COHORT_PAPER_BARRIERS)
  if (group->entry == cohort_slave) cohort_await_master(group);
  // Passes no state, because only the last group would keep it: group 0 leaves after this one.
  if (group->entry == cohort_modelled) cohort_modelled_second_half(group, 0);
#endif
  return group->left == 0;
}

// ---- group.hpp: the functions that kernels call. `state` is in every thread's private memory;
// only thread 0's copy is used.

static bool cohort_passes(const cohort_group* group, uint skip) {
  return skip != 0 || (group->job->traits & cohort_fixed) != 0;
}

uint cohort_group_id(const cohort_group* group, uint dimension) {
  __global const cohort_range* range = group->range;
  if (range == 0) return dimension == 0 ? group->id : 0;
  if (dimension == 0) return (uint)(group->work % range->groups[0]);
  const ulong row = group->work / range->groups[0];
  return dimension == 1 ? (uint)(row % range->groups[1]) : dimension == 2 ? (uint)(row / range->groups[1]) : 0;
}
uint cohort_num_groups(const cohort_group* group, uint dimension) {
  if (group->range != 0) return dimension < 3 ? group->range->groups[dimension] : 1;
  return dimension == 0 ? group->active : 1;
}

// `skip` is nonzero in a group that has joined and is on its way to the point where it continues.
// Such a group passes without waiting.

bool cohort_offer_kill(cohort_group* group, const void* state, uint skip) {
  COHORT_MEET();
  if (cohort_leads()) group->answer = cohort_passes(group, skip) ? cohort_stay : cohort_offer_kill_led(group, state, group->job->offer_polls);
  COHORT_MEET();
  return group->answer != cohort_stay;
}

bool cohort_request_fork(cohort_group* group, const void* state, uint skip) {
  COHORT_MEET();
  if (cohort_leads()) group->answer = cohort_passes(group, skip) ? cohort_stay : cohort_request_fork_led(group, state, cohort_run);
  COHORT_MEET();
  return group->answer != cohort_stay;
}

bool cohort_offer(cohort_group* group, const void* state, uint skip) {
  COHORT_MEET();
  if (cohort_leads()) {
    uint answer = cohort_stay;
    if (!cohort_passes(group, skip)) answer = cohort_offer_kill_led(group, state, group->job->offer_polls);
    if (answer == cohort_stay && !cohort_passes(group, skip)) answer = cohort_request_fork_led(group, state, cohort_run);
    group->answer = answer;
  }
  COHORT_MEET();
  return group->answer != cohort_stay;
}

bool cohort_global_barrier(cohort_group* group) {
  COHORT_MEET();
  if (cohort_leads()) group->answer = cohort_barrier_led(group, cohort_plain, 0);
  COHORT_MEET();
  return group->answer != cohort_stay;
}

bool cohort_resizing_global_barrier(cohort_group* group, const void* state, uint skip) {
  COHORT_MEET();
  if (cohort_leads()) {
    const bool fixed = (group->job->traits & cohort_fixed) != 0;
    uint answer = cohort_stay;
#if defined(COHORT_PAPER_BARRIERS)
    const bool paper = (group->job->traits & cohort_paper_barrier) != 0 && !fixed;
    if (skip == 0 && paper) answer = cohort_paper_barrier_led(group, state);
#else
    const bool paper = false;
#endif
    if (skip == 0 && !paper) answer = cohort_barrier_led(group, cohort_resizing, fixed ? 0 : state);
    group->answer = answer;
  }
  COHORT_MEET();
  return group->answer != cohort_stay;
}

uint cohort_query(cohort_group* group) {
  COHORT_MEET();
  if (cohort_leads()) {
    const cohort_roster now = cohort_look(group->job);
    if (group->left) {
      cohort_break_contract(group, cohort_used_after_leaving);
    } else if (cohort_faulted(now)) {
      cohort_abandon(group);
    }
    const uint active = cohort_active_of(now);
    const uint target = COHORT_LOAD(group->job->share, relaxed);
    group->answer = active > target && !cohort_passes(group, 0) ? active - target : 0;
  }
  COHORT_MEET();
  return group->answer;
}

// Whether the job has ended for this group. If so, the function that called a barrier returns.
bool cohort_is_gone(const cohort_group* group) { return group->left != 0; }

#if !defined(COHORT_EXPLORED)
size_t cohort_global_linear_id(const cohort_group* group) {
  size_t id = 0;
  for (uint d = 3; d-- > 0;) {
    id *= cohort_num_groups(group, d) * get_local_size(d);
    id += cohort_group_id(group, d) * get_local_size(d) + get_local_id(d);
  }
  return id;
}
uint cohort_work_dim(const cohort_group* group) { return group->range != 0 ? group->range->dimensions : get_work_dim(); }
__local uchar* cohort_more_local(const cohort_group* group) { return group->more_local; }

// Whether a kernel without resizing points has work to do now and, over a range, in which
// work-group. Groups come and go between work-groups.
bool cohort_next_work(cohort_group* group, __global const cohort_range* range, const void* state, bool again) {
  if (range->dimensions == 0) return !again;
  if (again && cohort_offer(group, state, 0)) return false;
  COHORT_MEET();
  if (cohort_leads()) {
    group->range = range;
    group->work = COHORT_ADD(((__global cohort_range*)range)->next, 1ul, relaxed);
  }
  COHORT_MEET();
  return group->work < (ulong)range->groups[0] * range->groups[1] * range->groups[2];
}
#endif
