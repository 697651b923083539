// Blocks that stay: between two stays in its job a block of a resident job runs groups of tasks
// that were compiled into its kernel, as in the paper's megakernel. Invariant: the groups of a task
// all hold a ticket before the first of them starts, and who touches a task last says that it is
// done.
#pragma once

#include <new>
#include <type_traits>

#include "cohort/platform/cuda.cuh"
#include "cohort/protocol/driver.hpp"

namespace cohort::cuda::detail {

/// A callable as a kernel of a static launch: each group calls it, with itself if it asks for a
/// group.
template <class Function>
struct TaskKernel {
  Function function;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    if constexpr (std::is_invocable_v<const Function&, Group&>) {
      function(group);
    } else {
      function();
    }
  }
};

#ifdef __CUDACC__

// Never called, only compiled. A kernel's functions are called by functions for either side, where
// one without COHORT_FN is a warning that nvcc does not show for system headers, and an empty
// kernel. From a function of the device it is an error, which has this function's name in it.
template <protocol::Role role, class Kernel>
__device__ __forceinline__ void functions_of_a_kernel_need_COHORT_FN(
    const Kernel& kernel, StateOf<Kernel>& state, Group<Platform, Kernel, role>* group = nullptr,
    Group<Platform, Kernel, protocol::Role::setup>* first = nullptr) {
  if constexpr (HasSetup<Kernel>) kernel.setup(*first);
  if constexpr (Contract<Kernel>::step_style) {
    kernel.step(*group, state);
  } else {
    kernel.run(*group, state);
  }
}
template <protocol::Role role, class Function>
__device__ __forceinline__ void functions_of_a_kernel_need_COHORT_FN(
    const TaskKernel<Function>& task, Nothing& /*state*/,
    Group<Platform, TaskKernel<Function>, role>* group = nullptr) {
  if constexpr (std::is_invocable_v<const Function&, decltype(*group)>) {
    task.function(*group);
  } else {
    task.function();
  }
}

#endif

/// The most bytes of a resident task's function object: 16 for each thread of a warp.
inline constexpr std::size_t most_function = 512;

/// What is asked for.
struct alignas(16) Wish {
  unsigned char function[most_function] = {};
  std::uint32_t kind = 0;  ///< which of the task types
  std::uint32_t groups = 0;
  std::uint32_t sms = 0;  ///< that these take of the job
};

/// What host and device tell each other, in pinned memory.
struct Mail {
  Wish wish;
  std::uint64_t opening = 0;  ///< Pool::open, for a host that opens the task by itself
  std::uint32_t serial = 0;   ///< of the wish; the scheduler on the device waits for the next
  // By the device:
  std::uint32_t lent = 0;         ///< Pool::lent
  std::uint64_t fault = 0;        ///< protocol::FaultRecord::word
  std::uint64_t gathered_at = 0;  ///< by the device's timer
  std::uint64_t done_at = 0;
  std::uint32_t done = 0;  ///< serial of the last task that is; written last
};

/// A run's workers and the one task that they may be busy with, in device memory.
struct Pool {
  alignas(128) Atomic<std::uint64_t> open{0};  ///< serial:32 | groups:16 | tickets taken:16
  Atomic<std::uint32_t> ready{0};              ///< the serial whose groups may start
  Atomic<std::uint32_t> alive{0};              ///< blocks
  Atomic<std::uint32_t> finished{0};           ///< groups of the task
  alignas(128) Atomic<std::uint32_t> lent{0};  ///< SMs that the task takes of the job
  bool host_gives_back = false;                ///< otherwise the last group does
  Mail* mail = nullptr;
  Wish wish;
  protocol::Shared<Platform> shared;  ///< of the task
  protocol::States<Nothing> states;
  std::uint32_t scratch = 0;  ///< where the task's groups tell the news that nobody reads
};

[[nodiscard]] COHORT_FN constexpr std::uint64_t opening(std::uint32_t serial,
                                                        std::uint32_t groups) {
  return std::uint64_t{serial} << 32U | std::uint64_t{groups} << 16U;
}

#ifdef __CUDACC__

/// Tells the host how the task has ended; its SMs go back to the job.
__device__ inline void conclude(Pool& pool, std::uint32_t serial, protocol::FaultRecord fault) {
  auto* const mail = static_cast<volatile Mail*>(pool.mail);
  mail->fault = fault.word;
  mail->done_at = Platform::timer();
  if (!pool.host_gives_back) {
    pool.lent.store(0, Order::relaxed);
    mail->lent = 0;
  }
  __threadfence_system();  // what the task has written, and the words above, before the last one
  mail->done = serial;
}

/// A group of the task is out.
__device__ inline void leave_task(Pool& pool) {
  const std::uint32_t groups = *static_cast<const volatile std::uint32_t*>(&pool.wish.groups);
  // Acquire and release: the last one publishes what all have done.
  if (pool.finished.fetch_add(1, Order::acq_rel) + 1 != groups) return;
  const auto serial = static_cast<std::uint32_t>(pool.open.load(Order::relaxed) >> 32U);
  conclude(pool, serial, protocol::FaultRecord{pool.shared.fault.load(Order::relaxed)});
}

/// What a block that is in no group does next.
struct Errand {
  enum What : std::uint32_t { lobby, task, over } what;
  std::uint32_t group;
  std::uint32_t groups;
};

/// The last one to get a ticket makes everything ready for the groups.
__device__ inline void set_up_task(Pool& pool, std::uint32_t serial, std::uint32_t groups) {
  auto& shared = *new (&pool.shared) protocol::Shared<Platform>{};
  shared.roster.store(groups, Order::relaxed);
  shared.share.store(groups, Order::relaxed);
  shared.settled.store(groups, Order::relaxed);
  shared.staying.store(groups, Order::relaxed);
  shared.max_groups = groups;
  shared.quorum = groups;
  shared.recorder.lines = &pool.scratch;
  pool.finished.store(0, Order::relaxed);
  static_cast<volatile Mail*>(pool.mail)->gathered_at = Platform::timer();
  pool.ready.store(serial, Order::release);  // pairs with wait_for_the_others()
}

/// Waits until all groups of the task are there. False: the job has ended, and with it the task,
/// for some of the blocks that it needs may be gone.
__device__ inline bool wait_for_the_others(Pool& pool, const protocol::Shared<Platform>& job,
                                           std::uint32_t serial) {
  while (pool.ready.load(Order::acquire) != serial) {
    std::uint64_t now = pool.open.load(Order::acquire);
    const std::uint32_t groups = now >> 16U & 0xffffU;
    if (groups == 0) return false;
    if (job.closed.load(Order::relaxed) != 0 && (now & 0xffffU) < groups &&
        pool.open.compare_exchange(now, opening(serial, 0), Order::acq_rel)) {
      conclude(pool, serial, protocol::FaultRecord{protocol::Fault::cancelled});
      return false;
    }
    __nanosleep(50);
  }
  return true;
}

/// Whether this block is in the task that is open; returns when all its groups are there. Sets
/// `served` to the task that it has asked for a ticket.
__device__ inline bool take_ticket(Pool& pool, const protocol::Shared<Platform>& job,
                                   std::uint32_t& served, Errand& errand) {
  // One addition, of which nobody waits for another. Those who come too late add beyond the groups.
  // Acquire pairs with who opened it, release with who sets it up.
  const std::uint64_t open = pool.open.fetch_add(1, Order::acq_rel);
  const std::uint32_t groups = open >> 16U & 0xffffU;
  const auto ticket = static_cast<std::uint32_t>(open & 0xffffU);
  served = static_cast<std::uint32_t>(open >> 32U);
  if (ticket >= groups) return false;
  errand = {Errand::task, ticket, groups};
  if (ticket + 1 != groups) return wait_for_the_others(pool, job, served);
  set_up_task(pool, served, groups);
  return true;
}

/// Whether the job would have one more group than it has, or is about to have.
__device__ inline bool has_room(const protocol::Shared<Platform>& job) {
  const protocol::Roster now = job.look();
  const std::uint32_t active = now.gathering() ? job.quorum : now.active();
  return !now.draining() && active + job.waiting.load(Order::relaxed) < job.target();
}

/// Waits for something to do. `served`: the last task that was looked at.
__device__ inline Errand next_errand(Pool& pool, protocol::Shared<Platform>& job,
                                     std::uint32_t& served) {
  Errand errand{Errand::over, 0, 0};
  for (;;) {
    if (pool.open.load(Order::relaxed) >> 32U != served) {
      if (take_ticket(pool, job, served, errand)) return errand;
      errand.what = Errand::over;
    }
    if (job.closed.load(Order::acquire) != 0) return errand;
    // This SM may be wanted by somebody who is no task of ours.
    Platform::here().lent = nullptr;
    const std::uint32_t allowed = job.target();
    Platform::here().lent = &pool.lent;
    std::uint32_t alive = pool.alive.load(Order::relaxed);
    if (alive > allowed && pool.alive.compare_exchange(alive, alive - 1, Order::relaxed)) {
      return errand;
    }
    if (has_room(job)) {
      errand.what = Errand::lobby;
      return errand;
    }
    __nanosleep(200);
  }
}

/// As one of the task's groups.
template <class Task>
__device__ void be_task_group(Pool& pool, const Errand& errand, protocol::Shared<Platform>* home) {
  using Kernel = TaskKernel<Task>;
  using Member = protocol::Member<Platform, Nothing>;
  __shared__ alignas(Member) unsigned char member_room[sizeof(Member)];
  __shared__ Nothing local;
  auto* const member = reinterpret_cast<Member*>(member_room);
  if (threadIdx.x == 0) {
    new (member_room) Member{pool.shared, pool.states};
    member->id = errand.group;
    member->active = errand.groups;
    Platform::here() = {&pool.shared, nullptr, nullptr, {}, home, nullptr, &pool};
  }
  __syncthreads();
  const Kernel kernel{*reinterpret_cast<const Task*>(pool.wish.function)};
  if (false) functions_of_a_kernel_need_COHORT_FN<protocol::Role::fixed>(kernel, member->state);
  protocol::live<Platform, protocol::Role::fixed>(kernel, *member, local, Threads::here());
  __syncthreads();
  if (threadIdx.x != 0) return;
  protocol::finish(*member);
  leave_task(pool);
}

#endif

}  // namespace cohort::cuda::detail
