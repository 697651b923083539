// Fourth pass: finds the variables that a group joining at a point may read before it writes them.
// It is a backward analysis over Clang's control-flow graph of each function. For a point inside
// inlined functions, it combines the results of all functions on the point's call chain.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills in `live` and `in_scope` of every point.
void find_live(Program& program, Kernel& kernel);

/// Whether a parameter of an inlined function is only another name for its argument. It is if it is
/// never written and the argument is a variable or a constant. Such a parameter has no value of its
/// own to transmit.
[[nodiscard]] bool is_alias(const clang::ParmVarDecl& parameter, const clang::CallExpr& call);

/// The variable of an outer frame for which an aliased parameter stands. Empty if the argument is a
/// constant.
[[nodiscard]] Variable resolve(Variable variable);

}  // namespace cohort::compiler
