// Second pass: rules that can be checked on a single declaration or expression. Parameters are
// immutable, `transmit` is allowed only in some places, kill order `any` excludes barriers, and
// constructs that cannot be translated are reported where they stand.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Reports broken rules and reads each kernel's traits. `cpp`: the output is C++, which supports
/// less of OpenCL C.
void check_rules(Program& program, bool cpp);

}  // namespace cohort::compiler
