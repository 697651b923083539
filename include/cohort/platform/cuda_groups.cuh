// The __global__ function that every block of a job runs if the kernel is a function object.
// Invariant: only come_in() and go_out() let groups in and out.
#pragma once

#include <type_traits>

#include "cohort/platform/cuda_stay.cuh"
#include "cohort/protocol/driver.hpp"
#include "cohort/task.hpp"

namespace cohort::cuda::detail {

#ifdef __CUDACC__

// Never called, only compiled, to find a missing COHORT_FN. The functions of a kernel are otherwise
// called by functions for both host and device. There, a missing COHORT_FN is a warning that nvcc
// does not show for system headers, and results in an empty kernel. In a device function it is an
// error, whose message contains this function's name.
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

/// A Kernel::Local that is larger than this, or whose size is known only at the launch, is
/// allocated by the launch and not in the kernel's static memory.
inline constexpr std::size_t static_local = 16 * 1024;
template <class Kernel>
inline constexpr bool local_is_dynamic = HasMoreLocal<Kernel> ||
                                         sizeof(LocalOf<Kernel>) > static_local;

/// One stay: from the check-in or the lobby until the group is out.
template <class Kernel, protocol::Role role>
__global__ void __launch_bounds__(Contract<Kernel>::traits.max_local_size, 1)
    run_groups(const __grid_constant__ Kernel kernel, const __grid_constant__ RunArguments run) {
  using Local = LocalOf<Kernel>;
  using Member = protocol::Member<Platform, StateOf<Kernel>>;
  constexpr bool outside = local_is_dynamic<Kernel>;

  extern __shared__ __align__(128) unsigned char cohort_dynamic[];
  __shared__ alignas(Local) unsigned char local_room[outside ? 1 : sizeof(Local)];
  __shared__ alignas(Member) unsigned char member_room[sizeof(Member)];
  auto* const member = opaque(reinterpret_cast<Member*>(member_room));
  auto* const local = reinterpret_cast<Local*>(outside ? cohort_dynamic : local_room);

  if (false) functions_of_a_kernel_need_COHORT_FN<role>(kernel, member->state);
  const Stay stay = come_in<Contract<Kernel>::traits>(member, run, Contract<Kernel>::step_style);
  if (!stay.in) return;
  if (stay.runs) protocol::live<Platform, role>(kernel, *member, *local, Threads::here());
  go_out(*member);
}

#endif

}  // namespace cohort::cuda::detail
