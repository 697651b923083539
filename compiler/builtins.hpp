// The built-in functions of OpenCL C that generated C++ can call: those that cohort/dialect.hpp
// defines.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace cohort::compiler {

[[nodiscard]] bool has_builtin(llvm::StringRef name);
/// Whether that is so for arguments and results of type half too.
[[nodiscard]] bool takes_half(llvm::StringRef name);
/// The one of them that does what Clang's own __builtin_... of that name does; empty if none does.
[[nodiscard]] llvm::StringRef without_prefix(llvm::StringRef name);

}  // namespace cohort::compiler
