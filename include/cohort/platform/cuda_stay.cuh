// One stay of a block in a job: check in or wait in the lobby, and leave. The code that calls the
// kernel in between is in cuda_groups.cuh and grid.cuh. Invariant: a block that was not admitted
// touches nothing but the run's arguments, and the last action of every block is to count itself
// gone.
#pragma once

#include <new>

#include "cohort/platform/cuda.cuh"

namespace cohort::cuda::detail {

/// The addresses of a run's data in device memory. A resumed job gets a new run, so that a late
/// block of the previous run still finds the old one.
struct RunArguments {
  protocol::Shared<Platform>* shared = nullptr;
  void* states = nullptr;      ///< a States<State>
  void* box_states = nullptr;  ///< memory for States::boxes
  const Demands* demands = nullptr;
  std::uint32_t* places = nullptr;  ///< by check-in id: the SM + 1; used if groups share SMs
  Tapes tapes = {};
  std::uint32_t bundle = 1;
  bool first = false;   ///< enter by the check-in, not by the lobby
  bool stress = false;  ///< resize at every opportunity
};

#ifdef __CUDACC__

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

/// The result of entering, for all threads of a block.
struct Stay {
  bool in;    ///< the group was admitted, so go_out() has to follow
  bool runs;  ///< the group runs the kernel
};

/// From the check-in or the lobby to the first line of the kernel. Called by all threads; `member`
/// is room in shared memory.
template <Traits traits, class Member>
__device__ __forceinline__ Stay come_in(Member* member, const RunArguments& run, bool votes) {
  using State = typename Member::State;
  static_assert(
      sizeof(Member) <= 16 * 1024,
      "cohort: on CUDA Kernel::State lies in shared memory: keep it below 16 KB, and what "
      "is larger in a buffer");
  __shared__ bool in;
  __shared__ bool runs;
  bool checked_in = false;
  if (threadIdx.x == 0) {
    auto& states = *static_cast<protocol::States<State>*>(run.states);
    new (member) Member{*run.shared, states};
    member->votes = votes;
    Platform::here() = {run.shared, run.demands, nullptr};
    Platform::here().offers = &member->sampler;
    if (run.first) {
      // The host may not know the offset of `boxes` in States, so the blocks write the pointer. All
      // first blocks write the same value, before they check in. The other groups get their State
      // from one of them, or from its successors.
      *static_cast<State* volatile*>(&states.boxes) = static_cast<State*>(run.box_states);
      checked_in = protocol::check_in(*member);
      if (checked_in && !member->joined) member->state = State{};
    }
    // Groups on one SM take neighbouring boxes, and thus get neighbouring ids.
    const std::uint32_t hint = this_sm() * run.bundle;
    in = checked_in ||
         protocol::wait_in_lobby(*member, run.shared->serial.load(Order::relaxed), hint);
    if (in) {
      run.shared->recorder.tell(came_in | (member->joined ? joined_later : 0U));
      // This block sees the job closed. A block that reports this has to fence, or the host could
      // consider the job over too early.
      Platform::fence();  // pairs with the fence of that block
      if (run.shared->look().faulted()) protocol::abandon(*member);
    } else {
      const bool closed = run.shared->closed.load(Order::acquire) != 0;
      if (closed) Platform::fence();  // pairs with the fence of a block that reports after this one
      run.shared->recorder.tell((closed ? found_closed : 0U) | is_gone);
    }
  }
  __syncthreads();
  if (!in) return {false, false};

  const bool bundled = run.bundle > 1 && traits.kill_order == KillOrder::highest_first;
  bool good = true;
  // The other threads read `left` only if a barrier follows, because thread 0 may write it below.
  if (bundled || threadIdx.x == 0) good = !member->left;
  if (good && bundled && __syncthreads_or(checked_in ? 1 : 0) != 0)
    good = order_by_sm(*member, run.places);
  if (threadIdx.x == 0) {
    runs = good && protocol::enter<Platform, traits>(*member) == protocol::Verdict::stay;
    Here& here = Platform::here();
    Tape& tape = here.tape;
    if (run.tapes.heads != nullptr) {
      tape.open(run.tapes, this_sm() * run.bundle, member->gen);
      tape.group = member->id;
      tape.note(member->joined ? Trace::join : Trace::start, member->active, member->gen);
    }
    // The last thread looks ahead on behalf of group 0, which is also how fast barriers notice a
    // cancel. It also writes the arrivals of all traced groups.
    if (member->id == 0 || tape.head != nullptr) here.recent = &member->sampler;
    here.stress = run.stress;  // set only now: groups in the lobby wait for their turn
  }
  __syncthreads();
  return {true, runs};
}

/// From the last line of the kernel to the end of the block. Called by all threads.
template <class Member>
__device__ __forceinline__ void go_out(Member& member) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  const bool returned = !member.left;
  if (returned) protocol::finish(member);
  const bool faulted = member.shared.look().faulted();
  const std::uint32_t how = returned ? has_returned : taken_away;
  Platform::depart(faulted ? 0U : how);
}

#endif

}  // namespace cohort::cuda::detail
