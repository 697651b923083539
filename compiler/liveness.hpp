// Fourth pass: which variables a group that joins at a point may read before it has written them. A
// backward analysis over Clang's control-flow graph of each function; a point inside an inlined
// function adds up the functions on the way.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills in `live` and `in_scope` of every point.
void find_live(Program& program, Kernel& kernel);

/// Whether a parameter of an inlined function is only another name for what it is called with:
/// never written, and called with a variable or a constant. Such a parameter has no value of its
/// own to transmit.
[[nodiscard]] bool is_alias(const clang::ParmVarDecl& parameter, const clang::CallExpr& call);

/// What an aliased parameter stands for: a variable of an outer frame, or nothing if it is a
/// constant.
[[nodiscard]] Variable resolve(Variable variable);

}  // namespace cohort::compiler
