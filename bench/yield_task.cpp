#include "bench/yield_task.hpp"

#include "bench/arithmetic.hpp"
#include "cohort/platform/cpu.hpp"

namespace cohort::bench {

Served YieldTask::ask(std::uint32_t groups, std::uint64_t steps) {
  groups_ = groups;
  steps_ = steps;
  arrived_.store(0, std::memory_order_relaxed);
  busy_.store(groups, std::memory_order_relaxed);
  const std::uint64_t asked_at = cpu::now();
  wanted_.store(groups, std::memory_order_release);  // pairs with the acquire in serve()
  for (std::uint32_t left = groups; left != 0; left = busy_.load(std::memory_order_acquire))
    busy_.wait(left, std::memory_order_acquire);  // pairs with the last release in serve()
  return {.gather = gathered_at_ - asked_at, .done = cpu::now() - asked_at};
}

void YieldTask::serve() {
  std::uint32_t wanted = wanted_.load(std::memory_order_relaxed);
  do {
    if (wanted == 0) return;
    // Acquire: pairs with ask(), for the task and its round.
  } while (!wanted_.compare_exchange_weak(wanted, wanted - 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
  const std::uint32_t round = round_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_relaxed) + 1 == groups_) {
    gathered_at_ = cpu::now();
    round_.fetch_add(1, std::memory_order_relaxed);
    round_.notify_all();
  } else {
    round_.wait(round, std::memory_order_relaxed);
  }
  keep(churn(steps_));
  busy_.fetch_sub(1, std::memory_order_release);  // pairs with ask()'s acquire: gathered_at_ too
  busy_.notify_one();
}

}  // namespace cohort::bench
