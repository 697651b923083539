// The kernels of jobs.hpp in OpenCL C.
#include "march.h"

kernel void brief() {}

void offer_at_every_turn(global uint *stop, global uint *present, global uint *turns, global uint *returned) {
  count(present);
  while (told(stop) == 0) {
    count(turns);
    uncount(present);
    offer_kill();
    request_fork();  // a joining group continues from here
    count(present);
  }
  uncount(present);
  count(returned);
}
kernel void offering(global uint *stop, global uint *present, global uint *turns, global uint *returned) {
  offer_at_every_turn(stop, present, turns, returned);
}
kernel kill_order(any) void offering_in_any_order(global uint *stop, global uint *present, global uint *turns,
                                                  global uint *returned) {
  offer_at_every_turn(stop, present, turns, returned);
}
kernel survivors(may_all_leave) void offering_may_all_leave(global uint *stop, global uint *present, global uint *turns,
                                                            global uint *returned) {
  offer_at_every_turn(stop, present, turns, returned);
}
kernel survivors(may_all_leave) kill_order(any) void offering_in_any_order_may_all_leave(
    global uint *stop, global uint *present, global uint *turns, global uint *returned) {
  offer_at_every_turn(stop, present, turns, returned);
}

void all_but_one_offer(uint early, global uint *stop, global uint *started) {
  uint groups = get_num_groups();
  count(started);
  hold_until(started, groups);
  if (get_group_id() != early) {
    while (told(stop) == 0) offer_kill();
  }
}
kernel void one_returns_early(uint early, global uint *stop, global uint *started) {
  all_but_one_offer(early, stop, started);
}
kernel kill_order(any) void one_returns_early_in_any_order(uint early, global uint *stop, global uint *started) {
  all_but_one_offer(early, stop, started);
}

kernel void long_setup(global uint *go, global uint *in_setup, global uint *stop) {
  count(in_setup);
  if (get_group_id() == 0) hold(go);
  global_barrier();
  while (told(stop) == 0) {
    offer_kill();
    request_fork();
  }
}

// Uses the group's id after the offer. A resumed group with another id could not continue here.
kernel void not_suspendable(global uint *stop) {
  while (told(stop) == 0) {
    uint id = get_group_id();
    offer_kill();
    if (get_group_id() != id) break;
    request_fork();
  }
}

// Only group 0 writes the first item. The item's highest bit marks the last step.
#define IS_LAST 0x80000000u
kernel void background(global uint *items, uint number, global uint *stop, global uint *monitor) {
  while (true) {
    if (leads()) {
      atomic_max(monitor + 1, atomic_inc(monitor) + 1);
      atomic_inc(monitor + 2);
    }
    for (uint i = get_global_id(); i < number; i += get_global_size()) items[i]++;
    if (get_global_id() == 0 && *(volatile global uint *)stop != 0) items[0] |= IS_LAST;
    barrier(CLK_GLOBAL_MEM_FENCE);
    uncount(monitor);
    global_barrier();
    if ((items[0] & IS_LAST) != 0) break;
    resizing_global_barrier();
  }
  global_barrier();  // so that all groups have seen the bit
  if (get_global_id() == 0) items[0] &= ~IS_LAST;
}

// In direct style. Instead of voting, all groups see after a barrier what group 0 has announced.
kernel void steps(global uint *board, global uint *stop) {
  transmit uint step = 0;
  transmit uint mark = 1;
  transmit uint before = 0;
  while (true) {
    march(board, stop, step, mark, before);
    uint groups = get_num_groups();
    global_barrier();
    expect(board + WRONG, get_num_groups() == groups);
    if (board[LAST + step % 2] != 0) break;
    step = step + 1;
    mark = NEXT_MARK(mark);
    before = groups;
    resizing_global_barrier();
  }
}

// The words: mistakes, rounds, round by parity, and by parity whether it is the last one.
kernel void everything(global uint *words, global uint *stop, global uint *ids) {
  transmit uint round = 0;
  global_barrier();
  while (true) {
    offer_kill();
    request_fork();
    enter(ids);
    if (get_global_id() == 0) {
      words[2 + round % 2] = round;
      words[4 + round % 2] = *(volatile global uint *)stop;
      atomic_inc(words + 1);
    }
    exit_from(ids);
    if (round % 2 == 0) {
      global_barrier();
      expect(words, words[2] == round);
      expect(words, get_group_id() < get_num_groups());
      if (words[4] != 0) break;
      round = round + 1;
    } else {
      round = round + 1;
      resizing_global_barrier();
    }
    request_fork();
  }
}
