// Last pass: decides what each point transmits, and whether that is enough. A kernel's State is the
// union of what its points transmit.
#pragma once

#include "compiler/program.hpp"
#include "compiler/uniformity.hpp"

namespace cohort::compiler {

/// Decides `transmits` of every point and `state` of the kernel, and reports variables that joining
/// groups would miss. `facts`: from check_uniformity. `remarks`: also report what is transmitted,
/// and why a kernel cannot be suspended.
void decide_transmission(Program& program, Kernel& kernel, const std::vector<Facts>& facts,
                         Transmit mode, bool remarks);

}  // namespace cohort::compiler
