// The kernels of barriers.hpp in OpenCL C.
#include "march.h"

kernel void exchange(uint rounds, global uint *cells, global uint *wrong) {
  for (uint round = 1; round <= rounds; round++) {
    cells[get_global_id()] = round;
    global_barrier();
    for (uint i = 0; i < get_global_size(); i++) expect(wrong, cells[i] == round);
    global_barrier();
  }
}

// The words: mistakes, last item by parity, four counters of arrivals, one cell per group.
kernel void exchange_on_the_move(global uint *stop, global uint *words, global uint *ids) {
  transmit uint round = 0;
  while (true) {
    enter(ids);
    global uint *arrivals = words + 3 + round % 4;
    if (leads()) {
      words[7 + get_group_id()] = round;
      atomic_inc(arrivals);
      if (get_group_id() == 0) {
        atomic_xchg(words + 3 + (round + 1) % 4, 0u);
        words[1 + round % 2] = *(volatile global uint *)stop;
      }
    }
    global_barrier();
    expect(words, words[7] == round);
    expect(words, words[7 + get_group_id()] == round);
    expect(words, *(volatile global uint *)arrivals == get_num_groups());
    exit_from(ids);
    if (words[1 + round % 2] != 0) break;
    global_barrier();  // so that no group forks or leaves before all have read
    round = round + 1;
    offer_kill();
    request_fork();
  }
}

kernel void steps_with_barriers(global uint *board, global uint *stop) {
  transmit uint step = 0;
  transmit uint mark = 1;
  transmit uint before = 0;
  while (true) {
    march(board, stop, step, mark, before);
    uint groups = get_num_groups();
    for (uint i = 0; i < 3; i++) {
      global_barrier();
      expect(board + WRONG, get_num_groups() == groups);
      for (uint j = 0; j < groups; j++) expect(board + WRONG, board[CELL(step, j)] == step + 1);
    }
    if (board[LAST + step % 2] != 0) break;
    step = step + 1;
    mark = NEXT_MARK(mark);
    before = groups;
    resizing_global_barrier();
  }
}

kernel void strided(global uint *items, uint number, uint steps, global uint *wrong) {
  transmit uint step = 0;
  while (true) {
    for (uint i = get_global_id(); i < number; i += get_global_size()) {
      expect(wrong, items[i] == step);
      items[i]++;
    }
    step = step + 1;
    if (step == steps) break;
    resizing_global_barrier();
  }
}

kernel void top_leaves(uint resizing, global uint *go, global uint *started, global uint *passed) {
  count(started);
  if (get_group_id() + 1 == get_num_groups()) {
    hold(go);
    pause_at(go, 5);  // most others have arrived by now
    offer_kill();
  }
  if (resizing != 0)
    resizing_global_barrier();
  else
    global_barrier();
  count(passed);
}

kernel void fork_under_a_barrier(uint wanted, global uint *arrived, global uint *wrong) {
  if (get_group_id() == 0) pause_at(arrived, 5);  // most of the first groups have arrived by now
  while (get_group_id() == 0) {
    request_fork();
    if (get_group_id() != 0 || get_num_groups() == wanted) break;  // a joining group begins here
  }
  count(arrived);
  global_barrier();
  expect(wrong, *(volatile global uint *)arrived == wanted);
  expect(wrong, get_num_groups() == wanted);
}

// The words: mistakes, rounds, last item by parity, the items.
kernel void divided_between_barriers(global uint *words, global uint *stop) {
  transmit uint round = 0;
  while (true) {
    offer_kill();
    request_fork();
    if (get_global_id() == 0) {
      words[2 + round % 2] = *(volatile global uint *)stop;
      atomic_inc(words + 1);
    }
    global_barrier();
    for (uint i = get_global_id(); i < 97; i += get_global_size()) {
      expect(words, words[4 + i] == round);
      words[4 + i]++;
    }
    global_barrier();
    if (words[2 + round % 2] != 0) break;
    round = round + 1;
  }
}

// The words: rounds, last item by parity. A joining group counts a mistake if it has not received
// the whole State.
kernel void forking_after_a_barrier(global uint *stop, global uint *words, global uint *ids) {
  transmit uint round = 0;
  transmit uint16 filler = (uint16)(7);
  while (true) {
    if (get_group_id() == 0) {
      request_fork();
      pause_at(stop, 1);
      request_fork();
      pause_at(stop, 1);
      request_fork();
      pause_at(stop, 1);
      request_fork();
      pause_at(stop, 57);  // leaves some groups in the lobby for the barrier
    }
    expect(ids, filler.s0 + filler.s7 + filler.sf == 21);
    uint id = get_group_id();
    enter(ids);
    if (get_global_id() == 0) {
      words[1 + round % 2] = *(volatile global uint *)stop;
      atomic_xchg(words, round + 1);
    }
    exit_from(ids);
    round = round + 1;
    if (id != 0) {
      hold_until(words, round);
      pause_at(stop, round * 7919 % 20);
    }
    resizing_global_barrier();
    if (words[1 + (round + 1) % 2] != 0) break;
  }
}
