// Connect four to a fixed depth by work stealing. A task is a node of the game tree. The last child of a node to finish also
// finishes the node. A value is folded into the parent's by maximum (x, the computer, to move) or minimum. Nothing has to be
// transmitted, because a task holds all state.
#include "pools.h"

#define COLUMNS 7
#define WIN 666
#define ROOT 0xffffffffu

// Stones are bit sets with seven bits per column: six cells, the lowest row first, and one that is always empty.
typedef struct {
  ulong x, o;     // the computer's stones and the opponent's
  uint parent;
  uint level;     // 1: after the computer's first move
  int value;
  uint open;      // number of children that are not finished
} position;

#define RISING 0x0e1e3e7e7c787ul   // cells on rising diagonals of four cells or more
#define FALLING 0x01c79f7ef9e38ul

bool can_play(ulong stones, int column) { return (stones >> (column * 7 + 5) & 1) == 0; }

// A run of two or three stones counts one. A run of four or more ends the game.
int runs(ulong stones, int step, bool *four_in_a_row) {
  ulong two = stones & ~(stones << step) & (stones >> step);
  ulong four = two & (stones >> 2 * step) & (stones >> 3 * step);
  *four_in_a_row |= four != 0;
  return (int)popcount(two) - (int)popcount(four);
}

int all_runs(ulong stones, bool *won) {
  return runs(stones, 1, won) + runs(stones, 7, won) + runs(stones & RISING, 8, won) + runs(stones & FALLING, 6, won);
}

int score_of(ulong x, ulong o) {
  bool x_wins = false, o_wins = false;
  int mine = all_runs(x, &x_wins);
  if (x_wins) return WIN;
  int theirs = all_runs(o, &o_wins);
  return o_wins ? -WIN : mine - theirs;
}

// Finishes a node. If it was its parent's last open child, also finishes the parent, and so on upwards.
void finish(global position *nodes, uint node, global uint *roots_open) {
  for (;;) {
    uint parent = nodes[node].parent;
    if (parent == ROOT) {
      atomic_dec(roots_open);
      return;
    }
    // After the computer's move, at an odd level, the opponent chooses the smallest value of the children.
    if (nodes[parent].level % 2 == 1) atomic_min(&nodes[parent].value, nodes[node].value);
    else atomic_max(&nodes[parent].value, nodes[node].value);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    if (atomic_dec(&nodes[parent].open) != 1u) return;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    node = parent;
  }
}

// One thread only: scores the node, or turns its children into tasks.
void process(global position *nodes, global uint *used, uint room_for_nodes, uint node, uint depth, global pool *pools,
             global uint *tasks, uint count, uint room, uint own, global uint *roots_open, global uint *lost) {
  position p = nodes[node];
  int score = score_of(p.x, p.o);
  uint children = 0;
  if (p.level < depth && score != WIN && score != -WIN) {
    for (int column = 0; column < COLUMNS; column++) children += can_play(p.x | p.o, column);
  }
  if (children == 0) {
    nodes[node].value = score;
    finish(nodes, node, roots_open);
    return;
  }
  bool opponent = p.level % 2 == 1;
  nodes[node].value = opponent ? INT_MAX : INT_MIN;
  nodes[node].open = children;
  uint first = atomic_add(used, children);
  if (first + children > room_for_nodes) {
    poke(lost, 1);
    return;
  }
  for (int column = 0; column < COLUMNS; column++) {
    ulong stones = p.x | p.o;
    if (!can_play(stones, column)) continue;
    ulong stone = (stones + (1ul << column * 7)) & (63ul << column * 7) & ~stones;
    position child = {opponent ? p.x : p.x | stone, opponent ? p.o | stone : p.o, node, p.level + 1, 0, 0};
    nodes[first++] = child;
  }
  push_tasks(pools, tasks, count, room, own, first - children, (1u << children) - 1, lost);
}

kernel void game(global position *nodes, global uint *used, uint room_for_nodes, uint depth, global pool *pools, global uint *tasks,
                 uint pool_count, uint room, global uint *roots_open, global uint *lost) {
  while (true) {
    offer_kill();
    request_fork();
    uint own = get_group_id() % pool_count;
    uint task = pop_or_steal(pools, tasks, pool_count, room, own, roots_open, lost);
    if (task == ALL_DONE) break;
    // The other threads wait for the leader in pop_or_steal.
    if (task != NO_TASK && get_local_id() == 0) {
      process(nodes, used, room_for_nodes, task, depth, pools, tasks, pool_count, room, own, roots_open, lost);
    }
  }
}
