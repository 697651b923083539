// Names of the OpenCL C built-in functions that generated C++ can call: those defined by
// cohort/dialect.hpp.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace cohort::compiler {

[[nodiscard]] bool has_builtin(llvm::StringRef name);
/// Whether the function also exists for half values.
[[nodiscard]] bool takes_half(llvm::StringRef name);
/// The function that does the same as Clang's `__builtin_...` of this name; empty if there is none.
[[nodiscard]] llvm::StringRef without_prefix(llvm::StringRef name);

}  // namespace cohort::compiler
