// What gather times are measured with: groups that do one task after another and offer themselves in between, in both kill
// orders; and the task alone.

// So many steps of the logistic map, each of which needs the one before.
double churn(ulong steps) {
  double x = 0.3;
  for (ulong i = 0; i < steps; i++) x = 3.99 * x * (1.0 - x);
  return x;
}

// board: [0] it is over; [1] the highest group is to do a long task, which is cleared when it begins. steps: of a task, and of a
// long one.
#define STEAL                                                                                              \
  while (*(volatile global uint *)board == 0) {                                                            \
    offer_kill();                                                                                          \
    request_fork();                                                                                        \
    uint longer = 0;                                                                                       \
    if (get_group_id() + 1 == most && ((volatile global uint *)board)[1] != 0)                          \
      longer = atomic_xchg(&board[1], 0u);                                                                 \
    out[get_group_id()] = churn(longer != 0 ? long_steps : steps);                                         \
  }

kernel void steal_highest_first(global uint *board, global double *out, uint most, ulong steps, ulong long_steps) {
  STEAL
}

kernel kill_order(any) void steal_any(global uint *board, global double *out, uint most, ulong steps, ulong long_steps) {
  STEAL
}

kernel void churn_alone(global double *out, ulong steps) { out[get_group_id()] = churn(steps); }
