// work_group_reduce, scan, broadcast, any and all, for devices without them: every thread puts its value into local
// memory, and thread 0 folds them.

#if defined(__opencl_c_work_group_collective_functions)
#define COHORT_COLLECTIVE(name, ...) work_group_##name(__VA_ARGS__)
#else
#define COHORT_COLLECTIVE(name, ...) cohort_work_group_##name(cohort_self, __VA_ARGS__)

#define COHORT_SUM(a, b) ((a) + (b))
#define COHORT_LEAST(a, b) ((b) < (a) ? (b) : (a))
#define COHORT_MOST(a, b) ((a) < (b) ? (b) : (a))

// Replaces each thread's value by the fold of the values before it, and puts the fold of all values behind the last.
#define COHORT_FOLD(T, name, combine, zero)                                                               \
  static void __attribute__((overloadable)) cohort_fold_##name(cohort_group* group, T value) {            \
    __local T* values = (__local T*)group->scratch;                                                       \
    values[get_local_linear_id()] = value;                                                                \
    work_group_barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    if (cohort_leads()) {                                                                                 \
      const size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2);                      \
      T sum = zero;                                                                                       \
      for (size_t i = 0; i < size; ++i) {                                                                 \
        const T own = values[i];                                                                          \
        values[i] = sum;                                                                                  \
        sum = combine(sum, own);                                                                          \
      }                                                                                                   \
      values[size] = sum;                                                                                 \
    }                                                                                                     \
    work_group_barrier(CLK_LOCAL_MEM_FENCE);                                                              \
  }                                                                                                       \
  static T __attribute__((overloadable)) cohort_work_group_reduce_##name(cohort_group* group, T value) {  \
    cohort_fold_##name(group, value);                                                                     \
    const T all = ((__local T*)group->scratch)[get_local_size(0) * get_local_size(1) * get_local_size(2)]; \
    work_group_barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    return all;                                                                                           \
  }                                                                                                       \
  static T __attribute__((overloadable)) cohort_work_group_scan_exclusive_##name(cohort_group* group, T value) { \
    cohort_fold_##name(group, value);                                                                     \
    const T before = ((__local T*)group->scratch)[get_local_linear_id()];                                 \
    work_group_barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    return before;                                                                                        \
  }                                                                                                       \
  static T __attribute__((overloadable)) cohort_work_group_scan_inclusive_##name(cohort_group* group, T value) { \
    const T before = cohort_work_group_scan_exclusive_##name(group, value);                               \
    return combine(before, value);                                                                        \
  }

#define COHORT_COLLECTIVES(T, largest, smallest)                                                          \
  COHORT_FOLD(T, add, COHORT_SUM, 0)                                                                      \
  COHORT_FOLD(T, min, COHORT_LEAST, largest)                                                              \
  COHORT_FOLD(T, max, COHORT_MOST, smallest)                                                              \
  static T __attribute__((overloadable)) cohort_work_group_broadcast(cohort_group* group, T value, size_t x, size_t y, size_t z) { \
    __local T* values = (__local T*)group->scratch;                                                       \
    if (get_local_id(0) == x && get_local_id(1) == y && get_local_id(2) == z) values[0] = value;          \
    work_group_barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    const T given = values[0];                                                                            \
    work_group_barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    return given;                                                                                         \
  }                                                                                                       \
  static T __attribute__((overloadable)) cohort_work_group_broadcast(cohort_group* group, T value, size_t x, size_t y) { \
    return cohort_work_group_broadcast(group, value, x, y, 0);                                            \
  }                                                                                                       \
  static T __attribute__((overloadable)) cohort_work_group_broadcast(cohort_group* group, T value, size_t x) { \
    return cohort_work_group_broadcast(group, value, x, 0, 0);                                            \
  }

COHORT_COLLECTIVES(int, INT_MAX, INT_MIN)
COHORT_COLLECTIVES(uint, UINT_MAX, 0u)
COHORT_COLLECTIVES(long, LONG_MAX, LONG_MIN)
COHORT_COLLECTIVES(ulong, ULONG_MAX, 0ul)
COHORT_COLLECTIVES(float, INFINITY, -INFINITY)
#ifdef cl_khr_fp64
COHORT_COLLECTIVES(double, (double)INFINITY, -(double)INFINITY)
#endif

static int cohort_work_group_any(cohort_group* group, int value) {
  return cohort_work_group_reduce_max(group, value != 0 ? 1 : 0);
}
static int cohort_work_group_all(cohort_group* group, int value) {
  return cohort_work_group_reduce_min(group, value != 0 ? 1 : 0);
}
#endif
