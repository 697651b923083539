// The built-in functions of OpenCL C that generated C++ can call: those that cohort/dialect.hpp
// defines.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace cohort::compiler {

[[nodiscard]] bool has_builtin(llvm::StringRef name);

}  // namespace cohort::compiler
