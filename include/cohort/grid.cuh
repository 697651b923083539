// Grid: makes an ordinary __global__ function a cooperative kernel, which Engine::launch starts.
// Uses no host code, so kernels that NVRTC compiles can include it. Invariant: the constructor lets
// the group in and the destructor lets it out, so all threads of a block have to reach both.
#pragma once

#include "cohort/grid.hpp"
#include "cohort/platform/cuda_stay.cuh"

namespace cohort {

/// The maximum size and alignment of a Grid's State: the engine reserves room without knowing it.
inline constexpr std::size_t max_grid_state = 512;
inline constexpr std::size_t max_grid_state_alignment = 16;

#ifdef __CUDACC__

template <class State, Resizes resizes>
class Grid;

/// The first parameter of a __global__ function that Engine::launch starts. Only the engine can
/// make one.
class GridArg {
 public:
  GridArg() = delete;

 private:
  template <class State, Resizes resizes>
  friend class Grid;

  cuda::detail::RunArguments run_;
};

namespace cuda::detail {

/// A block's stay in a job, from the constructor to the destructor.
template <Traits traits, class Member>
class Visit {
 public:
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 protected:
  __device__ explicit Visit(const RunArguments& run)
      : member_(opaque(room())), stay_(come_in<traits>(member_, run, false)) {}
  __device__ ~Visit() {
    if (stay_.in) go_out(*member_);
  }

  Member* member_;
  Stay stay_;

 private:
  [[nodiscard]] static __device__ Member* room() {
    __shared__ alignas(Member) unsigned char bytes[sizeof(Member)];
    return reinterpret_cast<Member*>(bytes);
  }
};

/// The Group of a __global__ function.
template <class State, Resizes resizes>
using GridGroup = Group<Platform, OnGrid<State, resizes, Nothing>, protocol::Role::member>;

template <class Group>
using VisitOf = Visit<Group::traits, typename Group::Member>;

}  // namespace cuda::detail

/// The blocks that currently run a __global__ function. Blocks leave and join in sync(state). A
/// joining block runs the function from the top, and state() tells it where the others are.
///
///     struct State { int step = 0; };
///     __global__ void solve(cohort::GridArg arg, float* x, int n) {
///       cohort::Grid<State> grid{arg};
///       if (!grid) return;
///       for (State s = grid.state(); s.step < 100;) {
///         for (auto i : grid.stride(n)) ...
///         ++s.step;
///         if (grid.sync(s)) return;
///       }
///     }
///
/// All threads of the block construct it, as the first thing they do, and call its functions
/// together. blockIdx and gridDim are meaningless in such a kernel. Ids may change in sync(state),
/// so a block must recompute afterwards whatever it has derived from them. With Resizes::anywhere,
/// blocks can also come and go between barriers, by offer_kill and request_fork.
template <class State = Nothing, Resizes resizes = Resizes::at_barriers>
class Grid : cuda::detail::VisitOf<cuda::detail::GridGroup<State, resizes>>,
             public GridView<cuda::detail::GridGroup<State, resizes>> {
  using Group = cuda::detail::GridGroup<State, resizes>;
  using Visit = cuda::detail::VisitOf<Group>;
  static_assert(
      sizeof(State) <= max_grid_state && alignof(State) <= max_grid_state_alignment,
      "cohort: the State of a Grid has at most 512 bytes, aligned to at most 16: keep what "
      "is larger in a buffer");

 public:
  /// The block checks in, or waits until it may join.
  __device__ explicit Grid(const GridArg& arg)
      : Visit(arg.run_),
        GridView<Group>(Group{*this->member_, *reinterpret_cast<Nothing*>(this->member_),
                              cuda::Threads::here()},
                        this->member_->state) {}

  /// False if the block is not needed: it must then return from the kernel.
  [[nodiscard]] __device__ explicit operator bool() const { return this->stay_.runs; }
};

#endif

}  // namespace cohort
