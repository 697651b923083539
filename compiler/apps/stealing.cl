// Kernels for measuring gather times: groups do one task after another and offer themselves in between, with either kill order.
// Also the task on its own.

// Computes `steps` steps of the logistic map. Each step needs the previous one.
double churn(ulong steps) {
  double x = 0.3;
  for (ulong i = 0; i < steps; i++) x = 3.99 * x * (1.0 - x);
  return x;
}

// board[0]: the run is over. board[1]: the highest group should do a long task; that group clears it when it starts. `steps`,
// `long_steps`: lengths of a task and of a long task.
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
