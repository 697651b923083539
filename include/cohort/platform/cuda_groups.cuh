// The kernel that every block of a job runs: check in or wait in the lobby, live, leave.
// Invariant: a block that was not admitted touches nothing but the run's arguments, and the last
// action of every block is to count itself gone.
#pragma once

#include <new>
#include <type_traits>

#include "cohort/platform/cuda.cuh"
#include "cohort/protocol/driver.hpp"
#include "cohort/task.hpp"

namespace cohort::cuda::detail {

/// Where a run of a job is, in device memory. A resumed job gets a new one, so that a late block of
/// the previous run still finds the old one.
struct RunArguments {
  protocol::Shared<Platform>* shared = nullptr;
  void* states = nullptr;  ///< States<State>
  const Demands* demands = nullptr;
  std::uint32_t* places = nullptr;  ///< by check-in id: the SM + 1; used where groups share SMs
  Tapes tapes = {};
  std::uint32_t bundle = 1;
  bool first = false;  ///< to the check-in, not to the lobby
};

#ifdef __CUDACC__

// Never called, only compiled. The functions of a kernel are otherwise called by functions for both
// host and device. There, a missing COHORT_FN is a warning that nvcc does not show for system
// headers, and results in an empty kernel. In a device function it is an error, whose message
// contains this function's name.
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
    const cohort::detail::TaskKernel<Function>& task, Nothing& /*state*/,
    Group<Platform, cohort::detail::TaskKernel<Function>, role>* group = nullptr) {
  if constexpr (std::is_invocable_v<const Function&, decltype(*group)>) {
    task.function(*group);
  } else {
    task.function();
  }
}

[[nodiscard]] __device__ inline std::uint32_t this_sm() {
  std::uint32_t id = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

/// Renames the first groups, so that groups on one SM have neighbouring ids and leave together.
/// Called by all threads of all groups that have checked in. Returns false if the job has ended
/// meanwhile.
template <class Member>
__device__ bool order_by_sm(Member& member, std::uint32_t* places) {
  __shared__ std::uint32_t before;
  const std::uint32_t active = member.active;
  const std::uint32_t id = member.id;
  const std::uint32_t mine = this_sm() + 1;
  if (threadIdx.x == 0) {
    before = 0;
    DeviceRef<std::uint32_t>{places[id]}.store(mine, ::cuda::std::memory_order_relaxed);
  }
  __syncthreads();
  bool over = false;
  for (std::uint32_t i = threadIdx.x; i < active && !over; i += blockDim.x) {
    std::uint32_t its = 0;
    for (;;) {
      its = DeviceRef<std::uint32_t>{places[i]}.load(::cuda::std::memory_order_relaxed);
      over = its == 0 && member.shared.look().faulted();
      if (its != 0 || over) break;
    }
    if (its < mine || (its == mine && i < id)) atomicAdd(&before, 1U);
  }
  over = __syncthreads_or(over ? 1 : 0) != 0;
  if (threadIdx.x == 0 && !over) member.id = before;
  if (threadIdx.x == 0 && over) protocol::abandon(member);
  __syncthreads();
  return !over;
}

/// A larger Kernel::Local is allocated by the launch, not by the kernel's own static memory.
inline constexpr std::size_t static_local = 16 * 1024;

/// One stay: from the check-in or the lobby until the group is out.
template <class Kernel, protocol::Role role>
__global__ void __launch_bounds__(Contract<Kernel>::traits.max_local_size, 1)
    run_groups(const __grid_constant__ Kernel kernel, const __grid_constant__ RunArguments run) {
  using State = StateOf<Kernel>;
  using Local = LocalOf<Kernel>;
  using Member = protocol::Member<Platform, State>;
  constexpr Traits traits = Contract<Kernel>::traits;
  static_assert(
      sizeof(Member) <= 16 * 1024,
      "cohort: on CUDA Kernel::State lies in shared memory: keep it below 16 KB, and what "
      "is larger in a buffer");
  constexpr bool outside = sizeof(Local) > static_local;

  extern __shared__ __align__(128) unsigned char cohort_dynamic[];
  __shared__ alignas(Local) unsigned char local_room[outside ? 1 : sizeof(Local)];
  __shared__ alignas(Member) unsigned char member_room[sizeof(Member)];
  __shared__ bool in;
  __shared__ bool runs;
  auto* const member = opaque(reinterpret_cast<Member*>(member_room));
  auto* const local = reinterpret_cast<Local*>(outside ? cohort_dynamic : local_room);

  if (false) functions_of_a_kernel_need_COHORT_FN<role>(kernel, member->state);
  bool checked_in = false;
  if (threadIdx.x == 0) {
    new (member_room) Member{*run.shared, *static_cast<protocol::States<State>*>(run.states)};
    member->votes = Contract<Kernel>::step_style;
    Platform::here() = {run.shared, run.demands, nullptr};
    Platform::here().offers = &member->sampler;
    checked_in = run.first && protocol::check_in(*member);
    // Groups on one SM take neighbouring boxes, and thus get neighbouring ids.
    const std::uint32_t hint = this_sm() * run.bundle;
    in = checked_in ||
         protocol::wait_in_lobby(*member, run.shared->serial.load(Order::relaxed), hint);
    if (in) {
      run.shared->recorder.tell(came_in | (member->joined ? joined_later : 0U));
      // A block that reported earlier that a fault has closed the job may have let the host
      // consider the job over.
      Platform::fence();  // pairs with the fence of that block
      if (run.shared->look().faulted()) protocol::abandon(*member);
    } else {
      const bool closed = run.shared->closed.load(Order::acquire) != 0;
      if (closed) Platform::fence();  // pairs with the fence of a block that reports after this one
      run.shared->recorder.tell((closed ? found_closed : 0U) | is_gone);
    }
  }
  __syncthreads();
  if (!in) return;

  const bool bundled = run.bundle > 1 && traits.kill_order == KillOrder::highest_first;
  bool good = true;
  // The other threads read `left` only if a barrier follows: thread 0 may write it below.
  if (bundled || threadIdx.x == 0) good = !member->left;
  if (good && bundled && __syncthreads_or(checked_in ? 1 : 0) != 0)
    good = order_by_sm(*member, run.places);
  if (threadIdx.x == 0) {
    runs = good && protocol::enter<Platform, traits>(*member) == protocol::Verdict::stay;
    Tape& tape = Platform::here().tape;
    if (run.tapes.heads != nullptr) {
      tape.open(run.tapes, this_sm() * run.bundle, member->gen);
      tape.group = member->id;
      tape.note(member->joined ? Trace::join : Trace::start, member->active, member->gen);
    }
    // The last thread looks ahead for group 0, which is also how fast barriers notice a cancel. It
    // also writes the arrivals of all traced groups.
    if (member->id == 0 || tape.head != nullptr) Platform::here().recent = &member->sampler;
  }
  __syncthreads();
  if (runs) protocol::live<Platform, role>(kernel, *member, *local, Threads::here());
  __syncthreads();
  if (threadIdx.x != 0) return;
  const bool returned = !member->left;
  if (returned) protocol::finish(*member);
  const bool faulted = run.shared->look().faulted();
  const std::uint32_t how = returned ? has_returned : taken_away;
  Platform::depart(faulted ? 0U : how);
}

#endif

}  // namespace cohort::cuda::detail
