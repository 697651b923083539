// Connect four to a fixed depth by work stealing. A task is a node of the game tree; its last child finishes it, and values fold
// into the parent by maximum (the computer, x, to move) or minimum. Nothing to transmit: a task says all.
#include "pools.h"

#define ROWS 6
#define COLUMNS 7
#define WIN 666
#define ROOT 0xffffffffu

typedef struct {
  uint parent;
  uint level;     // 1: the position after the computer's first move
  int value;
  uint open;      // children that are not finished
  char cell[ROWS][COLUMNS];  // 0 empty, 1 the computer, 2 the opponent; row 0 is the top
} position;

// Adds up the runs of one line: +1 for 2 or 3 x in a row, -1 for o; from 4 on somebody has won.
int score_line(global const position *p, int row, int column, int down, int right, int *won) {
  int score = 0, run = 0, of = 0;
  for (;; row += down, column += right) {
    bool inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
    int cell = inside ? p->cell[row][column] : 0;
    if (cell != of) {
      int sign = of == 1 ? 1 : -1;
      if (of != 0 && run >= 4) *won = sign;
      if (of != 0 && (run == 2 || run == 3)) score += sign;
      of = cell;
      run = 0;
    }
    if (!inside) return score;
    run++;
  }
}

int score_of(global const position *p) {
  int score = 0, won = 0;
  for (int row = 0; row < ROWS; row++) score += score_line(p, row, 0, 0, 1, &won);
  for (int column = 0; column < COLUMNS; column++) score += score_line(p, 0, column, 1, 0, &won);
  for (int column = 0; column <= COLUMNS - 4; column++) score += score_line(p, 0, column, 1, 1, &won);
  for (int row = 1; row <= ROWS - 4; row++) score += score_line(p, row, 0, 1, 1, &won);
  for (int column = 3; column < COLUMNS; column++) score += score_line(p, 0, column, 1, -1, &won);
  for (int row = 1; row <= ROWS - 4; row++) score += score_line(p, row, COLUMNS - 1, 1, -1, &won);
  return won ? won * WIN : score;
}

// Finishes a node, and those above it whose last child that was.
void finish(global position *nodes, uint node, global uint *roots_open) {
  for (;;) {
    uint parent = nodes[node].parent;
    if (parent == ROOT) {
      atomic_dec(roots_open);
      return;
    }
    // After the computer's move, at an odd level, the opponent chooses: the least of the children.
    if (nodes[parent].level % 2 == 1) atomic_min(&nodes[parent].value, nodes[node].value);
    else atomic_max(&nodes[parent].value, nodes[node].value);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    if (atomic_dec(&nodes[parent].open) != 1u) return;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    node = parent;
  }
}

// By one thread: scores the node, or makes its children into tasks.
void process(global position *nodes, global uint *used, uint room_for_nodes, uint node, uint depth, global pool *pools,
             global uint *tasks, uint count, uint room, uint own, global uint *roots_open, global uint *lost) {
  global position *p = &nodes[node];
  int score = score_of(p);
  uint children = 0;
  if (p->level < depth && score != WIN && score != -WIN) {
    for (int column = 0; column < COLUMNS; column++) children += p->cell[0][column] == 0;
  }
  if (children == 0) {
    p->value = score;
    finish(nodes, node, roots_open);
    return;
  }
  bool opponent = p->level % 2 == 1;
  p->value = opponent ? INT_MAX : INT_MIN;
  p->open = children;
  uint first = atomic_add(used, children);
  if (first + children > room_for_nodes) {
    atomic_xchg(lost, 1u);
    return;
  }
  for (int column = 0; column < COLUMNS; column++) {
    if (p->cell[0][column] != 0) continue;
    global position *child = &nodes[first];
    *child = *p;
    child->parent = node;
    child->level = p->level + 1;
    int row = ROWS - 1;
    while (child->cell[row][column] != 0) row--;
    child->cell[row][column] = opponent ? 2 : 1;
    push_task(pools, tasks, count, room, own, first, lost);
    first++;
  }
}

kernel void game(global position *nodes, global uint *used, uint room_for_nodes, uint depth, global pool *pools, global uint *tasks,
                 uint pool_count, uint room, global uint *roots_open, global uint *lost) {
  local uint more;
  while (true) {
    offer_kill();
    request_fork();
    if (get_local_id() == 0) {
      uint own = get_group_id() % pool_count, task;
      if (pop_or_steal(pools, tasks, pool_count, room, own, &task)) {
        process(nodes, used, room_for_nodes, task, depth, pools, tasks, pool_count, room, own, roots_open, lost);
      }
      more = atomic_or(roots_open, 0u) != 0u && atomic_or(lost, 0u) == 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool go_on = more != 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!go_on) break;
  }
}
