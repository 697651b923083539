// The march of jobs.hpp: the words of Board, and the checks and writes of a group in one step.
#pragma once
#include "words.h"

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
#define CELL(step, group) (12 + ((step) % 2 * MOST_IDS + (group)) * 3)
#define NEXT_MARK(mark) ((mark) * 1664525u + 1013904223u)

void march(global uint *board, global uint *stop, uint step, uint mark, uint before) {
  uint groups = get_num_groups();
  uint id = get_group_id();
  expect(board + WRONG, id < groups);
  expect(board + WRONG, get_global_size() == groups * get_local_size());
  if (step > 0) {
    expect(board + WRONG, board[ANNOUNCED + step % 2] == step);
    for (uint i = 0; i < MOST_IDS; i++) {
      uint cell = CELL(step - 1, i);
      bool was_there = board[cell] == step;
      expect(board + WRONG, i < before ? was_there && board[cell + 1] == before && board[cell + 2] == board[CELL(step - 1, 0) + 2]
                                       : !was_there);
    }
  }
  if (!leads()) return;
  uint mine = CELL(step, id);
  board[mine] = step + 1;
  board[mine + 1] = groups;
  board[mine + 2] = mark;
  if (id != 0) return;
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
