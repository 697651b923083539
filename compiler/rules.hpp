// Second pass: rules that can be told from a declaration or an expression alone. Parameters are
// immutable, `transmit` has its places, kill order any has no barriers, and what cannot be
// translated is named where it stands.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Reports broken rules and reads each kernel's traits. `cpp`: the output is C++, which supports
/// less than OpenCL C.
void check_rules(Program& program, bool cpp);

}  // namespace cohort::compiler
