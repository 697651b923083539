// Fifth pass: finds local memory that a group joining at a point may read before it writes it. Its
// local memory is fresh there. A write to any element counts as a write to the whole array; so do
// writes by some threads of the group, and writes in loops that may have no iterations. Whatever is
// reported is read without any write on the way.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills in `local` of every point.
void find_local_memory(const Program& program, Kernel& kernel);

}  // namespace cohort::compiler
