#include "compiler/builtins.hpp"

#include <llvm/ADT/StringSet.h>

namespace cohort::compiler {
namespace {

const llvm::StringSet<>& names() {
  static const llvm::StringSet<> all{
      // work items and groups
      "get_work_dim", "get_global_size", "get_global_id", "get_local_size", "get_local_id",
      "get_num_groups", "get_group_id", "get_global_offset", "get_enqueued_local_size",
      "get_global_linear_id", "get_local_linear_id", "barrier", "work_group_barrier", "mem_fence",
      "read_mem_fence", "write_mem_fence", "atomic_work_item_fence", "offer_kill", "request_fork",
      "global_barrier", "resizing_global_barrier", "query", "work_group_all", "work_group_any",
      "work_group_broadcast", "work_group_reduce_add", "work_group_reduce_min",
      "work_group_reduce_max", "work_group_scan_exclusive_add", "work_group_scan_inclusive_add",
      "work_group_scan_exclusive_min", "work_group_scan_exclusive_max",
      "work_group_scan_inclusive_min", "work_group_scan_inclusive_max",
      // atomics
      "atomic_add", "atomic_sub", "atomic_xchg", "atomic_inc", "atomic_dec", "atomic_cmpxchg",
      "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor", "atom_add", "atom_sub",
      "atom_xchg", "atom_inc", "atom_dec", "atom_cmpxchg", "atom_min", "atom_max", "atom_and",
      "atom_or", "atom_xor", "atomic_init", "atomic_load", "atomic_load_explicit", "atomic_store",
      "atomic_store_explicit", "atomic_exchange", "atomic_exchange_explicit",
      "atomic_compare_exchange_strong", "atomic_compare_exchange_strong_explicit",
      "atomic_compare_exchange_weak", "atomic_compare_exchange_weak_explicit", "atomic_fetch_add",
      "atomic_fetch_add_explicit", "atomic_fetch_sub", "atomic_fetch_sub_explicit",
      "atomic_fetch_or", "atomic_fetch_or_explicit", "atomic_fetch_xor",
      "atomic_fetch_xor_explicit", "atomic_fetch_and", "atomic_fetch_and_explicit",
      "atomic_fetch_min", "atomic_fetch_min_explicit", "atomic_fetch_max",
      "atomic_fetch_max_explicit", "atomic_flag_test_and_set", "atomic_flag_test_and_set_explicit",
      "atomic_flag_clear", "atomic_flag_clear_explicit",
      // integers
      "abs", "abs_diff", "min", "max", "clamp", "mul24", "mad24", "mul_hi", "mad_hi", "hadd",
      "rhadd", "rotate", "popcount", "clz", "ctz", "add_sat", "sub_sat", "upsample", "select",
      "bitselect", "any", "all",
      // floats
      "acos", "asin", "atan", "atan2", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "exp",
      "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "isfinite",
      "isinf", "isnan", "ldexp", "log", "log10", "log1p", "log2", "mad", "mix", "native_cos",
      "native_divide", "native_exp", "native_log", "native_recip", "native_rsqrt", "native_sin",
      "native_sqrt", "pow", "pown", "powr", "remainder", "rint", "round", "rsqrt", "sign",
      "signbit", "sin", "sinh", "smoothstep", "sqrt", "step", "tan", "tanh", "tgamma", "trunc",
      "degrees", "radians",
      // vectors
      "dot", "cross", "length", "distance", "normalize", "fast_length", "fast_distance",
      "fast_normalize", "shuffle", "printf", "prefetch"};
  return all;
}

}  // namespace

bool has_builtin(llvm::StringRef name) {
  if (names().contains(name)) return true;
  for (const llvm::StringRef family : {"convert_", "as_"}) {
    llvm::StringRef type = name;
    if (type.consume_front(family)) return !type.startswith("half");
  }
  for (const llvm::StringRef family : {"vload", "vstore"}) {
    llvm::StringRef width = name;
    if (width.consume_front(family))
      return width == "2" || width == "3" || width == "4" || width == "8" || width == "16";
  }
  return false;
}

}  // namespace cohort::compiler
