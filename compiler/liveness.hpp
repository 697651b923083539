// Fourth pass: which variables a group that joins at a point may read before it writes them. A
// backward analysis over Clang's control-flow graph of each function. For a point inside inlined
// functions, the results of all functions on its call chain are combined.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills in `live` and `in_scope` of every point.
void find_live(Program& program, Kernel& kernel);

/// Whether a parameter of an inlined function is only another name for its argument. It is if it is
/// never written and the argument is a variable or a constant. Such a parameter has no value of its
/// own to transmit.
[[nodiscard]] bool is_alias(const clang::ParmVarDecl& parameter, const clang::CallExpr& call);

/// The variable of an outer frame that an aliased parameter stands for; no variable if the argument
/// is a constant.
[[nodiscard]] Variable resolve(Variable variable);

}  // namespace cohort::compiler
