// The megakernel. This text follows the protocol, the scheduler, the programs, and two generated
// parts: cohort_locals, the local memory of any of their kernels, and cohort_enter, which calls the
// kernel of a job.

// `scratch` has a word per thread, and one more. `more_local` is memory for parameters of kernels,
// aligned for any type.
__kernel void cohort_megakernel(__global cohort_pool* pool, __local ulong* scratch, __local ulong16* more_local) {
  __local cohort_member member;
  __local cohort_locals locals;
  __local uint visit;
  __local uint runs;
  __global cohort_desk* desk = 0;
  uint unit = 0;
  uint last = 0;
  bool inside = false;
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
      runs = inside && cohort_come_in(&member);
    }
    COHORT_MEET();
    if (runs) cohort_enter(&member, &locals);
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
