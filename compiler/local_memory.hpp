// Fifth pass: which local memory a group that joins at a point may read before it has written it.
// Its own is fresh there. Arrays count as one: a write to any element passes for a write to those
// that are read, as do the writes of some threads of the group and of loops that may have no
// iterations. So what is reported is read without any write on the way.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills in `local` of every point.
void find_local_memory(const Program& program, Kernel& kernel);

}  // namespace cohort::compiler
