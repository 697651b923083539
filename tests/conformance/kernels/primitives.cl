// The kernels of primitives.hpp in OpenCL C.
#include "words.h"

kernel void leaving_from_the_top(global uint *stop, global uint *started, global uint *left, global uint *returned,
                                 global uint *wrong) {
  count(started);
  while (told(stop) == 0) {
    uint id = get_group_id();
    count(left + id);
    offer_kill();
    expect(wrong, get_group_id() == id);
    uncount(left + id);
  }
  if (leads()) note(returned, get_group_id());
}

void offer_often(uint times, global uint *left) {
  for (uint i = 0; i < times; i++) {
    uint id = get_group_id();
    count(left + id);
    offer_kill();
    uncount(left + id);
  }
}
kernel void offering_often(uint times, global uint *left) { offer_often(times, left); }
kernel kill_order(any) void offering_often_in_any_order(uint times, global uint *left) { offer_often(times, left); }

kernel void top_waits_for_lower(global uint *go, global uint *flag, global uint *started) {
  uint id = get_group_id();
  uint groups = get_num_groups();
  count(started);
  hold(go);
  if (id + 1 == groups) {
    hold(flag);
  } else {
    offer_kill();
    if (id + 2 == groups) count(flag);
  }
}

kernel void offering_once(global uint *go, global uint *started, global uint *left, global uint *over) {
  uint id = get_group_id();
  count(started);
  hold(go);
  count(left + id);
  offer_kill();
  uncount(left + id);
  hold(over);
}

// `instead` says what the highest group does: 0 arrive at a barrier, 1 return, 2 stay
kernel void top_does_not_offer(uint instead, global uint *go, global uint *stop, global uint *started) {
  uint top = get_group_id() + 1 == get_num_groups();
  count(started);
  hold(go);
  if (top == 0) offer_kill();
  if (top != 0 && instead == 2) hold(stop);
  if (instead == 0) global_barrier();
}

kernel void forking(uint only_zero, global uint *stop, global uint *ids, global uint *first, global uint *joined,
                    global uint *wrong) {
  transmit uint forker = 1000;  // not the id of any group
  enter(ids);
  if (leads()) note(first, get_group_id());
  while (told(stop) == 0) {
    if (only_zero == 0 || get_group_id() == 0) {
      forker = get_group_id();
      request_fork();
      if (forker != get_group_id()) {  // this group has joined
        enter(ids);
        if (leads()) note(joined, get_group_id());
        expect(wrong, forker < MOST_IDS && (only_zero == 0 || forker == 0));
      }
      expect(wrong, get_num_groups() <= MOST_IDS);
    }
  }
  exit_from(ids);
}

// request_fork() returns nothing in the dialect, so groups that join count themselves.
kernel void forking_often(uint times, global uint *forked) {
  transmit uint forker = 0;
  transmit uint i;
  for (i = 0; i < times; i++) {
    forker = get_group_id();
    request_fork();
    if (forker != get_group_id()) count(forked);
  }
}

// Contains the part up to the offer, because a transmitted variable belongs to a kernel.
bool come(global uint *stop, global uint *ids, global uint *wrong) {
  uint id = get_group_id();
  enter(ids);
  pause_at(stop, 1);
  expect(wrong, get_group_id() == id);
  uint last = told(stop);
  exit_from(ids);
  return last == 0;
}
kernel void coming_and_going(global uint *stop, global uint *ids, global uint *wrong) {
  transmit uint transmitted = 0;
  while (come(stop, ids, wrong)) {
    transmitted = 7;
    offer_kill();
    request_fork();
    expect(wrong, transmitted == 7);
  }
}
kernel kill_order(any) void coming_and_going_in_any_order(global uint *stop, global uint *ids, global uint *wrong) {
  transmit uint transmitted = 0;
  while (come(stop, ids, wrong)) {
    transmitted = 7;
    offer_kill();
    request_fork();
    expect(wrong, transmitted == 7);
  }
}

kernel void asking(global uint *expected, global uint *agreed) {
  uint groups = get_num_groups();
  for (uint i = 0; i < 4; i++) {
    while (told(agreed) < i * groups || query() != told(expected + i)) {
    }
    count(agreed);
  }
}

kernel void asking_together(global uint *answers) { note(answers, query()); }

kernel kill_order(any) void some_offer_in_any_order(uint offering, global uint *stop, global uint *started, global uint *left,
                                                    global uint *wrong) {
  uint number = get_group_id() * get_local_size() + get_local_id();
  expect(wrong, get_global_id() == number);
  count(started);
  while (told(stop) == 0) {
    uint id = get_group_id();
    if (id < offering) {
      count(left + id);
      offer_kill();
      uncount(left + id);
    }
  }
}

kernel kill_order(any) void counting_in_any_order(uint expected, global uint *seen) {
  do {
    offer_kill();
    request_fork();
  } while (get_num_groups() != expected);
  if (leads()) note(seen, expected);
  hold_until(seen, expected);
}

void offer_forever(global uint *left) {
  while (true) {
    uint id = get_group_id();
    count(left + id);
    offer_kill();
    uncount(left + id);
  }
}
kernel survivors(may_all_leave) void offering_forever_may_all_leave(global uint *left) { offer_forever(left); }
kernel kill_order(any) survivors(may_all_leave) void offering_forever_in_any_order_may_all_leave(global uint *left) {
  offer_forever(left);
}

kernel survivors(may_all_leave) void stepping_forever_may_all_leave() {
  while (true) resizing_global_barrier();
}

kernel survivors(may_all_leave) void guarded_offers_may_all_leave(global uint *stop, global uint *left,
                                                                  global uint *returned) {
  while (told(stop) == 0) {
    uint id = get_group_id();
    count(left + id);
    if (get_group_id() != 0) offer_kill();
    uncount(left + id);
    if (id == 0) request_fork();
  }
  if (leads()) note(returned, get_group_id());
}
