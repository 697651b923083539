// What kernels compiled by cohortc are written in: OpenCL C's vectors, atomics, work-item and
// mathematical functions, for C++. Invariant: a name here means what the OpenCL C specification
// says of it, on the CPU and on CUDA alike.
#pragma once

#include <cstdio>
#include <limits>

#include "cohort/dialect/atomic.hpp"
#include "cohort/dialect/math.hpp"
#include "cohort/dialect/vector.hpp"
#include "cohort/kernel.hpp"

// How a generated file is compiled: the resizing barrier, and the largest group where each thread
// sends a State of its own.
#ifndef COHORT_CL_BARRIER
#define COHORT_CL_BARRIER one_pass
#endif
#ifndef COHORT_CL_MAX_LOCAL
#define COHORT_CL_MAX_LOCAL 64
#endif

#define COHORT_CL_PRAGMA(words) _Pragma(#words)
#ifdef __CUDACC__
#define COHORT_CL_CONSTANT __constant__ const
#define COHORT_CL_UNROLL(times) COHORT_CL_PRAGMA(unroll times)
#define COHORT_CL_UNROLL_ALL COHORT_CL_PRAGMA(unroll)
#else
#define COHORT_CL_CONSTANT [[maybe_unused]] const
#define COHORT_CL_UNROLL(times) COHORT_CL_PRAGMA(GCC unroll times)
#define COHORT_CL_UNROLL_ALL
#endif

namespace cohort::cl {

/// One thread of a kernel, as OpenCL C's functions see it. Groups lie along dimension 0; X, Y and Z
/// are what the kernel requires of a group's shape, X = 0 if nothing.
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
  template <class T>
  COHORT_FN T work_group_reduce_add(T mine) const {
    return group.reduce(mine, [](T a, T b) { return static_cast<T>(a + b); });
  }
  template <class T>
  COHORT_FN T work_group_reduce_min(T mine) const {
    return group.reduce(mine, [](T a, T b) { return a < b ? a : b; });
  }
  template <class T>
  COHORT_FN T work_group_reduce_max(T mine) const {
    return group.reduce(mine, [](T a, T b) { return a < b ? b : a; });
  }
  template <class T>
  COHORT_FN T work_group_scan_exclusive_add(T mine) const {
    return group.exclusive_scan(mine, T{0}, [](T a, T b) { return static_cast<T>(a + b); });
  }
  template <class T>
  COHORT_FN T work_group_scan_exclusive_min(T mine) const {
    return group.exclusive_scan(mine, std::numeric_limits<T>::max(),
                                [](T a, T b) { return a < b ? a : b; });
  }
  template <class T>
  COHORT_FN T work_group_scan_exclusive_max(T mine) const {
    return group.exclusive_scan(mine, std::numeric_limits<T>::lowest(),
                                [](T a, T b) { return a < b ? b : a; });
  }
  template <class T>
  COHORT_FN T work_group_scan_inclusive_add(T mine) const {
    return group.inclusive_scan(mine, [](T a, T b) { return static_cast<T>(a + b); });
  }
  template <class T>
  COHORT_FN T work_group_scan_inclusive_min(T mine) const {
    return group.inclusive_scan(mine, [](T a, T b) { return a < b ? a : b; });
  }
  template <class T>
  COHORT_FN T work_group_scan_inclusive_max(T mine) const {
    return group.inclusive_scan(mine, [](T a, T b) { return a < b ? b : a; });
  }
};

}  // namespace cohort::cl
