// Twins of kernels/jobs.hpp and kernels/tasks.hpp in the dialect, for the OpenCL engine. Same names, parameters and words.

kernel void brief() {}

kernel void offering(global uint *stop, global uint *present, global uint *turns, global uint *returned) {
  if (get_local_id() == 0) atomic_inc(present);
  while (work_group_broadcast(*(volatile global uint *)stop, 0) == 0) {
    if (get_local_id() == 0) {
      atomic_inc(turns);
      atomic_dec(present);
    }
    offer_kill();
    request_fork();  // joiners go on from here
    if (get_local_id() == 0) atomic_inc(present);
  }
  if (get_local_id() == 0) {
    atomic_dec(present);
    atomic_inc(returned);
  }
}

kernel survivors(may_all_leave) kill_order(any) void offering_in_any_order_may_all_leave(
    global uint *stop, global uint *present, global uint *turns, global uint *returned) {
  if (get_local_id() == 0) atomic_inc(present);
  while (work_group_broadcast(*(volatile global uint *)stop, 0) == 0) {
    if (get_local_id() == 0) {
      atomic_inc(turns);
      atomic_dec(present);
    }
    offer_kill();
    request_fork();
    if (get_local_id() == 0) atomic_inc(present);
  }
  if (get_local_id() == 0) {
    atomic_dec(present);
    atomic_inc(returned);
  }
}

// The words of Board.
#define WRONG 0
#define STEPS 1
#define GROUPS 2
#define FIRST 3
#define LEAST 4
#define MOST 5
#define UPS 6
#define DOWNS 7
#define ANNOUNCED 8
#define LAST 10
#define CELL(step, group) (12 + ((step) % 2 * 64 + (group)) * 3)

// The march, in direct style: group 0 says a step ahead which one is the last.
kernel void steps(global uint *board, global uint *stop) {
  transmit uint step = 0;
  transmit uint mark = 1;
  transmit uint before = 0;
  while (true) {
    uint groups = get_num_groups();
    uint id = get_group_id();
    if (get_local_id() == 0) {
      uint wrong = id >= groups;
      if (step > 0) {
        wrong += board[ANNOUNCED + step % 2] != step;
        for (uint i = 0; i < 64; i++) {
          uint cell = CELL(step - 1, i);
          uint was_there = board[cell] == step;
          if (i < before)
            wrong += !was_there || board[cell + 1] != before || board[cell + 2] != board[CELL(step - 1, 0) + 2];
          else
            wrong += was_there;
        }
      }
      if (wrong != 0) atomic_add(board + WRONG, wrong);
      uint mine = CELL(step, id);
      board[mine] = step + 1;
      board[mine + 1] = groups;
      board[mine + 2] = mark;
      if (id == 0) {
        board[ANNOUNCED + (step + 1) % 2] = step + 1;
        board[LAST + step % 2] = *(volatile global uint *)stop;
        if (step == 0) {
          board[FIRST] = groups;
          board[LEAST] = groups;
          board[MOST] = groups;
        } else {
          board[LEAST] = min(board[LEAST], groups);
          board[MOST] = max(board[MOST], groups);
          if (groups > before) board[UPS] += groups - before;
          if (groups < before) board[DOWNS] += before - groups;
        }
        atomic_xchg(board + GROUPS, groups);
        atomic_inc(board + STEPS);
      }
    }
    global_barrier();
    if (board[LAST + step % 2] != 0) break;
    step = step + 1;
    mark = mark * 1664525u + 1013904223u;
    before = groups;
    resizing_global_barrier();
  }
}

kernel void meeting_task(global uint *arrived, global uint *wrong) {
  if (get_local_id() == 0) atomic_inc(arrived);
  global_barrier();
  if (atomic_or(arrived, 0u) != get_num_groups()) atomic_inc(wrong);
}
