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
      "work_group_scan_inclusive_min", "work_group_scan_inclusive_max", "async_work_group_copy",
      "async_work_group_strided_copy", "wait_group_events", "get_sub_group_size",
      "get_max_sub_group_size", "get_num_sub_groups", "get_enqueued_num_sub_groups",
      "get_sub_group_id", "get_sub_group_local_id", "sub_group_barrier", "sub_group_all",
      "sub_group_any", "sub_group_broadcast", "sub_group_reduce_add", "sub_group_reduce_min",
      "sub_group_reduce_max", "sub_group_scan_exclusive_add", "sub_group_scan_inclusive_add",
      "sub_group_scan_exclusive_min", "sub_group_scan_exclusive_max",
      "sub_group_scan_inclusive_min", "sub_group_scan_inclusive_max",
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
      "abs", "abs_diff", "min", "max", "clamp", "mul24", "mad24", "mul_hi", "mad_hi", "mad_sat",
      "hadd", "rhadd", "rotate", "popcount", "clz", "ctz", "add_sat", "sub_sat", "upsample",
      "select", "bitselect", "any", "all",
      // floats
      "acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atan2", "atan2pi", "atanh",
      "atanpi", "cbrt", "ceil", "copysign", "cos", "cosh", "cospi", "degrees", "erf", "erfc", "exp",
      "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "fract",
      "frexp", "hypot", "ilogb", "ldexp", "lgamma", "lgamma_r", "log", "log10", "log1p", "log2",
      "logb", "mad", "maxmag", "minmag", "mix", "modf", "nan", "nextafter", "pow", "pown", "powr",
      "radians", "remainder", "remquo", "rint", "rootn", "round", "rsqrt", "sign", "sin", "sincos",
      "sinh", "sinpi", "smoothstep", "sqrt", "step", "tan", "tanh", "tanpi", "tgamma", "trunc",
      "half_cos", "half_divide", "half_exp", "half_exp10", "half_exp2", "half_log", "half_log10",
      "half_log2", "half_powr", "half_recip", "half_rsqrt", "half_sin", "half_sqrt", "half_tan",
      "native_cos", "native_divide", "native_exp", "native_exp10", "native_exp2", "native_log",
      "native_log10", "native_log2", "native_powr", "native_recip", "native_rsqrt", "native_sin",
      "native_sqrt", "native_tan",
      // relations
      "isequal", "isfinite", "isgreater", "isgreaterequal", "isinf", "isless", "islessequal",
      "islessgreater", "isnan", "isnormal", "isnotequal", "isordered", "isunordered", "signbit",
      // vectors
      "dot", "cross", "length", "distance", "normalize", "fast_length", "fast_distance",
      "fast_normalize", "shuffle", "shuffle2", "printf", "prefetch"};
  return all;
}

}  // namespace

llvm::StringRef without_prefix(llvm::StringRef name) {
  if (!name.consume_front("__builtin_")) return {};
  for (const llvm::StringRef each :
       {"abs",  "acos", "asin",  "atan",  "atan2", "ceil", "copysign", "cos",  "exp",
        "exp2", "fabs", "floor", "fma",   "fmax",  "fmin", "fmod",     "log",  "log10",
        "log2", "pow",  "rint",  "round", "sin",   "sqrt", "tan",      "tanh", "trunc"}) {
    if (name == each || (each != "abs" && name.startswith(each) && name.substr(each.size()) == "f"))
      return each;
  }
  for (const llvm::StringRef each : {"popcount", "clz", "ctz"}) {
    if (name == each || (name.startswith(each) && name.substr(each.size()) == "l")) return each;
  }
  return {};
}

bool takes_half(llvm::StringRef name) {
  return name.startswith("convert_") || name.startswith("as_") || name.startswith("vload") ||
         name.startswith("vstore");
}

bool has_builtin(llvm::StringRef name) {
  if (names().contains(name) || !without_prefix(name).empty()) return true;
  for (const llvm::StringRef each :
       {"__builtin_inff", "__builtin_inf", "__builtin_nanf", "__builtin_nan", "__builtin_huge_valf",
        "__builtin_huge_val"}) {
    if (name == each) return true;
  }
  for (const llvm::StringRef family : {"convert_", "as_"}) {
    llvm::StringRef type = name;
    if (type.consume_front(family)) return true;
  }
  for (const llvm::StringRef family :
       {"vload_half", "vloada_half", "vstore_half", "vstorea_half"}) {
    if (name.startswith(family)) return true;
  }
  for (const llvm::StringRef family : {"vload", "vstore"}) {
    llvm::StringRef width = name;
    if (width.consume_front(family))
      return width == "2" || width == "3" || width == "4" || width == "8" || width == "16";
  }
  return false;
}

}  // namespace cohort::compiler
