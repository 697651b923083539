// GridView: the groups of a job in CUDA's terms. A kernel written with it can be a __global__
// function (Grid, cohort/grid.cuh). If the kernel also compiles for the host, it can run on any
// other engine (on_grid).
#pragma once

#include <cstdint>

#include "cohort/protocol/group.hpp"

namespace cohort {

/// The blocks of a job: the counterpart of cooperative_groups::this_grid(), whose number of blocks
/// is fixed.
template <class Group>
class GridView {
 public:
  using State = typename Group::State;

  COHORT_FN GridView(const Group& group, const State& state) : group_(group), state_(&state) {}

  /// The State that the block starts with: State{} at the job's start, otherwise the argument of
  /// the primitive that admitted it.
  [[nodiscard]] COHORT_FN State state() const { return *state_; }
  /// True if the block joined after the start. It must not repeat what the other blocks did before
  /// their first sync(state).
  [[nodiscard]] COHORT_FN bool joined() const { return group_.joined(); }

  /// This thread's rank among the threads of all blocks, as of this block's last primitive.
  [[nodiscard]] COHORT_FN std::size_t thread_rank() const { return group_.global_id(); }
  [[nodiscard]] COHORT_FN std::size_t num_threads() const { return group_.global_size(); }
  /// This block's rank among all blocks. Use it and num_blocks() instead of blockIdx.x and
  /// gridDim.x.
  [[nodiscard]] COHORT_FN std::uint32_t block_rank() const { return group_.group_id(); }
  [[nodiscard]] COHORT_FN std::uint32_t num_blocks() const { return group_.num_groups(); }
  /// This thread's share of `count` items: `for (auto i : grid.stride(n))`.
  [[nodiscard]] COHORT_FN Stride stride(std::size_t count) const { return group_.stride(count); }

  /// Waits until all threads of all blocks have arrived. The set of blocks does not change.
  COHORT_FN void sync() const { group_.global_barrier(); }
  /// Like sync(), but blocks may leave and join. If it returns true, this block has left and must
  /// return now. Joining blocks start with `state`, so advance it before the call.
  [[nodiscard]] COHORT_FN bool sync(const State& state) const {
    const State kept = state;  // only its address is taken, so `state` itself can stay in registers
    return group_.resizing_global_barrier(kept);
  }

  /// Lets the scheduler remove this block. If it returns true, this block has left and must return
  /// now.
  [[nodiscard]] COHORT_FN bool offer_kill(const State& state) const {
    return group_.offer_kill(state);
  }
  /// Lets the scheduler add blocks, which start with `state`. Returns how many were added.
  COHORT_FN std::uint32_t request_fork(  // NOLINT(modernize-use-nodiscard)
      const State& state) const {
    return group_.request_fork(state);
  }
  /// offer_kill and request_fork in one call, which costs less than two. If it returns true, this
  /// block has left and must return now.
  [[nodiscard]] COHORT_FN bool offer(const State& state) const { return group_.offer(state); }

  /// Atomic and plain accesses that the explorer can watch, as in Group.
  template <class T>
  [[nodiscard]] COHORT_FN auto atomic(T& word) const {
    return group_.atomic(word);
  }
  template <class T>
  [[nodiscard]] COHORT_FN auto view(T* memory) const {
    return group_.view(memory);
  }

 private:
  Group group_;
  const State* state_;
};

/// A kernel for any engine that calls `body(grid)`, see on_grid().
template <class JobState, Resizes resizes, class Body>
struct OnGrid {
  using State = JobState;
  static constexpr Traits traits{.resizes = resizes};

  Body body;

  template <class Group>
  COHORT_FN void run(Group& group, State state) const {
    const GridView<Group> grid{group, state};
    body(grid);
  }
};

/// Makes the body of a __global__ function a kernel of any engine, in particular of the explorer:
/// `engine.launch(on_grid<State>([=](const auto& grid) { solve(grid, x, n); }))`.
template <class State = Nothing, Resizes resizes = Resizes::at_barriers, class Body>
[[nodiscard]] OnGrid<State, resizes, Body> on_grid(Body body) {
  return {body};
}

}  // namespace cohort
