// Describes a compiled file to the host side, as JSON: parameters, State layout, resizing points
// and traits.
#pragma once

#include <string>

#include "compiler/program.hpp"

namespace cohort::compiler {

[[nodiscard]] std::string describe(const Program& program, Transmit mode);

}  // namespace cohort::compiler
