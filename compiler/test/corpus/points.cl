// Offers and forks: each group does the whole work, so that it does not matter which of them stay.
#include "corpus.h"

// = 45
kernel void offer_and_fork(global int *out) {
  transmit int sum = 0, i;
  for (i = 0; i < 10; i++) {
    offer_kill();
    request_fork();
    sum += i;
  }
  put(out, 0, sum);
}

// = 10
kernel void fork_alone(global int *out) {
  transmit int n = 0;
  while (n < 10) {
    request_fork();
    n++;
  }
  put(out, 0, n);
}

// = 6
kernel void offer_alone(global int *out) {
  int n = 0;
  for (int i = 0; i < 6; i++) {
    offer_kill();
    n++;
  }
  put(out, 0, n);
}

// = 12
kernel void fork_before_the_offer(global int *out) {
  transmit int n = 0;
  while (n < 12) {
    request_fork();
    n += 2;
    offer_kill();
  }
  put(out, 0, n);
}

// = 30
kernel void something_between_offer_and_fork(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 5; i++) {
    n += 1;
    offer_kill();
    n += 2;
    request_fork();
    n += 3;
  }
  put(out, 0, n);
}

// = 321
kernel void offers_in_branches(global int *out) {
  transmit int digits = 0, i;
  for (i = 0; i < 3; i++) {
    if (i == 0) {
      offer_kill();
      request_fork();
      digits += 1;
    } else if (i == 1) {
      digits += 20;
      request_fork();
    } else {
      offer_kill();
      digits += 300;
    }
  }
  put(out, 0, digits);
}

void offers(void) {
  offer_kill();
  request_fork();
}

// = 7
kernel void offers_in_a_function(global int *out) {
  transmit int n = 0;
  while (n < 7) {
    offers();
    n++;
  }
  put(out, 0, n);
}

// = 8
kernel kill_order(any) void any_group_may_be_taken(global int *out) {
  transmit int n = 0;
  while (n < 8) {
    offer_kill();
    request_fork();
    n++;
  }
  put(out, 0, n);
}

// = 64
kernel void each_item_once(global int *out, global int *items) {
  for (;;) {
    offer_kill();
    request_fork();
    int i = work_group_broadcast(atomic_inc(items), 0);
    if (i >= 64) break;
    if (get_local_id() == 0) items[1 + i % 4] = 0;
  }
  put(out, 0, 64);
}

// = 20
kernel void offers_and_barriers(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 5; i++) {
    n += 1;
    offer_kill();
    request_fork();
    n += 3;
    resizing_global_barrier();
  }
  put(out, 0, n);
}

// = 3
kernel void switch_of_points(global int *out) {
  transmit int n = 0, i;
  for (i = 0; i < 3; i++) {
    switch (i) {
      case 0: offer_kill(); n++; break;
      case 1: request_fork(); n++; break;
      default: offer_kill(); request_fork(); n++;
    }
  }
  put(out, 0, n);
}
