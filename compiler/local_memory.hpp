// Fifth pass: finds local memory that a group joining at a point may read before it writes it. The
// group's local memory is fresh there. Three kinds of writes count as writes to the whole array: to
// any element, by some threads of the group only, and in loops that may run zero times. So each
// object reported is read on a path without any write.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// Fills in `local` of every point.
void find_local_memory(const Program& program, Kernel& kernel);

}  // namespace cohort::compiler
