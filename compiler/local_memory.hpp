// Fifth pass: finds local memory that a group joining at a point may read before it writes it; the
// group's local memory is undefined there. A write to any element counts as a write to the whole
// array, even if only some threads of the group make it, or if it is in a loop that may run zero
// times. So each object reported is read on a path without any write.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills in `local` of every point.
void find_local_memory(const Program& program, Kernel& kernel);

}  // namespace cohort::compiler
