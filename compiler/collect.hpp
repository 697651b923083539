// First pass: what is in the file. Finds kernels, functions and types, who calls whom, and every
// resizing point with the calls that lead to it. Invariant: afterwards calls do not recurse, all
// are defined, and each resizing call stands where a group can continue after it.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills the program; reports what cannot be compiled. False: the later passes cannot go on.
bool collect(Program& program);

/// The call that a statement is: by itself, or as all of the right-hand side of an assignment or a
/// return. Else null.
[[nodiscard]] const clang::CallExpr* call_of_statement(const clang::Stmt& statement);
/// The call that is all of a variable's initialiser, or null.
[[nodiscard]] const clang::CallExpr* call_of_initialiser(const clang::VarDecl& variable);

}  // namespace cohort::compiler
