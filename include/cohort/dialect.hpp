// Included by the C++ that cohortc generates: OpenCL C's vectors, atomics, work-item functions and
// mathematical functions. Invariant: each name does what the OpenCL C specification says, on the
// CPU and on CUDA alike.
#pragma once

#include <cstdio>
#include <limits>

#include "cohort/dialect/atomic.hpp"
#include "cohort/dialect/math.hpp"
#include "cohort/dialect/range.hpp"
#include "cohort/dialect/special.hpp"
#include "cohort/dialect/vector.hpp"
#include "cohort/kernel.hpp"

// Set by the compilation of a generated file: the kind of resizing barrier, and the largest group
// if each thread transmits a State of its own.
#ifndef COHORT_CL_BARRIER
#define COHORT_CL_BARRIER one_pass
#endif
#ifndef COHORT_CL_MAX_LOCAL
#define COHORT_CL_MAX_LOCAL 64
#endif

#define COHORT_CL_PRAGMA(words) _Pragma(#words)
#ifdef __CUDACC__
#define COHORT_CL_CONSTANT __constant__
#define COHORT_CL_UNROLL(times) COHORT_CL_PRAGMA(unroll times)
#define COHORT_CL_UNROLL_ALL COHORT_CL_PRAGMA(unroll)
#else
#define COHORT_CL_CONSTANT [[maybe_unused]]
#define COHORT_CL_UNROLL(times) COHORT_CL_PRAGMA(GCC unroll times)
#define COHORT_CL_UNROLL_ALL
#endif

namespace cohort::cl {

using cohort::detail::local_room;
using cohort::detail::Range;

/// The result of async_work_group_copy. The event is empty, because the work-items copy at once.
using event_t = int;

/// A sub-group: the work-items of a group that run in lockstep. It is a warp on a GPU and a single
/// work-item on a CPU.
struct SubGroup {
  unsigned id = 0;     ///< number of the sub-group
  unsigned local = 0;  ///< number of the work-item in it
  unsigned size = 1;
  unsigned most = 1;  ///< work-items in a full sub-group

  template <class Group>
  COHORT_FN explicit SubGroup(const Group& group) {
#ifdef __CUDA_ARCH__
    most = 32;
    id = group.local_id() / most;
    local = group.local_id() % most;
    const unsigned rest = group.local_size() - id * most;
    size = rest < most ? rest : most;
#else
    id = group.local_id();
#endif
  }

  COHORT_FN void barrier() const {
#ifdef __CUDA_ARCH__
    __syncwarp(mask());
#endif
  }
  /// The value of another work-item of the sub-group.
  template <class T>
  COHORT_FN T from(T value, [[maybe_unused]] unsigned other) const {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) < 4)
      return static_cast<T>(__shfl_sync(mask(), static_cast<int>(value), other));
    else
      return __shfl_sync(mask(), value, other);
#else
    return value;
#endif
  }
  /// Combines the values of the work-items up to and including this one.
  template <class T, class Op>
  COHORT_FN T scan(T mine, [[maybe_unused]] Op op) const {
#ifdef __CUDA_ARCH__
    for (unsigned step = 1; step < most; step *= 2) {
      const T before = from(mine, local < step ? local : local - step);
      if (local >= step) mine = op(before, mine);
    }
#endif
    return mine;
  }
  template <class T, class Op>
  COHORT_FN T reduce(T mine, Op op) const {
    return from(scan(mine, op), size - 1);
  }
  template <class T, class Op>
  COHORT_FN T exclusive_scan(T mine, T zero, Op op) const {
    const T before = from(scan(mine, op), local == 0 ? 0 : local - 1);
    return local == 0 ? zero : before;
  }

 private:
#ifdef __CUDA_ARCH__
  __device__ unsigned mask() const { return size == most ? ~0U : (1U << size) - 1U; }
#endif
};

/// One thread of a kernel, with OpenCL C's work-item functions. Groups lie along dimension 0. X, Y
/// and Z are the group shape that the kernel requires; X is 0 if it requires none.
template <class Group, unsigned X, unsigned Y, unsigned Z>
struct Item {
  Group& group;

  COHORT_FN std::size_t get_local_size(unsigned dimension = 0) const {
    if constexpr (X == 0) return dimension == 0 ? group.local_size() : 1;
    return dimension == 0 ? X : dimension == 1 ? Y : dimension == 2 ? Z : 1;
  }
  COHORT_FN std::size_t get_enqueued_local_size(unsigned dimension = 0) const {
    return get_local_size(dimension);
  }
  COHORT_FN std::size_t get_local_id(unsigned dimension = 0) const {
    const std::size_t id = group.local_id();
    if constexpr (X == 0) return dimension == 0 ? id : 0;
    return dimension == 0   ? id % (X == 0 ? 1 : X)
           : dimension == 1 ? id / (X == 0 ? 1 : X) % Y
           : dimension == 2 ? id / ((X == 0 ? 1 : X) * Y)
                            : 0;
  }
  COHORT_FN std::size_t get_group_id(unsigned dimension = 0) const {
    return dimension == 0 ? group.group_id() : 0;
  }
  COHORT_FN std::size_t get_num_groups(unsigned dimension = 0) const {
    return dimension == 0 ? group.num_groups() : 1;
  }
  COHORT_FN std::size_t get_global_id(unsigned dimension = 0) const {
    if constexpr (X == 0) return dimension == 0 ? group.global_id() : 0;
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
  }
  COHORT_FN std::size_t get_global_size(unsigned dimension = 0) const {
    if constexpr (X == 0) return dimension == 0 ? group.global_size() : 1;
    return dimension == 0 ? group.global_size() / (Y * Z) : get_local_size(dimension);
  }
  COHORT_FN std::size_t get_global_offset(unsigned = 0) const { return 0; }
  COHORT_FN std::size_t get_global_linear_id() const { return group.global_id(); }
  COHORT_FN std::size_t get_local_linear_id() const { return group.local_id(); }
  COHORT_FN unsigned get_work_dim() const { return Z > 1 ? 3 : Y > 1 ? 2 : 1; }

  COHORT_FN void barrier() const { group.barrier(); }

  template <class T>
  COHORT_FN event_t async_work_group_copy(T* to, const T* from, std::size_t count,
                                          event_t event) const {
    for (std::size_t i = group.local_id(); i < count; i += group.local_size()) to[i] = from[i];
    return event;
  }
  /// async_work_group_strided_copy, in both directions.
  template <class T>
  COHORT_FN event_t gather(T* to, const T* from, std::size_t count, std::size_t stride,
                           event_t event) const {
    for (std::size_t i = group.local_id(); i < count; i += group.local_size())
      to[i] = from[i * stride];
    return event;
  }
  template <class T>
  COHORT_FN event_t scatter(T* to, const T* from, std::size_t count, std::size_t stride,
                            event_t event) const {
    for (std::size_t i = group.local_id(); i < count; i += group.local_size())
      to[i * stride] = from[i];
    return event;
  }
  COHORT_FN void wait_group_events(int /*count*/, const event_t* /*events*/) const { barrier(); }

  COHORT_FN unsigned get_sub_group_size() const { return SubGroup{group}.size; }
  COHORT_FN unsigned get_max_sub_group_size() const {
    const unsigned most = SubGroup{group}.most;
    return most < group.local_size() ? most : group.local_size();
  }
  COHORT_FN unsigned get_num_sub_groups() const {
    const unsigned most = SubGroup{group}.most;
    return (group.local_size() + most - 1) / most;
  }
  COHORT_FN unsigned get_enqueued_num_sub_groups() const { return get_num_sub_groups(); }
  COHORT_FN unsigned get_sub_group_id() const { return SubGroup{group}.id; }
  COHORT_FN unsigned get_sub_group_local_id() const { return SubGroup{group}.local; }
  template <class... Fences>
  COHORT_FN void sub_group_barrier(Fences...) const {
    SubGroup{group}.barrier();
  }
  COHORT_FN int sub_group_all(int mine) const {
    return SubGroup{group}.reduce(mine != 0 ? 1 : 0, [](int a, int b) { return a & b; });
  }
  COHORT_FN int sub_group_any(int mine) const {
    return SubGroup{group}.reduce(mine != 0 ? 1 : 0, [](int a, int b) { return a | b; });
  }
  template <class T>
  COHORT_FN T sub_group_broadcast(T value, unsigned from) const {
    return SubGroup{group}.from(value, from);
  }
  COHORT_FN int work_group_all(int mine) const {
    return group.reduce(mine != 0, [](bool a, bool b) { return a && b; });
  }
  COHORT_FN int work_group_any(int mine) const {
    return group.reduce(mine != 0, [](bool a, bool b) { return a || b; });
  }
  template <class T>
  COHORT_FN T work_group_broadcast(T value, std::size_t x, std::size_t y = 0,
                                   std::size_t z = 0) const {
    return group.broadcast(value, static_cast<std::uint32_t>(x + (y + z * Y) * get_local_size(0)));
  }
#define COHORT_CL_COLLECTIVE(name, zero, combined)                                              \
  template <class T>                                                                            \
  COHORT_FN T work_group_reduce_##name(T mine) const {                                          \
    return group.reduce(mine, [](T a, T b) { return static_cast<T>(combined); });               \
  }                                                                                             \
  template <class T>                                                                            \
  COHORT_FN T work_group_scan_exclusive_##name(T mine) const {                                  \
    return group.exclusive_scan(mine, zero, [](T a, T b) { return static_cast<T>(combined); }); \
  }                                                                                             \
  template <class T>                                                                            \
  COHORT_FN T work_group_scan_inclusive_##name(T mine) const {                                  \
    return group.inclusive_scan(mine, [](T a, T b) { return static_cast<T>(combined); });       \
  }                                                                                             \
  template <class T>                                                                            \
  COHORT_FN T sub_group_reduce_##name(T mine) const {                                           \
    return SubGroup{group}.reduce(mine, [](T a, T b) { return static_cast<T>(combined); });     \
  }                                                                                             \
  template <class T>                                                                            \
  COHORT_FN T sub_group_scan_exclusive_##name(T mine) const {                                   \
    return SubGroup{group}.exclusive_scan(mine, zero,                                           \
                                          [](T a, T b) { return static_cast<T>(combined); });   \
  }                                                                                             \
  template <class T>                                                                            \
  COHORT_FN T sub_group_scan_inclusive_##name(T mine) const {                                   \
    return SubGroup{group}.scan(mine, [](T a, T b) { return static_cast<T>(combined); });       \
  }
  COHORT_CL_COLLECTIVE(add, T{0}, a + b)
  COHORT_CL_COLLECTIVE(min, most_of<T>(), a < b ? a : b)
  COHORT_CL_COLLECTIVE(max, least_of<T>(), a < b ? b : a)
#undef COHORT_CL_COLLECTIVE

 private:
  // Starting values of reductions as OpenCL C defines them: infinities for floats.
  template <class T>
  static COHORT_FN constexpr T most_of() {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(__builtin_huge_valf());
    return std::numeric_limits<T>::max();
  }
  template <class T>
  static COHORT_FN constexpr T least_of() {
    if constexpr (std::is_floating_point_v<T>) return -static_cast<T>(__builtin_huge_valf());
    return std::numeric_limits<T>::lowest();
  }
};

/// One thread of a kernel without resizing points. With a range, the group runs one work-group of
/// the range after another, and may leave in between. Without a range, the group itself is the
/// work-group.
template <class Group, unsigned X, unsigned Y, unsigned Z>
struct Work : Item<Group, X, Y, Z> {
  using Base = Item<Group, X, Y, Z>;
  using Base::group;

  const Range& range;
  bool started = false;
  std::uint64_t work = 0;
  unsigned group_id[3] = {};
  unsigned local_id[3] = {};

  COHORT_FN Work(Group& its, const Range& over) : Base{its}, range(over) {
    if (range.next == nullptr) return;
    split(group.local_id(), range.local, local_id);
  }

  /// Starts the next work-group. Returns false if none is left or if this group has left.
  COHORT_FN bool next() {
    const bool again = started;
    started = true;
    if (range.next == nullptr) return !again;
    if (again && group.offer(typename Group::State{})) return false;
    if (group.local_id() == 0) work = group.atomic(*range.next).fetch_add(1);
    work = group.broadcast(work);
    if (work >= std::uint64_t{range.groups[0]} * range.groups[1] * range.groups[2]) return false;
    split(work, range.groups, group_id);
    return true;
  }

  COHORT_FN std::size_t get_local_size(unsigned dimension = 0) const {
    return range.next == nullptr ? Base::get_local_size(dimension) : at(range.local, dimension, 1);
  }
  COHORT_FN std::size_t get_enqueued_local_size(unsigned dimension = 0) const {
    return get_local_size(dimension);
  }
  COHORT_FN std::size_t get_local_id(unsigned dimension = 0) const {
    return range.next == nullptr ? Base::get_local_id(dimension) : at(local_id, dimension, 0);
  }
  COHORT_FN std::size_t get_group_id(unsigned dimension = 0) const {
    return range.next == nullptr ? Base::get_group_id(dimension) : at(group_id, dimension, 0);
  }
  COHORT_FN std::size_t get_num_groups(unsigned dimension = 0) const {
    return range.next == nullptr ? Base::get_num_groups(dimension) : at(range.groups, dimension, 1);
  }
  COHORT_FN std::size_t get_global_id(unsigned dimension = 0) const {
    if (range.next == nullptr) return Base::get_global_id(dimension);
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
  }
  COHORT_FN std::size_t get_global_size(unsigned dimension = 0) const {
    if (range.next == nullptr) return Base::get_global_size(dimension);
    return get_num_groups(dimension) * get_local_size(dimension);
  }
  COHORT_FN std::size_t get_global_linear_id() const {
    if (range.next == nullptr) return Base::get_global_linear_id();
    return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) +
           get_global_id(0);
  }
  COHORT_FN unsigned get_work_dim() const {
    return range.next == nullptr ? Base::get_work_dim() : range.dimensions;
  }
  template <class T>
  COHORT_FN T work_group_broadcast(T value, std::size_t x, std::size_t y = 0,
                                   std::size_t z = 0) const {
    return group.broadcast(
        value, static_cast<std::uint32_t>(x + (y + z * get_local_size(1)) * get_local_size(0)));
  }

 private:
  static COHORT_FN void split(std::uint64_t number, const std::uint32_t (&sizes)[3],
                              unsigned (&to)[3]) {
    to[0] = static_cast<unsigned>(number % sizes[0]);
    to[1] = static_cast<unsigned>(number / sizes[0] % sizes[1]);
    to[2] = static_cast<unsigned>(number / sizes[0] / sizes[1]);
  }
  static COHORT_FN std::size_t at(const unsigned (&values)[3], unsigned dimension,
                                  unsigned otherwise) {
    // Compares instead of indexing, so that the values can stay in registers.
    return dimension == 0   ? values[0]
           : dimension == 1 ? values[1]
           : dimension == 2 ? values[2]
                            : otherwise;
  }
};

}  // namespace cohort::cl
