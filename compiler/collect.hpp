// First pass: an inventory of the file. Finds kernels, functions, types, the call graph, and every
// resizing point with the calls that lead to it. Invariant: afterwards calls do not recurse, every
// called function is defined, and a group can continue right after each resizing call.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills in the program and reports what cannot be compiled. Returns false if the later passes
/// cannot run.
bool collect(Program& program);

/// The call that a statement consists of, alone or as the whole right-hand side of an assignment or
/// a return. Null if there is none.
[[nodiscard]] const clang::CallExpr* call_of_statement(const clang::Stmt& statement);
/// The call that is the whole initialiser of a variable, or null.
[[nodiscard]] const clang::CallExpr* call_of_initialiser(const clang::VarDecl& variable);

}  // namespace cohort::compiler
